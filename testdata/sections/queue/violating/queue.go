// Package queue holds work for several workers, which see that it is not empty and
// then take an item that another worker may have taken. IL2002.
package queue

import "sync"

// Queue is safe for concurrent use.
type Queue struct {
	mu    sync.Mutex
	items []int
}

// Put adds an item.
func (q *Queue) Put(v int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, v)
}

// Empty reports whether there is nothing to do.
func (q *Queue) Empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) == 0
}

// Pop takes the next item. The queue must not be empty.
func (q *Queue) Pop() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	v := q.items[0]
	q.items = q.items[1:]
	return v
}

// Work does what there is to do.
func (q *Queue) Work(do func(int)) {
	for !q.Empty() { // want IL2002 entry
		do(q.Pop()) // want IL2002 end
	}
}

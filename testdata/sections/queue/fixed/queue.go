// Package queue holds work for several workers, which ask for an item and are told
// whether there was one.
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

// Pop takes the next item, if there is one.
func (q *Queue) Pop() (v int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return 0, false
	}
	v = q.items[0]
	q.items = q.items[1:]
	return v, true
}

// Work does what there is to do.
func (q *Queue) Work(do func(int)) {
	for {
		v, ok := q.Pop()
		if !ok {
			return
		}
		do(v)
	}
}

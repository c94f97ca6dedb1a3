package features

import "sync"

type Queue struct {
	mu   sync.Mutex
	cond *sync.Cond
	list []int
}

func NewQueue() *Queue {
	q := &Queue{}
	q.cond = sync.NewCond(&q.mu)
	return q
}

// Wait releases the lock and takes it again.
func (q *Queue) Get() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) == 0 { // = q.mu
		q.cond.Wait()
	}
	return q.list[0] // = q.mu
}

// The lock of a condition is the one that it was made with.
func (q *Queue) Put(v int) {
	q.cond.L.Lock()
	q.list = append(q.list, v) // = q.mu
	q.cond.L.Unlock()
	q.cond.Signal()
}

// Package testusecrosspackage has it mended: one method of the store does both.
package testusecrosspackage

import "example.com/sections/test-use-cross-package/fixed/store"

// Queue takes each job once.
type Queue struct{ s *store.Store }

// New makes an empty queue.
func New() *Queue { return &Queue{store.New()} }

// Submit takes a job in, and reports whether it is new.
func (q *Queue) Submit(name string) bool {
	return q.s.Enter(name, new(store.Job))
}

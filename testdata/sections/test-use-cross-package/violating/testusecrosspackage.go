// Package testusecrosspackage has has and put of another package. IL2002.
package testusecrosspackage

import "example.com/sections/test-use-cross-package/violating/store"

// Queue takes each job once.
type Queue struct{ s *store.Store }

// New makes an empty queue.
func New() *Queue { return &Queue{store.New()} }

// Submit takes a job in, and reports whether it is new.
func (q *Queue) Submit(name string) bool {
	if q.s.Has(name) { // want IL2002 entry
		return false
	}
	q.s.Put(name, new(store.Job)) // want IL2002 end
	return true
}

// Package store is a map for several goroutines.
package store

import "sync"

// Job runs at most once.
type Job struct{ Runs int }

// Store holds jobs.
type Store struct {
	mu   sync.Mutex
	jobs map[string]*Job
}

// New makes an empty store.
func New() *Store { return &Store{jobs: map[string]*Job{}} }

// Has reports whether there is a job of the name.
func (s *Store) Has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs[name] != nil
}

// Put stores a job.
func (s *Store) Put(name string, j *Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[name] = j
}

// Enter stores a job if there is none, and reports whether it did.
func (s *Store) Enter(name string, j *Job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs[name] != nil {
		return false
	}
	s.jobs[name] = j
	return true
}

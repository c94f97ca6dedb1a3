// Package cross has a store whose map other packages lock and take.
package cross

import "sync"

type Store struct {
	Mu    sync.RWMutex
	Items map[string]int
	Log   []string
}

// Put changes the map in place; callers lock.
func (s *Store) Put(k string, v int) { // want Put:"changes Store.Items"
	s.Items[k] = v
	s.Log = append(s.Log, k)
}

// All returns the map itself; callers lock.
func (s *Store) All() map[string]int { return s.Items } // want All:"result 0 aliases Store.Items"

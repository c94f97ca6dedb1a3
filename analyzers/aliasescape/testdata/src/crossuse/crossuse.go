// Package crossuse takes the map under the lock, by fields and by calls.
package crossuse

import "cross"

func Set(s *cross.Store, k string) { // want Set:"changes Store.Items"
	s.Mu.Lock()
	s.Put(k, 1)
	s.Mu.Unlock()
}

func Get(s *cross.Store) int {
	s.Mu.RLock()
	all := s.All()
	s.Mu.RUnlock()
	n := 0
	for range all { // want `alias of Store.Items is used after s.Mu: its elements .* Set \(crossuse.go:\d+\) changes them`
		n++
	}
	return n
}

func Right(s *cross.Store) int {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	return len(s.All()) // ok: under the lock
}

func Log(s *cross.Store) []string { // want Log:"result 0 aliases Store.Log"
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	return s.Log // ok: it is only appended to
}

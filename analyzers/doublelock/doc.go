// Package doublelock reports locks that are taken again by the goroutine that holds them.
//
// doublelock: second Lock of a held mutex (IL3002)
//
// WRONG: Require holds s.mu and calls T, which waits for s.mu: forever, since Go's locks do not know their
// holders.
//
//	func (s *Suite) T() *testing.T {
//		s.mu.RLock()
//		defer s.mu.RUnlock()
//		return s.t
//	}
//
//	func (s *Suite) Require() *Assertions {
//		s.mu.Lock()
//		defer s.mu.Unlock()
//		return New(s.T())
//	}
//
// RIGHT: code under the lock uses the field.
//
//	func (s *Suite) Require() *Assertions {
//		s.mu.Lock()
//		defer s.mu.Unlock()
//		return New(s.t)
//	}
//
// The second Lock may be several calls away, in other packages of the module, in a callback or behind an
// interface with a value made in the same function. Callees that release the lock first, and those with a
// parameter that decides whether to lock, are not reported.
//
// Missed: locks reached by two different paths, calls through other
// interfaces and function values. Reported falsely: a second Lock under a
// condition that never holds where the lock is held.
//
// Cost: linear in the waits under locks.
package doublelock

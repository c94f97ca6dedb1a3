// Package lostunlock reports returns that leave a lock held which other
// returns of the function give up.
//
// lostunlock: return without unlock (IL3004)
//
// WRONG: when the pool is closed, Add returns with the lock held, and the
// next call of any method waits forever.
//
//	func (p *Pool) Add(r *Resource) error {
//		p.mu.Lock()
//		if p.closed {
//			return ErrClosed
//		}
//		p.all = append(p.all, r)
//		p.mu.Unlock()
//		return nil
//	}
//
// RIGHT: a deferred Unlock covers every way out.
//
//	func (p *Pool) Add(r *Resource) error {
//		p.mu.Lock()
//		defer p.mu.Unlock()
//		if p.closed {
//			return ErrClosed
//		}
//		p.all = append(p.all, r)
//		return nil
//	}
//
// Functions that are meant to return locked are not reported: those that do
// so on every way out, or on success only and return something else then, or whose name or comment speaks of
// locks, or that make a closure or a goroutine which unlocks.
//
// A panic with the lock held counts as a return in functions that recover.
//
// Missed: locks held on some paths to a return only, panics in callees, locks
// that other functions of the package also unlock for their callers. Reported falsely:
// functions that return locked by a convention that the code does not show.
//
// Cost: the returns of a function times the locks that it holds there.
package lostunlock

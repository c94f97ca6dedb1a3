// Package lostunlock reports returns that leave a lock held which other
// returns of the function release.
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
// Functions that are meant to return locked are not reported: those that do so on every way out, or on success
// only and return something else then, or that speak of locks in their name or comment, or that make a closure
// or a goroutine which unlocks.
//
// A panic with the lock held counts as a return in functions that recover.
//
// A round of a loop that goes on with the lock held, where others release it, is reported too, be it by continue,
// goto or past an if. Ways that a flag, or a condition that is asked twice, rules out do not count.
//
// Missed: panics in callees, locks that other functions of the package also unlock for their
// callers, ways that share a return where another round or branch hands the object on. Reported falsely:
// functions that return locked by a convention that the code does not show.
//
// Cost: the returns of a function times the locks that it holds there, and for each Lock the instructions up to
// where it is released, once for each outcome of up to six conditions. A function that takes too many steps is
// left (ir.WorkLimit).
package lostunlock

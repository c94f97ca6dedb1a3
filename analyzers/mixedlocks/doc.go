// Package mixedlocks reports fields that one side accesses under one lock and
// the other side under another, which orders nothing.
//
// mixedlocks: two sides hold different locks (IL1006)
//
// WRONG: Can holds a lock, but not the one under which Event writes.
//
//	func (f *FSM) Event() {
//		f.eventMu.Lock()
//		defer f.eventMu.Unlock()
//		f.transition = next
//	}
//
//	func (f *FSM) Can() bool {
//		f.stateMu.RLock()
//		defer f.stateMu.RUnlock()
//		return f.transition == nil
//	}
//
// RIGHT: one lock guards the field, and both sides hold it.
//
//	func (f *FSM) Can() bool {
//		f.eventMu.Lock()
//		defer f.eventMu.Unlock()
//		return f.transition == nil
//	}
//
// The guard is found as for IL1001, which reports accesses without any lock of the object; this check
// reports accesses that hold a different lock. The read sides of one lock order nothing either: a write
// under it needs another lock, or the write side.
//
// Missed and reported falsely: as for IL1001.
//
// Cost: linear in the findings of guardedby.
package mixedlocks

// Package rlocktwice reports read locks that are taken again, or upgraded, by the goroutine that holds them.
//
// rlocktwice: read lock upgraded or taken again (IL3003)
//
// WRONG: All holds the read lock and calls Len, which read-locks again. If a
// writer waits in between, Len queues behind the writer, and the writer
// behind All: all three wait forever.
//
//	func (l *List) Len() int {
//		l.mu.RLock()
//		defer l.mu.RUnlock()
//		return len(l.items)
//	}
//
//	func (l *List) All() []Item {
//		l.mu.RLock()
//		defer l.mu.RUnlock()
//		all := make([]Item, 0, l.Len())
//		return append(all, l.items...)
//	}
//
// RIGHT: code under the lock does not lock.
//
//	func (l *List) All() []Item {
//		l.mu.RLock()
//		defer l.mu.RUnlock()
//		all := make([]Item, 0, len(l.items))
//		return append(all, l.items...)
//	}
//
// A call of Lock by a goroutine that holds the read lock waits forever, even
// without others. Taking it again is reported where the package has writers of the
// lock; callees with a parameter that decides whether to lock are not.
//
// Missed: as for IL3002. Reported falsely: phases of a program in which no
// writer runs.
//
// Cost: linear in the waits under locks.
package rlocktwice

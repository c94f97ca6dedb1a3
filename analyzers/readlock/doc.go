// Package readlock reports writes under the read side of a reader/writer
// lock, which any number of goroutines may hold at once.
//
// readlock: write under a read lock (IL1002)
//
// WRONG: two goroutines may hold the read lock, and both change the map.
//
//	func (c *Cache) Get(k string) *Item {
//		c.mu.RLock()
//		defer c.mu.RUnlock()
//		if c.items[k] == nil {
//			c.items[k] = new(Item)
//		}
//		return c.items[k]
//	}
//
// RIGHT: take the write lock and re-check.
//
//	func (c *Cache) Get(k string) *Item {
//		c.mu.Lock()
//		defer c.mu.Unlock()
//		…
//	}
//
// The lock may be taken by a caller, as long as all callers are known and hold it. A write with another
// lock held for writing is not reported. In a function that takes both sides, on different paths to the
// write, the finding is a lead, which check prints only with -leads.
//
// A finding needs evidence that two goroutines can reach the same object. That is a go statement of the
// package that leads to one of the two places, where the other side need not wait for the goroutine; or
// exported functions that several goroutines may call and that do not set the object up. Without such
// evidence it is a lead.
//
// A field of an object in a map beside the lock counts as well, where it is found and written under the read
// lock.
//
// Missed: writes through other pointers, and elements of slices. Reported falsely: functions that only one
// goroutine at a time runs; entries of a map of which each belongs to one goroutine.
//
// Cost: linear in the accesses, but the writes of a variable under a read lock times its accesses.
package readlock

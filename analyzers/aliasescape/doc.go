// Package aliasescape reports slices and maps that are taken from a field under its
// lock, and used or handed out when the lock is released.
//
// aliasescape: alias of guarded data used after unlock (IL1005)
//
// WRONG: entry is a piece of the array that Put writes to; the lock guards the array, too.
//
//	func (c *Cache) Get(k string) []byte {
//		c.mu.RLock()
//		entry := c.array[c.index[k]:]
//		c.mu.RUnlock()
//		return decode(entry)
//	}
//
//	func (c *Cache) Put(k string, v []byte) {
//		c.mu.Lock()
//		copy(c.array[c.index[k]:], v)
//		c.mu.Unlock()
//	}
//
// RIGHT: the bytes are copied before the lock is released.
//
//	func (c *Cache) Get(k string) []byte {
//		c.mu.RLock()
//		defer c.mu.RUnlock()
//		return decode(c.array[c.index[k]:])
//	}
//
// It is reported only if elements are changed in place elsewhere under the
// same lock: by assignment, copy, delete, or an append to a shorter piece. A
// slice that is only appended to or replaced as a whole is safe to read. The
// aliases that functions return, and the changes that they make, are known
// through calls and packages of the module.
//
// Missed: pointers to structs, aliases kept in other objects or captured by
// closures. Reported falsely: fields that are replaced before their elements
// change again.
//
// Cost: to follow values to the field that they come from is linear in the instructions; the uses of each alias that
// is taken under a lock are looked at once for it. A function that takes too many steps is left (ir.WorkLimit).
package aliasescape

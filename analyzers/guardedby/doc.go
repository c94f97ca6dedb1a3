// Package guardedby reports fields and package variables that are accessed
// without the lock that guards them elsewhere.
//
// guardedby: access without the lock that guards it elsewhere (IL1001)
//
// WRONG: Get may run at the same time as Add; that is a data race, and Get
// may see half of an update.
//
//	func (c *Counter) Add(n int) {
//		c.mu.Lock()
//		c.total += n
//		c.mu.Unlock()
//	}
//
//	func (c *Counter) Get() int { return c.total }
//
// RIGHT: both sides hold the lock.
//
//	func (c *Counter) Get() int {
//		c.mu.Lock()
//		defer c.mu.Unlock()
//		return c.total
//	}
//
// Which lock guards a variable is read from annotations
// (//interlock:guardedby mu, or gVisor's +checklocks:mu), and else inferred
// from the accesses: a lock that most of them hold, or that all writers but
// one function hold. The finding shows the count, the accesses without the
// lock, one a function, and a guarded access that conflicts.
//
// To copy a struct reads all its fields, and to assign one writes them. Elements
// of slices and arrays are judged apart from the variable that holds them, and
// so is an object on which methods are called that leave all locking to their
// caller: c.lru.Cap() without the lock under which c.lru.Resize(n) is called.
//
// Not counted are accesses to objects that no other goroutine can reach yet, in tests
// of other code, in package initialisation, in a sync.Once, behind a test of an atomic
// flag that is set once the variable is written, and where a comment says
// that no lock is needed. Helper functions are judged by the locks that their callers
// hold. A goroutine may read without the lock what it alone writes, and what was
// written before it started.
//
// Three kinds of access are leads, which are not printed: a read of what only a set-up function writes, in a
// function that seems to run after it; stores of constants and new channels, maps or slices that make the object as
// new; and any access in a method of an unexported type that nothing calls.
//
// A finding needs something that shows a second goroutine with the same object: a go statement of the package that
// leads to one of the two places while the other side need not wait for it, or exported functions that several may
// call, by at most one more call to the place without the lock. Those count as one goroutine that set the object up,
// by their names or by a comment ("must be called before Run"), come to the place by a function that does
// (startServing), or have acquired the object for themselves; Run does not meet itself. The calls that
// lead to the two places must not both hold one lock. Without all this, or where the lock is
// that of another object than the one with the variable, it is a lead.
//
// Missed: variables that no access guards, locks on other objects seldom
// held, code that only function values reach. Reported falsely: accesses
// ordered by something else than the lock (a channel, a WaitGroup, a phase
// of the program), and single writers that read their own variable.
//
// Cost: linear in the accesses; for a variable with a guard, the accesses without it times those with it.
package guardedby

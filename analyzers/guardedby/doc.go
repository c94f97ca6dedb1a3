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
// Copying a struct reads all its fields, and assigning one writes them. Elements of slices and arrays are
// judged apart from the variable that holds them. An object with methods that leave all locking to their caller
// is judged too: c.lru.Cap() without the lock under which c.lru.Resize(n) is called.
//
// Some accesses need no lock and are not counted: those to objects that no other goroutine can reach yet, in
// tests of other code, in package initialisation, in a sync.Once, behind a test of an atomic flag that is set
// once the variable is written, and where a comment says that no lock is needed. Helper functions are judged by
// the locks that their callers hold. A goroutine may read variables without the lock that it alone writes, and
// those written before it started.
//
// Three kinds of access are leads, which check prints only with -leads: a read of a variable that only a set-up
// function writes, in a function that seems to run after it; a store of a constant or of a new channel, map or
// slice that makes the object as new; and any access in a method of an unexported type that nothing calls.
//
// A finding needs evidence that two goroutines can reach the same object. That is a go statement of the
// package that leads to one of the two places, where the other side need not wait for the goroutine; or
// exported functions that several goroutines may call, and that reach the place without the lock by at most
// one more call. Functions are taken for one goroutine's if they set the object up (by their name, or by a
// comment such as "must be called before Run"), if they reach the place by a function that does
// (startServing), or if they have acquired the object for themselves. Run is not compared with itself. The
// calls that lead to the two places must not both hold one lock.
// A function that releases a lock which it has not taken holds it from its beginning.
//
// Without all this, or where the lock belongs to another object than the variable, it is a lead.
//
// A finding in methods of a type whose comment says plainly that several goroutines may use it ("It is safe for
// concurrent use."), with no word of order or exceptions there or in the comment of the method without the lock, is
// likely, and so shown without -possible, where several functions hold the lock when they write.
//
// Missed: variables that no access guards, locks on other objects seldom
// held, code that only function values reach. Reported falsely: accesses
// ordered by something else than the lock (a channel, a WaitGroup, a phase
// of the program), and single writers that read their own variable.
//
// Cost: linear in the accesses; for a variable with a guard, the accesses without it times those with it.
package guardedby

// Package testuse reports tests of shared state that decide about a use of that state, with a gap between the
// two.
//
// testuse: test and use that should be one step (IL2002)
//
// WRONG: two goroutines may both find the key absent, and both make an entry; the values that one of them adds
// to its own are lost.
//
//	func (c *Counts) Add(key string, n int) {
//		c.mu.RLock()
//		e, ok := c.entries[key]
//		c.mu.RUnlock()
//		if !ok {
//			e = &entry{}
//			c.mu.Lock()
//			c.entries[key] = e
//			c.mu.Unlock()
//		}
//		e.add(n)
//	}
//
// RIGHT: re-check after re-acquiring the lock.
//
//	func (c *Counts) Add(key string, n int) {
//		…
//		c.mu.Lock()
//		if again, ok := c.entries[key]; ok {
//			e = again
//		} else {
//			c.entries[key] = e
//		}
//		c.mu.Unlock()
//		…
//	}
//
// The section is AtomRace's test-and-use: a test of nil, a flag, presence in
// a map, a length, a counter, an atomic load or the result of a method that
// returns one of these (Has, IsClosed, Len), and a use that the branch decides
// about: an entry made, a counter raised, an element taken, a flag set, a pointer
// followed. The two may lie in functions that are called, also of other
// packages. Reported are tests and uses in two critical sections of one lock, atomic
// operations, and lazy initialisation without a lock. A flag may also stand
// for other state: if some function changes both in one critical section, a
// change of the other after a test of the flag is a use, too, and so is a send on
// a channel that is closed together with it.
//
// A lock of another object that is held over both does not make one step of them where nothing that
// writes the variable holds it.
//
// No branch is needed where a length is taken in one critical section and used as an index or an end in the
// next, while others cut. An entry that is removed because of its contents (it has expired) may be another one
// by then. A value that is read, replaced in a later critical section, and returned should be one exchange: two
// callers may both get it.
//
// An entry that is made again with an equal value counts where a number beside the map counts it
// twice. A second look does not help where the function returns the same whatever it finds.
//
// Not reported:
//
//   - a variable that is tested again under the second lock, before the use or to take an excess back;
//     also by a version that was read with it, or by other fields that always change with it;
//   - compare-and-swap, and a change with a result that is asked for (n.Add(1) > limit, a removal that
//     returns the entry) with the change that undoes it;
//   - a flag that is asked for again behind the use, and one that is set once more where all else on the
//     way asks for it itself;
//   - values that are computed again with the same result, and removal of entries that are gone already;
//   - limits that may be passed anyhow, since the test does not ask for the amount;
//   - claims made with the test that keep others out, and state that only one goroutine has;
//   - code with a comment that allows the race.
//
// A flag, a pointer, a limit or a list that an unexported function tests and changes is a lead, which check
// prints only with -leads, unless the number it adds to was counted under the lock: mostly one goroutine alone
// runs such code. Entries of maps are reported everywhere.
//
// A finding needs evidence that two goroutines can reach the same object. That is a go statement of the
// package that leads to one of the two places, where the other side need not wait for the goroutine; or
// exported functions that several goroutines may call and that do not set the object up. Without such
// evidence it is a lead.
//
// Missed: tests with an outcome that is kept in memory, tests and uses in two functions without a common
// caller, calls through exported interfaces, objects that are reached by two ways. Reported falsely: sections
// that something else orders, such as a channel or a phase of the program, and uses that undo themselves.
//
// Cost: for each branch that asks for a variable, the events of the function, and the uses of the variable, so
// a square where a function asks often; at worst the uses times the events where a lock is released in between,
// for which the events between a test and one use are mostly found again for the next. A function that takes
// too many steps is left (ir.WorkLimit).
package testuse

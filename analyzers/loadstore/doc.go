// Package loadstore reports updates of shared variables that are meant to be
// one step and are two: a load, and a store of a value that depends on it.
//
// loadstore: load and store that should be one step (IL2001)
//
// WRONG: two goroutines may both load 7 and both store 8; one update is lost.
//
//	type Pool struct {
//		mu   sync.Mutex
//		idle []*Conn
//		hits int
//	}
//
//	func (p *Pool) Hit()   { p.hits++ }
//	func (p *Pool) Reset() { p.mu.Lock(); p.hits = 0; p.mu.Unlock() }
//
// RIGHT: an atomic, or a lock held from the load to the store.
//
//	type Pool struct {
//		…
//		hits atomic.Int64
//	}
//
//	func (p *Pool) Hit()   { p.hits.Add(1) }
//	func (p *Pool) Reset() { p.hits.Store(0) }
//
// The section is AtomRace's load-and-store: x++, x += f, x = f(x), also by way of a local (n := x; x = n +
// 1), map elements (m[k]++), an atomic load and an atomic store, Load and Store of an entry of a sync.Map,
// and a lock that is released between the two. It is reported only for state that the code itself treats as
// shared and that has a second writer: others write it under a lock, another goroutine writes it, or the
// update runs in several goroutines. An update is safe that compares a version, which all writers change,
// before it stores. Two atomic operations are a lead, which check prints only with -leads, where no other
// function writes the variable, or some function compares and swaps it.
//
// A finding needs evidence that two goroutines can reach the same object. That is a go statement of the
// package that leads to one of the two places, where the other side need not wait for the goroutine; or
// exported functions that several goroutines may call and that do not set the object up. Without such
// evidence it is a lead.
//
// A counter that is loaded for its value and then set to zero, with two atomic operations, is such an update as well,
// where another function adds to it: n := c.Load(); c.Store(0); return n is n := c.Swap(0).
//
// Missed: updates that only two callers of one method make; updates through two
// functions or through pointers kept elsewhere, types that leave all locking to
// their callers. Reported falsely: updates
// that something else orders, such as a channel or a phase of the program.
//
// Cost: the square of the accesses that one function makes to one variable; one that takes too many steps is left
// (ir.WorkLimit). Proofs that a variable is shared are sought among its accesses.
package loadstore

// Package lockset is the shared pass that knows which locks are held at each
// instruction, named by access path ("c.mu").
//
// Within a function it is a forward dataflow over the blocks: a lock is held
// where it is held on every way there (must), or perhaps held where it is on
// some. Deferred calls run, last first, where the function returns. TryLock
// counts on the branch where it succeeded.
//
// Across functions it uses summaries, relative to receiver, parameters and
// package variables: the locks that a callee leaves acquired or released, and
// those that it takes at all. They are facts, so wrappers in imported packages
// of the module count too. A function starts, if all its callers are known, with
// the locks that all of them hold; calls with a fresh receiver do not count.
// Where the callers are not known ([State.Unknown]), a caller may hold further
// locks; so it is too where the function's name or comment says that it wants a
// lock. One caller among others that is called through a function value holds none that is known.
//
// A lock is a sync.Mutex or RWMutex, or anything else with methods Lock and
// Unlock: a spin lock, a sync.Locker. Methods of other names that acquire and
// release an atomic word of their receiver are recognised by their bodies, in their
// own package. The lock c.L of a condition is the one
// that NewCond was given where all conditions of a field get the same. A channel with room for one message is a lock
// where all its users both send and receive ([State.Turns]); one is missed that is used in a select, is handed on or
// has an exported name, or is released by another function than has acquired it.
//
// A loop over all elements of a slice, an array or a map that takes a lock of each leaves them all held, by the name
// "c.parts[*].mu", and its twin releases them. Any other lock that a loop takes in each round, or that was reached
// through a pointer which is assigned since, is known by its class only. A lock that a function releases
// without having taken it was its caller's: to take it again changes
// nothing for the caller ([Held.Back]), and locks that are taken in between are not
// taken under it ([Acquire.Freed]). A goroutine that is started and surely releases a lock holds it from its start;
// to its starter the lock is perhaps held from then on.
//
// Where paths meet that disagree, the state is split by the known outcomes of
// the conditions that the function asks more than once.
//
// For orders between locks, a call stands for all locks that it may wait for
// ([Result.Nestings]), through callees, callbacks, and interfaces with a value
// that was made in the same function. One through another interface of the module
// is a class of its own ([Dispatch]), which the join resolves.
//
// Missed: locks held through aliases; calls through function
// values and other interfaces. Falsely held: where a pointer in the path is
// assigned in between by a callee.
//
// Cost: each block is run again when a way into it brings fewer locks, so it is linear in the instructions times the
// locks that a function deals with; each function again when a caller brings fewer. The list of locks that calls take
// is linear in the calls times the locks of the callees.
package lockset

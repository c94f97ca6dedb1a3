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
// of the module count too. A function whose callers are all known starts with
// the locks that all of them hold; calls with a fresh receiver do not count.
// Where the callers are not known ([State.Unknown]), what is not held here may
// yet be held by a caller; so it is too where the function's name or comment
// says that it wants a lock.
//
// A lock is a sync.Mutex or RWMutex, or anything else with methods Lock and
// Unlock: a spin lock, a sync.Locker.
//
// Missed: locks held through aliases, in arrays under changing indexes, and in
// maps. Falsely held: where a pointer in the path is assigned in between.
package lockset

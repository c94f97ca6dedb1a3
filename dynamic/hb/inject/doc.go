// Package runtime is the part that the happens-before engine adds to package runtime: see package hb.
// Nothing here is built in its place: a build constraint keeps all other files out.
//
//	hooks.go      the functions that the compiler and the runtime call; the fast path
//	access.go     shadow cells, and FastTrack's rules
//	sample.go     which accesses are recorded, where that is not all of them
//	stationary.go which memory is only read once goroutines share it
//	loops.go      how often the loops that a goroutine is in have gone round
//	clock.go      vector clocks
//	sync.go       releases and acquisitions; operations of sync/atomic
//	goroutine.go  which goroutine has which slot of the clocks
//	frames.go     calling contexts, and the history of accesses
//	room.go       how much memory the cells of the heap may take
//	memory.go     where all of that is kept
//	report.go     the report of a race
//	text.go       its words
//
// Most functions are nosplit, since the code that they are called from may be: they can neither
// grow the stack nor be preempted, so that a lock is held for nanoseconds. Code that needs more room
// runs on the system stack. All names begin with hb, except those that the runtime calls.
package runtime

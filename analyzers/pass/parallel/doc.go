// Package parallel is the shared pass that finds accesses of two goroutines to
// one variable that nothing orders, without knowing a guard: those of a function
// and of a goroutine that it starts, or of two such goroutines. Tests count.
//
// Each function has a summary: the accesses that it and its callees make to
// variables of their caller, with the locks held; the goroutines that it leaves running; and
// its synchronisation, as signals that it waits for and signals that it may give
// on. A function is judged with the goroutines that it starts, itself or by a
// callee that returns meanwhile. For an access of the starter, control must come to
// it from the start without waiting for a signal that the goroutine may give
// after its own access (a channel, a WaitGroup, a Once; a lock or an atomic if a
// branch decides by its state), and the goroutine must not have waited for a
// signal of the starter. For two goroutines, none of them may wait for a signal
// of the other.
//
// Unknown code orders: that of other packages, unless it is known as
// quiet, function values that could not be followed, methods of interfaces. Two
// accesses mean one variable if they have the same path from an object of the starter,
// and no object on the way is made anew.
//
// The races that the simulation of a test or of main shows are added (package simulation): it follows function
// values, methods behind interfaces and other names of objects.
//
// Missed: other names for one object, elements of slices by variable indexes,
// goroutines that others than the function and its callees start. Reported
// falsely: paths that no run takes, such as those that a flag or a count excludes.
//
// Cost: linear in the instructions and signals of a function, and for each pair of conflicting accesses one walk
// through the function that starts the goroutines; a function that takes too many steps is left (ir.WorkLimit).
package parallel

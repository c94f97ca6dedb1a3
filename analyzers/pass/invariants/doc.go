// Package invariants is the shared pass that finds atomic sections which no
// bug pattern speaks of: AtomRace's sections from access-interleaving
// invariants (4.2), and those that people declare in comments. It reports
// nothing; runs decide.
//
// A section is a pair of consecutive accesses of one variable on the
// interprocedural control flow graph: an entry, and the accesses of the same
// variable that control may come to next, which are its ends. One access may be
// the end of a section and the entry of the next, and in a loop both of one
// section (a circular section). The two accesses may lie in functions of the package
// that are called. The A sets follow from the modes (package atomicsets).
//
// One variable is one path from one value (accesspath), and of maps one key
// where both accesses have one.
//
// Left out are variables that nobody else can reach or that nobody changes
// in a way that the pair forbids, functions that only one goroutine runs
// which alone changes the variable, tests, initialisation, and pairs that one
// critical section of a lock of the same object holds together.
//
//	//interlock:atomic the two totals change together
//
// above a function, or above or at the end of the first line of a statement,
// declares that no access of another goroutine may come between two
// consecutive accesses of one variable in it, so that the outcome is that of no
// order of the two. There nothing is left out. Sections over several variables are
// declared in the repository file.
//
// Missed: accesses in functions of other packages, in goroutines and deferred calls, objects that are reached
// by two ways. Falsely found: most of them, which is why refinement drops sections that correct runs split.
//
// Cost: for each access linear in the instructions up to the next ones of its variable. A function that takes too many
// steps is left (ir.WorkLimit).
package invariants

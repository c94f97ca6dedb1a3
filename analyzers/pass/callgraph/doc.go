// Package callgraph is the shared pass that knows, for every function of a
// package, its callers and which goroutines may run it.
//
// The calls of an unexported function are all in its package: static calls,
// calls through interfaces that name the unexported method, and uses as a
// function value that can be followed (called, deferred, started, handed to a
// function that calls or starts its parameter). A value that cannot be followed
// makes the function "escape": it may be called in any state, and the checks then
// neither report it nor take it as evidence.
//
// Calls in _test.go files do not count: a test that calls a helper without
// its lock says nothing about the program.
//
// Missed: reflection, linkname, calls through function values kept in memory
// (they escape). Falsely taken for reachable: nothing beyond exported names.
//
// Cost: linear in the calls and in the uses of functions as values, times the goroutines that come to a function;
// where functions call each other in circles, times the depth of these.
package callgraph

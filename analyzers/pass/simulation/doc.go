// Package simulation runs a function and the goroutines that it starts, on
// their SSA form, through all their interleavings: a model checker for small
// scopes. It finds the ends from which somebody waits for ever.
//
// Objects that the scope makes itself are exact: channels, locks, WaitGroups, Conds,
// contexts, structs and their fields, closures, slices and maps of known size,
// numbers. A value from outside is a symbol, which is decided both ways
// where a branch asks for it, and then stays decided: two loops over one slice
// run as often. A collection of unknown length has at most two elements. Many
// goroutines are run in one order only.
//
// Calls of functions of the package are run, as are methods of values of a known
// type. An object that is handed to any other code, stored in an object from
// outside, or returned by the scope, has escaped: any code may end a wait for it.
//
// A goroutine is stuck if the graph of states has a bottom component, one that
// no move leaves and in which nothing was left out, where it never moves
// (Liu and others, GCatch, ASPLOS 2021, ask the same of paths, with a solver).
//
// In a program or a test, two accesses to one variable race if one of them writes, and the goroutine of the
// first has done nothing since that the goroutine of the second has waited for. Nothing is compared in a run
// that has called code which is not known, since that may order anything. A wait is ordered after every earlier
// release, so that some races are missed.
//
// May be missed: everything beyond the bounds, in calls of other packages, in go
// statements that call one directly (go wg.Done()), and where the bug needs a
// preemption between two plain accesses. May be found falsely: conditions that
// belong together in ways that symbols do not show.
//
// Cost: at most the steps and states that a [Scope] may take.
package simulation

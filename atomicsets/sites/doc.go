// Package sites finds the sites of typed packages: the static accesses to memory that two goroutines might
// share, each with its syntax.
//
// [Enumerate] is the only definition of a site. The static side calls it to make the plan, the rewriter calls
// it again to put the monitor in front of the accesses, and package pointsto to judge them, so they cannot
// disagree. A pass that works on SSA form refers to a site by its [plan.Key]: the place where the access
// expression starts, and its mode.
//
// Cost: linear in the syntax. The search for releases of locks ([LockUses]) takes the statements of a function
// times the locks that it releases, up to a limit ([Unfinished]).
package sites

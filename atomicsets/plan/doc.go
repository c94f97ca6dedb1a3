// Package plan holds the contract between the static and the dynamic side:
// what a site is, and for each site of a module whether the monitor watches
// it or why it does not need to.
//
// A site is one static access to memory that two goroutines might share:
// package, function, variable, mode, position. [Enumerate] finds the sites of
// a typed package; the static side decides about each; the rewriter puts the
// monitor before those that are to be watched. Both use Enumerate, so they
// cannot disagree on what a site is.
//
// The package imports the standard library only.
package plan

// Package plan holds the contract between the static and the dynamic side: for
// each site of a module whether the monitor watches it, or why it does not
// need to, and which atomic sections it watches.
//
// A site is one static access to memory that two goroutines might share:
// package, function, variable, mode, position. Package sites finds them in
// typed packages; package atomicsets makes the plan; the rewriter puts the
// monitor before the sites that are to be watched. The static passes and
// package pointsto refer to a site by its [Key].
//
// The package imports the standard library only, and nothing of go/types: it
// can be read without knowing how sites are found.
package plan

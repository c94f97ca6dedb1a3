// Package knowledge holds what the analyses believe without seeing it, so that
// it can be read, and questioned, in one place:
//
//   - library.go: what functions and types of the standard library do;
//   - custom.go: what names and comments mean by custom;
//   - opinion.go: from which numbers on something counts as evidence;
//   - bound.go: where a search stops.
//
// What an operation of packages sync and sync/atomic is, the passes know that
// model it (lockset, syncops, accesses, endpoints); here is only what they
// take on trust.
//
// Each part names the corpus that it was chosen on. Where a table errs, its
// comment says which way.
package knowledge

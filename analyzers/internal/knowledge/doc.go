// Package knowledge holds what the analyses believe without seeing it, so that
// it can be read, and questioned, in one place:
//
//   - table.go: a row a library package or function, a column a property;
//     library.go has the questions, generated.go the parts of the table that
//     rooms have which may not import this package;
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

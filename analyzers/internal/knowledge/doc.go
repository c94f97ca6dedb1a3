// Package knowledge holds the beliefs of the analyses that they do not see proved, so that they can be read,
// and questioned, in one place:
//
//   - table.go: a row a library package or function, a column a property;
//     library.go has the questions, generated.go the parts of the table that
//     rooms have which may not import this package;
//   - custom.go: the meaning of names and comments by custom;
//   - opinion.go: from which numbers on something counts as evidence;
//   - bound.go: where a search stops.
//
// The operations of packages sync and sync/atomic are known to the passes that model them (lockset, syncops,
// accesses, endpoints); here are only the facts that they take on trust.
//
// Each part names the corpus that it was chosen on. Where a table errs, its
// comment says which way.
package knowledge

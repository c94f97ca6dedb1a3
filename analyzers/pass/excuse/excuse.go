// Package excuse is the form of the tables that say why two accesses are not reported, or only as a lead.
//
// Each row is one reason with a name and a fixture. A row can be switched off, so that a tool can measure which
// findings it removes, and which of these were true. A row that removes fewer than three false findings is not worth
// its code.
//
// Cost: that of the rows that are asked, in the order of the table, until one holds.
package excuse

import "slices"

// Row is one excuse for questions of type Q.
type Row[Q any] struct {
	Name    string
	Reason  string // why the code is right where the row holds
	Fixture string // a package of a testdata/src, and a function there that is reported without this row
	Holds   func(Q) bool
}

// Table is a list of excuses; the first that holds counts.
type Table[Q any] []Row[Q]

// Holds reports whether one of the rows that are switched on holds.
func (t Table[Q]) Holds(question Q) bool {
	return slices.ContainsFunc(t, func(r Row[Q]) bool { return !IsOff(r.Name) && r.Holds(question) })
}

// IsOff reports whether the row with the name is switched off.
func IsOff(name string) bool { return slices.Contains(off, name) }

// Excuse is a row without its question.
type Excuse struct{ Name, Reason, Fixture string }

// List returns the rows of the table.
func (t Table[Q]) List() []Excuse {
	var list []Excuse
	for _, r := range t {
		list = append(list, Excuse{r.Name, r.Reason, r.Fixture})
	}
	return list
}

// off are the names of the rows that are switched off. They are set before any analysis runs.
var off []string

// Without runs f with rows of all tables switched off. No analysis may run beside it, except those that f runs.
func Without(f func(), names ...string) {
	before := off
	off = names
	defer func() { off = before }()
	f()
}

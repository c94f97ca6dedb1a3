package unsafepub

import (
	_ "embed"
	"fmt"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/endpoints"
)

//go:embed doc.go
var doc string

// Analyzer reports fields that are written after their object was shared.
var Analyzer = check.New("unsafepub", finding.WrittenLate, doc, run, accesses.Analyzer, endpoints.TestUses)

func run(pass *analysis.Pass, r *check.Reporter) {
	list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
	c := &checker{list, r, map[finding.Position]bool{}, findShelves(list)}
	for _, found := range pass.ResultOf[endpoints.TestUses].([]*endpoints.TestUse) {
		c.judged[found.Use.Position] = c.judged[found.Use.Position] || !found.Lead
	}
	for _, v := range c.list.Variables() {
		if v.Atomic {
			continue
		}
		for _, find := range []func(*accesses.Variable) *race{c.publication, c.lazyInit, c.findRunFlag, c.listed} {
			if found := find(v); found != nil {
				c.report(v, found)
				break
			}
		}
	}
}

type checker struct {
	list     *accesses.List
	reporter *check.Reporter
	// judged are uses that testuse reports: it is the same bug, and the section
	// shows more.
	judged  map[finding.Position]bool
	shelves shelves
}

// race is a late write, another access, and the words for them.
type race struct {
	write, other *accesses.Access
	title, why   string
}

func (c *checker) report(v *accesses.Variable, found *race) {
	a, b := found.write, found.other
	f := &finding.Finding{
		Title:    fmt.Sprintf("%s is %s", v.Name.Short(), found.title),
		Message:  found.why,
		Variable: a.Variable(),
		Accesses: []finding.Access{c.list.Side(a), c.list.Side(b)},
	}
	c.reporter.Report(f, a.Expr, b.Expr, b.Verb()+" here", check.Spots(a))
}

// plainWrites lists the stores to v that no lock protects.
func plainWrites(v *accesses.Variable) []*accesses.Access {
	var stores []*accesses.Access
	for _, a := range v.Accesses {
		if a.Mode == finding.Write && !a.Map && a.Locks.Free() {
			stores = append(stores, a)
		}
	}
	return stores
}

// object returns the parameter or captured variable from which a is reached.
func object(a *accesses.Access) ssa.Value {
	switch root := a.Path.Root.(type) {
	case *ssa.Parameter, *ssa.FreeVar:
		return root
	case *ssa.Alloc:
		if root.Parent() != a.Fn { // in a variable that is assigned once
			return root
		}
	}
	return nil
}

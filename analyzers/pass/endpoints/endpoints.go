// Package endpoints holds the shared passes that find where atomic sections begin and end, in called functions
// too: [Analyzer] sums up which variables functions test, read and change, and [TestUses] finds the tests and
// uses that another goroutine may come between.
//
// The effects of a function are exported as the fact [Effects], in terms of its parameters, so that the ends of
// a section may lie in functions of other packages.
//
// Cost: for each branch that asks for a variable, the events of the function, and the uses of the variable, so
// a square where a function asks often; at worst the uses times the events where a lock is released in between,
// for which the events between a test and one use are mostly found again for the next. A function that takes
// too many steps is left out (ir.WorkLimit).
package endpoints

import (
	"go/ast"
	"reflect"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/guards"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/analyzers/pass/stationary"
)

// Analyzer is the shared pass that knows which variables functions read and change, by calls too. Its result is
// a [*Package].
var Analyzer = &analysis.Analyzer{
	Name:       "interlockendpoints",
	Doc:        "find what may begin or end atomic sections, in callees too",
	Run:        run,
	Requires:   []*analysis.Analyzer{accesses.Analyzer, ownership.Analyzer, stationary.Analyzer},
	FactTypes:  []analysis.Fact{new(Effects)},
	ResultType: reflect.TypeFor[*Package](),
}

// Package holds the reads and changes of the functions of a package. It is read-only once built: passes that
// use it run at the same time. Where an earlier pass has failed, nothing is known of any function.
type Package struct{ c *checker }

func run(pass *analysis.Pass) (any, error) {
	c := newChecker(pass)
	c.list.Prog.Analyse(pass, func() {
		for _, fn := range c.list.Prog.Funcs {
			c.factsOf(fn)
			if !c.list.Prog.InTest(fn) {
				c.effects(fn)
			}
		}
		c.findAside()
		c.export()
	})
	return &Package{c}, nil
}

// TestUses is the shared pass that finds tests of shared state that decide about a use of that state, with a
// gap between the two. Its result is a [][*TestUse].
var TestUses = &analysis.Analyzer{
	Name:       "interlocktestuses",
	Doc:        "find tests and uses of shared state that are not one step",
	Run:        findTestUses,
	Requires:   []*analysis.Analyzer{Analyzer, guards.Analyzer},
	ResultType: reflect.TypeFor[[]*TestUse](),
}

// TestUse is a test and a use that another goroutine may come between.
type TestUse struct {
	Test, Use         finding.Access // as the function has them: the access, or the call
	TestNode, UseNode ast.Expr
	Variable          finding.Variable
	Name              string // Type.field
	Why               string // the consequence, for people
	Section           *finding.Section
	Remote            *accesses.Access // that may come in between, if another one is known
	// Lead: the code releases a lock between the two, but nothing shows that a second goroutine comes,
	// or that to come does harm. Runs may.
	Lead bool

	rule *rule // of the table
}

func findTestUses(pass *analysis.Pass) (any, error) {
	c := pass.ResultOf[Analyzer].(*Package).searching(pass.ResultOf[guards.Analyzer].([]guards.Suspect))
	var list []*TestUse
	c.list.Prog.Each(pass, func(fn *ssa.Function, work *ir.Work) {
		f := c.functions[fn]
		if f == nil || !c.counts(fn) {
			return
		}
		f = f.searching(work)
		all := c.findPairs(f)
		for _, p := range all {
			if remote, ok := c.shared(f, p); ok && !p.lead {
				list = append(list, c.testUse(f, p, remote, !c.certain(f, p, remote))...)
			}
		}
		// Leads come last, since a function has one pair on a variable.
		for _, p := range all {
			if c.isLead(f, p) {
				list = append(list, c.testUse(f, p, nil, true)...)
			}
		}
	})
	return list, nil
}

// searching returns a copy that may note its results. A suspect, which lacks the lock that guards its variable
// elsewhere, counts as found.
func (p *Package) searching(suspects []guards.Suspect) *checker {
	c := *p.c
	c.reported, c.done = map[finding.Position]bool{}, map[string]bool{}
	for _, s := range suspects {
		for _, a := range s.All {
			c.reported[c.list.Side(a).Position] = true
		}
	}
	return &c
}

// checker is one package at work.
type checker struct {
	pass  *analysis.Pass
	list  *accesses.List
	owner *ownership.Result
	still *stationary.Fields

	byFn      map[*ssa.Function][]*accesses.Access
	writers   map[accesspath.Name][]*accesses.Access // that count, of shared objects
	closers   map[accesspath.Name][]*ssa.Function
	known     map[*ssa.Function][]*event
	functions map[*ssa.Function]*function
	summaries map[*ssa.Function][]Effect
	reported  map[finding.Position]bool // for the lock that they lack
	done      map[string]bool           // variable and function, reported once
}

func newChecker(pass *analysis.Pass) *checker {
	c := &checker{
		pass:      pass,
		list:      pass.ResultOf[accesses.Analyzer].(*accesses.List),
		owner:     pass.ResultOf[ownership.Analyzer].(*ownership.Result),
		still:     pass.ResultOf[stationary.Analyzer].(*stationary.Fields),
		byFn:      map[*ssa.Function][]*accesses.Access{},
		writers:   map[accesspath.Name][]*accesses.Access{},
		closers:   map[accesspath.Name][]*ssa.Function{},
		known:     map[*ssa.Function][]*event{},
		functions: map[*ssa.Function]*function{},
		summaries: map[*ssa.Function][]Effect{},
	}
	for _, a := range c.list.All {
		c.byFn[a.Fn] = append(c.byFn[a.Fn], a)
		if a.Writes() && a.Owner == ownership.Shared && c.list.Counts(a) && !a.MadeByCallers() {
			c.writers[a.Name] = append(c.writers[a.Name], a)
		}
	}
	c.findClosers()
	return c
}

// counts reports whether the function says something about the program.
func (c *checker) counts(fn *ssa.Function) bool {
	prog, graph := c.list.Prog, c.list.Graph
	return !prog.InTest(fn) && !prog.NoRace(fn) && !graph.Roles(fn).OnlyInit() && !graph.Once(fn)
}

package testuse

import (
	_ "embed"
	"reflect"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/guardedby"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/directives"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/analyzers/pass/ssair"
	"github.com/interlock-go/interlock/analyzers/pass/stationary"
)

//go:embed doc.go
var doc string

// Analyzer reports tests and uses that should be one step.
var Analyzer = &analysis.Analyzer{
	Name:       "testuse",
	Doc:        check.Doc(doc),
	URL:        check.URL(finding.TestAndUse),
	Run:        run,
	Requires:   []*analysis.Analyzer{Halves, directives.Analyzer, guardedby.Leads},
	ResultType: reflect.TypeFor[*check.Result](),
}

// Halves is the shared pass that knows what functions read and change, by
// calls too. Its result is a [*Package].
var Halves = &analysis.Analyzer{
	Name:       "interlockhalves",
	Doc:        "find what may be halves of atomic sections, in callees too",
	Run:        runHalves,
	Requires:   []*analysis.Analyzer{accesses.Analyzer, ownership.Analyzer, stationary.Analyzer},
	FactTypes:  []analysis.Fact{new(Effects)},
	ResultType: reflect.TypeFor[*Package](),
}

// Package is what the functions of a package read and change. It is read-only
// once built.
type Package struct{ c *checker }

func runHalves(pass *analysis.Pass) (any, error) {
	c := newChecker(pass)
	c.list.Prog.Analyse(pass, func() {
		for _, fn := range c.list.Prog.Funcs {
			if !c.list.Prog.InTest(fn) {
				c.facts(fn)
				c.effects(fn)
			}
		}
		c.export()
	})
	return &Package{c}, nil
}

func run(pass *analysis.Pass) (any, error) {
	return check.Run(pass, finding.TestAndUse, func(r *check.Reporter) {
		c := pass.ResultOf[Halves].(*Package).forCheck(r, pass.ResultOf[guardedby.Leads].([]guardedby.Lead))
		c.list.Prog.Each(pass, func(fn *ssa.Function, work *ssair.Work) {
			if !c.counts(fn) {
				return
			}
			f := c.facts(fn).searching(work)
			for _, p := range c.pairs(f) {
				if remote, ok := c.shared(f, p); ok {
					c.report(f, p, remote)
				}
			}
		})
	})
}

// forCheck returns a copy that may note what it has reported.
func (p *Package) forCheck(r *check.Reporter, leads []guardedby.Lead) *checker {
	c := *p.c
	c.reporter, c.reported, c.done = r, map[finding.Position]bool{}, map[string]bool{}
	for _, l := range leads {
		for _, a := range l.All {
			c.reported[c.list.Side(a).Position] = true
		}
	}
	return &c
}

// checker is one package at work.
type checker struct {
	pass     *analysis.Pass
	list     *accesses.List
	owner    *ownership.Result
	still    *stationary.Fields
	reporter *check.Reporter

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
		if a.Writes() && a.Owner == ownership.Shared && c.list.Counts(a) && !a.SetUp {
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

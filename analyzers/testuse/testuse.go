package testuse

import (
	_ "embed"
	"reflect"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/accesses"
	"github.com/interlock-go/interlock/analyzers/accesspath"
	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/directives"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/guardedby"
	"github.com/interlock-go/interlock/analyzers/ownership"
	"github.com/interlock-go/interlock/analyzers/stationary"
)

//go:embed doc.go
var doc string

// Analyzer reports tests and uses that should be one step.
var Analyzer = &analysis.Analyzer{
	Name: "testuse",
	Doc:  check.Doc(doc),
	URL:  check.URL(finding.TestAndUse),
	Run:  run,
	Requires: []*analysis.Analyzer{
		accesses.Analyzer, ownership.Analyzer, stationary.Analyzer, directives.Analyzer, guardedby.Leads,
	},
	FactTypes:  []analysis.Fact{new(Effects)},
	ResultType: reflect.TypeFor[*check.Result](),
}

func run(pass *analysis.Pass) (any, error) {
	return check.Run(pass, finding.TestAndUse, func(r *check.Reporter) {
		c := newChecker(pass, r)
		for _, fn := range c.list.Prog.Funcs {
			if !c.counts(fn) {
				continue
			}
			f := c.facts(fn)
			for _, p := range c.pairs(f) {
				if remote, ok := c.shared(f, p); ok {
					c.report(f, p, remote)
				}
			}
		}
		c.export()
	})
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
	known     map[*ssa.Function][]*event
	functions map[*ssa.Function]*function
	summaries map[*ssa.Function][]Effect
	reported  map[finding.Position]bool // for the lock that they lack
	done      map[string]bool           // variable and function, reported once
}

func newChecker(pass *analysis.Pass, r *check.Reporter) *checker {
	c := &checker{
		pass: pass, reporter: r,
		list:      pass.ResultOf[accesses.Analyzer].(*accesses.List),
		owner:     pass.ResultOf[ownership.Analyzer].(*ownership.Result),
		still:     pass.ResultOf[stationary.Analyzer].(*stationary.Fields),
		byFn:      map[*ssa.Function][]*accesses.Access{},
		writers:   map[accesspath.Name][]*accesses.Access{},
		known:     map[*ssa.Function][]*event{},
		functions: map[*ssa.Function]*function{},
		summaries: map[*ssa.Function][]Effect{},
		reported:  map[finding.Position]bool{},
		done:      map[string]bool{},
	}
	for _, a := range c.list.All {
		c.byFn[a.Fn] = append(c.byFn[a.Fn], a)
		if a.Writes() && a.Owner == ownership.Shared && c.list.Counts(a) && !a.SetUp {
			c.writers[a.Name] = append(c.writers[a.Name], a)
		}
	}
	for _, l := range pass.ResultOf[guardedby.Leads].([]guardedby.Lead) {
		for _, a := range l.All {
			c.reported[c.list.Side(a).Position] = true
		}
	}
	return c
}

// counts reports whether the function says something about the program.
func (c *checker) counts(fn *ssa.Function) bool {
	prog, graph := c.list.Prog, c.list.Graph
	return !prog.InTest(fn) && !prog.NoRace(fn) && !graph.Roles(fn).OnlyInit() && !graph.Once(fn)
}

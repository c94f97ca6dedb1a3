package guardedby

import (
	"cmp"
	_ "embed"
	"fmt"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/accesses"
	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/directives"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/lockset"
)

//go:embed doc.go
var doc string

// Analyzer reports accesses without the lock that guards them elsewhere.
var Analyzer = &analysis.Analyzer{
	Name:       "guardedby",
	Doc:        check.Doc(doc),
	URL:        check.URL(finding.Unguarded),
	Run:        run,
	Requires:   []*analysis.Analyzer{accesses.Analyzer, directives.Analyzer},
	FactTypes:  []analysis.Fact{new(Guarded)},
	ResultType: reflect.TypeFor[*check.Result](),
}

func run(pass *analysis.Pass) (any, error) {
	return check.Run(pass, finding.Unguarded, func(r *check.Reporter) {
		list := pass.ResultOf[accesses.Analyzer].(*accesses.List)
		c := &checker{pass, list, pass.ResultOf[directives.Analyzer].(*directives.Set), r}
		c.exportAnnotations()
		for _, v := range variables(list) {
			g := c.guardOf(v)
			if g == nil {
				continue
			}
			for _, unprotected := range c.perFunction(g.without) {
				c.report(v, g, unprotected)
			}
		}
	})
}

type checker struct {
	pass     *analysis.Pass
	list     *accesses.List
	comments *directives.Set
	reporter *check.Reporter
}

// variables lists those to judge: one that is also accessed atomically
// follows other rules, and is left out.
func variables(list *accesses.List) []*accesses.Variable {
	return slices.DeleteFunc(list.Variables(), func(v *accesses.Variable) bool { return v.Atomic || len(v.Accesses) == 0 })
}

// perFunction keeps one access of each function: the first write, or the first read.
func (c *checker) perFunction(unprotected []*accesses.Access) [][]*accesses.Access {
	index := map[string]int{}
	var groups [][]*accesses.Access
	for _, a := range unprotected {
		name := c.list.Prog.FuncName(a.Fn)
		i, ok := index[name]
		if !ok {
			i = len(groups)
			index[name] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], a)
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b *accesses.Access) int {
			return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Expr.Pos(), b.Expr.Pos()))
		})
	}
	return groups
}

func rank(a *accesses.Access) int {
	if a.Mode == finding.Write {
		return 0
	}
	return 1
}

// report makes a finding of the unprotected accesses of one function, if a
// guarded access can run at the same time and conflicts.
func (c *checker) report(v *accesses.Variable, g *guard, unprotected []*accesses.Access) {
	for _, a := range unprotected {
		b := c.otherSide(g, a)
		if b == nil {
			continue
		}
		f := &finding.Finding{
			Title:    fmt.Sprintf("%s is %s without %s", v.Name.Short(), a.Verb(), g.text),
			Message:  g.evidence(a, b, c.list),
			Variable: a.Variable(),
			Accesses: []finding.Access{c.list.Side(a), c.list.Side(b)},
			Notes:    []string{g.count()},
		}
		c.reporter.Report(f, a.Expr, b.Expr, fmt.Sprintf("%s here with %s held", b.Verb(), g.text), check.Spots(unprotected...))
		return
	}
}

// otherSide chooses the guarded access to show: one that conflicts with a and
// that another goroutine can run, a write rather than a read, of another
// function rather than the same.
func (c *checker) otherSide(g *guard, a *accesses.Access) *accesses.Access {
	var best *accesses.Access
	bestScore := -1
	for _, b := range g.with {
		if !finding.Conflicts(a.Mode, b.Mode) || !accesses.MaySame(a, b) || !c.list.Parallel(a, b) || accesses.CommonLock(a, b) || c.mayBeOrdered(b) {
			continue
		}
		score := 0
		if b.Mode == finding.Write {
			score += 2
		}
		if b.Fn != a.Fn {
			score++
		}
		if score > bestScore {
			best, bestScore = b, score
		}
	}
	return best
}

// mayBeOrdered: b holds a lock that its takers keep beyond their return, so
// that a may run under it too.
func (c *checker) mayBeOrdered(b *accesses.Access) bool {
	return slices.ContainsFunc(b.Locks.Held(), func(h lockset.Held) bool { return c.list.Locks.Outlives(h.Class) })
}

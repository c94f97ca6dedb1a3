package guardedby

import (
	"cmp"
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/accesses"
	"github.com/interlock-go/interlock/analyzers/accesspath"
	"github.com/interlock-go/interlock/analyzers/callers"
	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/directives"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/lockset"
	"github.com/interlock-go/interlock/analyzers/ownership"
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
		for _, v := range group(list) {
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

// variable is a field or package variable with the accesses that count.
type variable struct {
	name     accesspath.Name
	accesses []*accesses.Access
}

// group sorts the accesses that count by variable. A variable that is also
// accessed atomically follows other rules, and is left out.
func group(list *accesses.List) []*variable {
	byName := map[accesspath.Name]*variable{}
	atomics := map[accesspath.Name]bool{}
	var all []*variable
	for _, a := range list.All {
		if a.Mode == finding.AtomicRead || a.Mode == finding.AtomicWrite {
			atomics[a.Name] = true
		}
		if !list.Counts(a) || a.Owner != ownership.Shared {
			continue
		}
		v := byName[a.Name]
		if v == nil {
			v = &variable{name: a.Name}
			byName[a.Name] = v
			all = append(all, v)
		}
		v.accesses = append(v.accesses, a)
	}
	all = slices.DeleteFunc(all, func(v *variable) bool { return atomics[v.name] })
	slices.SortFunc(all, func(a, b *variable) int { return strings.Compare(a.name.String(), b.name.String()) })
	return all
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
func (c *checker) report(v *variable, g *guard, unprotected []*accesses.Access) {
	for _, a := range unprotected {
		b := c.otherSide(g, a)
		if b == nil {
			continue
		}
		verb := map[finding.Mode]string{finding.Read: "read", finding.Write: "written"}[a.Mode]
		f := &finding.Finding{
			Title:    fmt.Sprintf("%s is %s without %s", shortName(v.name), verb, g.text),
			Message:  g.evidence(a, b, c.list),
			Variable: a.Variable(),
			Accesses: []finding.Access{c.list.Side(a), c.list.Side(b)},
			Notes:    []string{g.count()},
		}
		c.reporter.Report(f, a.Expr, b.Expr, fmt.Sprintf("%s here with %s held", verbOf(b), g.text), check.Spots(unprotected...))
		return
	}
}

func verbOf(a *accesses.Access) string {
	if a.Mode == finding.Write {
		return "written"
	}
	return "read"
}

func shortName(n accesspath.Name) string {
	if n.Type != "" {
		return n.Type + "." + n.Field
	}
	return n.Field
}

// otherSide chooses the guarded access to show: one that conflicts with a and
// that another goroutine can run, a write rather than a read, of another
// function rather than the same.
func (c *checker) otherSide(g *guard, a *accesses.Access) *accesses.Access {
	var best *accesses.Access
	bestScore := -1
	for _, b := range g.with {
		if !finding.Conflicts(a.Mode, b.Mode) || a.Map != b.Map || !c.parallel(a, b) || commonLock(a, b) || c.mayBeOrdered(b) {
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

// parallel reports whether two goroutines may run a and b at the same time on
// one object, for all that is known: not if the same single goroutine runs
// both, nor if a made the object and only started goroutines that never come to b.
func (c *checker) parallel(a, b *accesses.Access) bool {
	ra, rb := c.list.Graph.Roles(a.Fn), c.list.Graph.Roles(b.Fn)
	if sa := ra.Single(); sa != nil && sa == rb.Single() {
		return false
	}
	return !a.OwnStarts || slices.ContainsFunc(rb.Goroutines, func(g *callers.Goroutine) bool {
		return slices.Contains(a.Starts, g.Start)
	})
}

// commonLock: a and b hold another lock of one class, which orders them if it
// is the same lock; only the read sides of one order nothing.
func commonLock(a, b *accesses.Access) bool {
	for _, x := range a.Locks.Held() {
		for _, y := range b.Locks.Held() {
			if x.Class != "" && x.Class == y.Class && !(x.Read && y.Read) {
				return true
			}
		}
	}
	return false
}

// mayBeOrdered: b holds a lock that its takers keep beyond their return, so
// that a may run under it too.
func (c *checker) mayBeOrdered(b *accesses.Access) bool {
	return slices.ContainsFunc(b.Locks.Held(), func(h lockset.Held) bool { return c.list.Locks.Outlives(h.Class) })
}

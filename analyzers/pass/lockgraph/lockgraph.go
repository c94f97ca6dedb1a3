// Package lockgraph is the shared pass that lists the lock orders of a package:
// where a lock is waited for while another is held. The check of one package
// and the join over all of them look for cycles in them.
//
// An order does not count in tests and initialisation, where a parameter
// decides whether the lock is taken, where one of the two objects is not
// shared yet, and where a directive says so. Orders within one class count
// where the two are arguments that callers may swap.
//
// Cost: for each wait under locks linear in these: the square of the locks that a function holds at once, and their
// cube with the gates.
package lockgraph

import (
	"go/token"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/crosspkg"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/directives"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// Analyzer lists the lock orders of a package.
var Analyzer = &analysis.Analyzer{
	Name: "interlocklockgraph",
	Doc:  "list where a lock is waited for while another is held",
	Run:  run,
	Requires: []*analysis.Analyzer{ir.Analyzer, callgraph.Analyzer, ownership.Analyzer, lockset.Analyzer,
		directives.Analyzer},
	ResultType: reflect.TypeFor[*Result](),
}

// Result is the lock orders of one package, and where they are in its source.
type Result struct {
	crosspkg.Locks
	places map[finding.Position]token.Pos
}

// Place returns the source position of an order's position.
func (r *Result) Place(p finding.Position) token.Pos { return r.places[p] }

func run(pass *analysis.Pass) (any, error) {
	c := &collector{
		prog:     pass.ResultOf[ir.Analyzer].(*ir.Program),
		graph:    pass.ResultOf[callgraph.Analyzer].(*callgraph.Graph),
		owner:    pass.ResultOf[ownership.Analyzer].(*ownership.Result),
		locks:    pass.ResultOf[lockset.Analyzer].(*lockset.Result),
		comments: pass.ResultOf[directives.Analyzer].(*directives.Set),
		result:   &Result{places: map[finding.Position]token.Pos{}},
	}
	c.prog.Analyse(pass, func() {
		for _, fn := range c.prog.Funcs {
			if !c.prog.InTest(fn) && !c.graph.Roles(fn).OnlyInit() {
				c.function(fn)
			}
		}
		c.findFlows()
		for class := range c.locks.Written() {
			c.result.Written = append(c.result.Written, class)
		}
		slices.Sort(c.result.Written)
	})
	return c.result, nil
}

type collector struct {
	prog     *ir.Program
	graph    *callgraph.Graph
	owner    *ownership.Result
	locks    *lockset.Result
	comments *directives.Set
	result   *Result
}

// function lists the orders of fn, each pair of classes and modes once.
func (c *collector) function(fn *ssa.Function) {
	type key struct {
		from, to         string
		fromRead, toRead bool
	}
	seen := map[key]bool{}
	for _, n := range c.locks.Nestings(fn) {
		for _, h := range n.Held {
			k := key{h.Class, n.To.Class, h.Read, n.To.Read}
			if seen[k] || !c.counts(&n, h) {
				continue
			}
			if c.comments.Ignored(finding.LockCycle, n.Call.Pos()) {
				continue
			}
			seen[k] = true
			c.result.Orders = append(c.result.Orders, c.makeOrder(&n, h))
		}
	}
}

func (c *collector) counts(n *lockset.Nesting, h lockset.Held) bool {
	switch {
	case h.Class == "" || n.To.Class == "" || n.To.Depends:
		return false
	case h.Class == n.To.Class:
		return c.arePeers(n, h)
	}
	return c.shared(c.locks.Receiver(h.Since), h.Path, n.Call) && c.shared(c.locks.Receiver(n.Call), n.To.Path, n.Call)
}

// shared reports whether others surely come to the lock at addr, or at path
// if no address is known. A lock without a path is one that somebody has shared.
func (c *collector) shared(addr ssa.Value, path accesspath.Path, at ssa.Instruction) bool {
	if addr == nil {
		addr = path.Root
	}
	return addr == nil || c.owner.Of(addr, at) == ownership.Shared
}

func (c *collector) makeOrder(n *lockset.Nesting, h lockset.Held) crosspkg.Order {
	fset := c.prog.Fset()
	o := crosspkg.Order{FromRead: h.Read, ToRead: n.To.Read}
	o.From, o.To, o.Function = h.Class, n.To.Class, c.prog.FuncName(n.Fn)
	o.Position = c.position(n.Call)
	o.Via = n.To.Where
	if h.Since != nil {
		since := c.position(h.Since)
		o.Since = &since
	}
	for _, g := range slices.Concat(n.Held, n.Entry, n.Turns) {
		gate := crosspkg.Gate{Class: g.Class, Read: g.Read}
		if g.Class != "" && g.Class != o.From && g.Class != o.To && !slices.Contains(o.Gates, gate) &&
			!slices.Contains(n.To.Freed, g.Class) {
			o.Gates = append(o.Gates, gate)
		}
	}
	if g := c.graph.Roles(n.Fn).Single(); g != nil {
		o.Goroutine = accesses.Position(fset, g.Pos(), g.Pos()).String()
	}
	c.result.places[o.Position], _ = c.spanOfCall(n.Call)
	return o
}

func (c *collector) position(call ssa.Instruction) finding.Position {
	from, to := c.spanOfCall(call)
	return accesses.Position(c.prog.Fset(), from, to)
}

// spanOfCall returns the range of the call that an instruction is, as far as it stands in the line of its parenthesis:
//
//	mu.Lock()
//	^^^^^^^^^
//	slices.ContainsFunc(list, func(x *T) bool {
//	^^^^^^^^^^^^^^^^^^^^
func (c *collector) spanOfCall(call ssa.Instruction) (from, to token.Pos) {
	fset, at := c.prog.Fset(), call.Pos()
	line := func(p token.Pos) int { return fset.PositionFor(p, false).Line }
	from, to = c.prog.Span(at)
	if line(from) != line(at) {
		from = at
	}
	if line(to) != line(at) || to == at {
		to = at + 1
	}
	return from, to
}

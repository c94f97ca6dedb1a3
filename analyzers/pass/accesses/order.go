package accesses

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
)

// beforeStart reports whether a comes before every go statement that leads to
// b: a's function starts those goroutines, itself or by what it calls or starts, and cannot come
// back to a after. That it is not called again for the same object is taken for granted.
func (l *List) beforeStart(a, b *Access) bool {
	r := l.Graph.Roles(b.Fn)
	if !onlyGoroutines(r) {
		return false
	}
	return !slices.ContainsFunc(r.Goroutines, func(g *callgraph.Goroutine) bool { return !l.comesBefore(a, g.Start, 0) })
}

// comesBefore reports whether the function of a comes to call after a only, itself or by what it calls.
//
//	n := p.n // a
//	go func() { p.start() }() // which starts the goroutine
func (l *List) comesBefore(a *Access, call ssa.CallInstruction, depth int) bool {
	in := call.Parent()
	if in == a.Fn {
		return l.Leads(a.Instr, call) && !l.Leads(call, a.Instr)
	}
	sites := l.Graph.Sites(in)
	if depth >= knowledge.CallsToRole || !l.Graph.Closed(in) || len(sites) == 0 {
		return false
	}
	return !slices.ContainsFunc(sites, func(s callgraph.Site) bool { return !l.comesBefore(a, s.Instr, depth+1) })
}

func onlyGoroutines(r *callgraph.Roles) bool {
	return len(r.Goroutines) > 0 && !r.API && !r.Main && !r.Unknown
}

// ownGoroutine reports whether a and b are made by goroutines that each have
// an object of their own, which they hand on as a parameter from call to call:
// the same start statements lead to both, one in a function, none in a loop
// unless each goroutine waits for its turn.
func (l *List) ownGoroutine(a, b *Access) bool {
	ra, rb := l.Graph.Roles(a.Fn), l.Graph.Roles(b.Fn)
	if !onlyGoroutines(ra) || !onlyGoroutines(rb) || !slices.Equal(ra.Goroutines, rb.Goroutines) {
		return false
	}
	starters := map[*ssa.Function]bool{}
	for _, g := range ra.Goroutines {
		if g.Many && !g.InTurn() || starters[g.Start.Parent()] {
			return false
		}
		starters[g.Start.Parent()] = true
	}
	return l.handedDown(a.Fn, holder(a.Addr)) && l.handedDown(b.Fn, holder(b.Addr))
}

// holder returns the root of the object that addr lies in; nil if that was
// reached through another object.
func holder(addr ssa.Value) ssa.Value {
	for {
		fa, ok := addr.(*ssa.FieldAddr)
		if !ok {
			break
		}
		addr = fa.X
	}
	if p := accesspath.Of(addr); p.Fields == "" {
		return p.Root
	}
	return nil
}

// handedDown reports whether root, a parameter of fn, is what the goroutine
// that runs fn was started with, on every way there.
func (l *List) handedDown(fn *ssa.Function, root ssa.Value) bool {
	return l.handed(fn, root, map[handing]bool{})
}

// handing is a function and what it has the object by.
type handing struct {
	fn   *ssa.Function
	root ssa.Value
}

// handed is handedDown without the paths that are in seen: those were asked
// about already, and the answer is that of all.
func (l *List) handed(fn *ssa.Function, root ssa.Value, seen map[handing]bool) bool {
	if seen[handing{fn, root}] {
		return true
	}
	seen[handing{fn, root}] = true
	p, ok := root.(*ssa.Parameter)
	if !ok {
		return root != nil && l.started(fn) // captured by the goroutine's own function
	}
	if p.Parent() != fn {
		return l.started(fn)
	}
	i := slices.Index(fn.Params, p)
	for _, s := range l.Graph.Sites(fn) {
		if s.Mode == callgraph.Go {
			continue
		}
		if i >= len(s.Args) {
			return false
		}
		arg := accesspath.Of(s.Args[i])
		if arg.Fields != "" || !l.handed(s.Caller, arg.Root, seen) {
			return false
		}
	}
	return true
}

// started reports whether go statements alone run the literal fn, with what it captures.
func (l *List) started(fn *ssa.Function) bool {
	sites := l.Graph.Sites(fn)
	return fn.Parent() != nil && len(sites) > 0 &&
		!slices.ContainsFunc(sites, func(s callgraph.Site) bool { return s.Mode != callgraph.Go })
}

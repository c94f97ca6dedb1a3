package lockgraph

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// arePeers reports whether the held lock and the one waited for lie alike in two
// parameters of an exported function, so that another call may have them the
// other way round. Not if the function links the two, which makes one the
// parent, nor if it compares them to decide on an order.
func (c *collector) arePeers(n *lockset.Nesting, h lockset.Held) bool {
	p, q := parameter(h.Path.Root), parameter(n.To.Path.Root)
	return p != nil && q != nil && p != q && h.Path.Fields == n.To.Path.Fields &&
		p.Parent() == n.Fn && q.Parent() == n.Fn && c.graph.Open(n.Fn) &&
		!linked(n.Fn, p, q) && !c.ordered(n, h, p, q)
}

// parameter returns the parameter that v is, or is by way of a type assertion.
func parameter(v ssa.Value) *ssa.Parameter {
	if x, ok := v.(*ssa.Extract); ok {
		if a, ok := x.Tuple.(*ssa.TypeAssert); ok && x.Index == 0 {
			v = accesspath.Of(a.X).Root
		}
	}
	p, _ := v.(*ssa.Parameter)
	return p
}

// linked reports whether fn stores one of the two in memory.
func linked(fn *ssa.Function, p, q *ssa.Parameter) bool {
	for instr := range ir.Instructions(fn) {
		var stored ssa.Value
		switch instr := instr.(type) {
		case *ssa.Store:
			if _, isLocal := instr.Addr.(*ssa.Alloc); !isLocal {
				stored = instr.Val
			}
		case *ssa.MapUpdate:
			stored = instr.Value
		}
		if stored == nil {
			continue
		}
		if path := accesspath.Of(stored); path.Fields == "" && (parameter(path.Root) == p || parameter(path.Root) == q) {
			return true
		}
	}
	return false
}

// ordered reports whether fn decides in which order it locks: it compares the
// two by size before it locks, or takes them the other way round elsewhere.
func (c *collector) ordered(n *lockset.Nesting, h lockset.Held, p, q *ssa.Parameter) bool {
	for _, m := range c.locks.Nestings(n.Fn) {
		for _, g := range m.Held {
			if parameter(g.Path.Root) == q && parameter(m.To.Path.Root) == p {
				return true
			}
		}
	}
	for instr := range ir.Instructions(n.Fn) {
		cmp, ok := instr.(*ssa.BinOp)
		if !ok || !before(cmp, h.Since) {
			continue
		}
		switch cmp.Op {
		case token.LSS, token.LEQ, token.GTR, token.GEQ:
			straight := isComputedFrom(cmp.X, p, 8) && isComputedFrom(cmp.Y, q, 8)
			if straight || isComputedFrom(cmp.X, q, 8) && isComputedFrom(cmp.Y, p, 8) {
				return true
			}
		}
	}
	return false
}

// before reports whether a runs before b whenever b does.
func before(a, b ssa.Instruction) bool {
	if b == nil || a.Block() != b.Block() {
		return b != nil && a.Block().Dominates(b.Block())
	}
	instrs := a.Block().Instrs
	return slices.Index(instrs, a) < slices.Index(instrs, b)
}

// isComputedFrom reports whether v is computed from p, in at most depth steps.
func isComputedFrom(v ssa.Value, p *ssa.Parameter, depth int) bool {
	if parameter(v) == p {
		return true
	}
	instr, ok := v.(ssa.Instruction)
	if !ok || depth == 0 {
		return false
	}
	for _, op := range instr.Operands(nil) {
		if *op != nil && isComputedFrom(*op, p, depth-1) {
			return true
		}
	}
	return false
}

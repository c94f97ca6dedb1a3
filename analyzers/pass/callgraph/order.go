package callgraph

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// CalleesFirst lists the functions of the package, each after those that it
// calls or starts, except where they call each other. A fixed point over results
// that callees hand to callers is found in few rounds in this order; one over
// arguments that callers hand to callees in that of [Graph.CallersFirst].
func (g *Graph) CalleesFirst() []*ssa.Function { return g.bottom }

// CallersFirst is the reverse of CalleesFirst.
func (g *Graph) CallersFirst() []*ssa.Function {
	top := slices.Clone(g.bottom)
	slices.Reverse(top)
	return top
}

func (g *Graph) calleesFirst() []*ssa.Function {
	callees := map[*ssa.Function][]*ssa.Function{}
	for _, f := range g.prog.Funcs {
		for _, s := range g.sites[f] {
			callees[s.Caller] = append(callees[s.Caller], f)
		}
	}
	var order []*ssa.Function
	seen := map[*ssa.Function]bool{}
	var visit func(f *ssa.Function)
	visit = func(f *ssa.Function) {
		if seen[f] {
			return
		}
		seen[f] = true
		for _, callee := range callees[f] {
			visit(callee)
		}
		order = append(order, f)
	}
	for _, f := range g.prog.Funcs {
		visit(f)
	}
	return order
}

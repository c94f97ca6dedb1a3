package evalorder

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
)

// Settle decides which nodes of the tree must be evaluated before their statement, and
// reports whether there are any. Where that cannot be done (never, unless may is set), the
// accesses that need it stay unmonitored.
func (o *Orderer) Settle(tree *Node, may bool) bool {
	demanding := demands(tree, may)
	if len(demanding) == 0 && !tree.any(func(n *Node) bool { return n.Required }) {
		return false
	}
	tree.spread()
	if reason := o.unfit(tree); reason != "" {
		for _, h := range demanding {
			h.Unmonitored = reason
		}
		tree.walk(func(n *Node) { n.Required, n.Spilled = false, false })
		return false
	}
	return true
}

// demands marks the expressions that must move, and returns the accesses that need that.
func demands(tree *Node, may bool) []*Hook {
	var demanding []*Hook
	tree.walk(func(n *Node) {
		for _, h := range n.Hooks {
			movers := h.blockers()
			switch {
			case h.Unmonitored != "", len(movers) == 0:
			case !may || n.within(entry):
				h.Unmonitored = source.Conditional
			default:
				demanding = append(demanding, h)
				for _, m := range movers {
					m.require()
				}
			}
		}
	})
	return demanding
}

// blockers returns the nodes that must not be evaluated between the monitor's
// call and the access.
func (h *Hook) blockers() []*Node {
	list := h.needs
	for n, after := h.in, h.after; ; {
		for _, k := range n.Kids[after:] {
			list = k.blockers(list)
		}
		if n.Kind != maybe {
			return list
		}
		// If n is not hoisted, the access is made only when its parent is evaluated.
		up := n.up
		for after = 0; up.Kids[after] != n; after++ {
		}
		n, after = up, after+1
	}
}

// require marks n, and the conditional expressions that have it in their
// right operand: they become if statements.
func (n *Node) require() {
	n.Required = true
	for ; n.up != nil; n = n.up {
		if n.Kind == cond {
			n.up.Required = true
		}
	}
}

// within reports whether n or a node around it is of kind k.
func (n *Node) within(k Kind) bool {
	for ; n != nil; n = n.up {
		if n.Kind == k {
			return true
		}
	}
	return false
}

// spread marks the expressions that go to temporaries: the required ones, and those
// that gc evaluates before them. It reports whether there is any below n.
func (n *Node) spread() bool {
	last := -1
	for i, k := range n.Kids {
		if k.spread() || k.Required {
			last = i
		}
	}
	for i, k := range n.Kids[:last+1] {
		k.Spilled = k.Required || i < last && k.Kind != left && k.Kind != cond
	}
	return last >= 0
}

// unfit returns the reason why the marked nodes cannot move, or "".
func (o *Orderer) unfit(tree *Node) plan.Reason {
	reason := plan.Reason("")
	tree.walk(func(n *Node) {
		switch {
		case !n.Spilled:
		case n.Kind == maybe, n.within(entry):
			reason = source.Order
		default:
			for i, e := range n.Exprs {
				if o.Keeps(n, i) {
					continue
				}
				if _, ok := o.ConversionOf(e); !ok {
					reason = source.NoName
				}
			}
		}
	})
	return reason
}

// Keeps reports whether the i-th right-hand side of n stays where it is: constants
// have the type of their target only there.
func (o *Orderer) Keeps(n *Node, i int) bool {
	if n.Kind != Values || n.Declared != nil && n.Declared[i] {
		return false
	}
	e := ast.Unparen(n.Exprs[i])
	tv := o.Info.Types[e]
	if tv.Value != nil || tv.IsNil() {
		return true
	}
	if n.Declared != nil {
		return false
	}
	switch e := e.(type) {
	case *ast.FuncLit:
		return true
	case *ast.Ident:
		_, ok := o.Info.Uses[e].(*types.Func)
		return ok
	case *ast.SelectorExpr:
		_, ok := o.Info.Uses[e.Sel].(*types.Func)
		return ok && o.Info.Selections[e] == nil
	}
	return false
}

// AnySpilled reports whether anything below n, or n, goes to temporaries.
func (n *Node) AnySpilled() bool { return n.any(func(k *Node) bool { return k.Spilled }) }

// any reports whether n or a node below it is one.
func (n *Node) any(is func(*Node) bool) bool {
	found := false
	n.walk(func(k *Node) { found = found || is(k) })
	return found
}

// Monitored reports whether an access of the tree still is to be monitored.
func (n *Node) Monitored() bool {
	return n.any(func(k *Node) bool {
		return slices.ContainsFunc(k.Hooks, func(h *Hook) bool { return h.Unmonitored == "" })
	})
}

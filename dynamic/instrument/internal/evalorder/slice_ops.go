package evalorder

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strconv"

	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
)

// Accesses to elements in bulk, of which the monitor must know how many:
// copy accesses as many as the shorter operand has, append writes those that
// it appends. Before the monitor asks for the length of an operand, that must have
// been evaluated, and so must all that may panic: nothing is accessed then.

// extent is how many elements a bulk access comes to: a number, or the length
// of an expression, which is in a temporary if it has a node.
type extent struct {
	number string
	of     ast.Expr
	node   *Node
}

// PartOf returns how many elements the access a comes to, as an expression of type int,
// if that is a part of them.
func (o *Orderer) PartOf(a *source.Access) string {
	x := o.extents[a]
	if x.number != "" {
		return x.number
	}
	name := string(o.Src[o.Offset(x.of.Pos()):o.Offset(x.of.End())])
	if x.node != nil {
		name = x.node.Temps[0]
	}
	if o.Means("len", types.Universe.Lookup("len"), x.of.Pos()) || !source.IsSlice(o.Info.TypeOf(x.of)) {
		return "len(" + name + ")"
	}
	return o.Prefix + "rt.Len(" + name + ")"
}

// limit has the access a come to x.
func (o *Orderer) limit(a *source.Access, x *extent) {
	o.extents[a], a.Partly = x, true
}

// bound limits the access behind e, if there is one, to as many elements as other has. Both are operands of n.
func (o *Orderer) bound(e, other ast.Expr, n *Node) {
	a := o.Behind[ast.Unparen(e)]
	if a == nil {
		return
	}
	x := o.lengthOf(other, n)
	o.limit(a, x)
	if source.IsString(o.Info.TypeOf(other)) && !o.Means("len", types.Universe.Lookup("len"), e.Pos()) {
		a.Unmonitored = source.NoName
	} else if x.node != nil {
		n.Needs(a, x.node)
	}
}

func (o *Orderer) lengthOf(e ast.Expr, n *Node) *extent {
	tv := o.Info.Types[e]
	switch {
	case tv.IsNil():
		return &extent{number: "0"}
	case tv.Value != nil:
		return &extent{number: strconv.Itoa(len(constant.StringVal(tv.Value)))}
	case o.isBareName(e):
		return &extent{of: e}
	}
	return &extent{of: e, node: n.operand(e)}
}

// isBareName reports whether e is a name, and no access; nothing can happen to
// it while its statement runs.
func (o *Orderer) isBareName(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && o.Places[id] == nil
}

// operand returns the node of n's operand e. If e is not hoisted, the node comes
// after all that is.
func (n *Node) operand(e ast.Expr) *Node {
	for _, k := range n.Kids {
		if len(k.Exprs) == 1 && ast.Unparen(k.Exprs[0]) == ast.Unparen(e) {
			return k
		}
	}
	return n.Kid(Copied, e)
}

// appending notes how much e, a call of append, writes behind the end of its first
// operand.
func (o *Orderer) appending(e *ast.CallExpr, n *Node) {
	a := o.Behind[ast.Unparen(e.Args[0])]
	switch {
	case a == nil:
		return
	case e.Ellipsis.IsValid():
		o.bound(e.Args[0], e.Args[1], n)
		return
	}
	o.limit(a, &extent{number: strconv.Itoa(len(e.Args) - 1)})
	for _, arg := range e.Args[1:] {
		if MayPanic(o.Info, arg) {
			n.Needs(a, n.operand(arg))
		}
	}
}

// toArray returns how many elements the conversion e of a slice to an array reads.
func (o *Orderer) toArray(e *ast.CallExpr) {
	array, ok := source.Under(o.Info.TypeOf(e)).(*types.Array)
	if a := o.Behind[ast.Unparen(e.Args[0])]; ok && a != nil {
		o.limit(a, &extent{number: strconv.FormatInt(array.Len(), 10)})
	}
}

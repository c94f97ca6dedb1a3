package instrument

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strconv"
)

// Accesses to elements in bulk, of which the monitor must know how many:
// copy accesses as many as the shorter operand has, append writes those that
// it appends. An operand whose length is asked for must have been evaluated,
// and so must be whatever may panic: nothing is accessed then.

// extent is how many elements a bulk access comes to: a number, or the length
// of an expression, which is in a temporary if it has a node.
type extent struct {
	number string
	of     ast.Expr
	node   *node
}

// text of x as an expression of type int.
func (x *extent) text(r *rewriter) string {
	if x.number != "" {
		return x.number
	}
	name := string(r.src[r.offset(x.of.Pos()):r.offset(x.of.End())])
	if x.node != nil {
		name = x.node.temps[0]
	}
	if r.means("len", types.Universe.Lookup("len"), x.of.Pos()) || !isSlice(r.info.TypeOf(x.of)) {
		return "len(" + name + ")"
	}
	return r.prefix + "rt.Len(" + name + ")"
}

// bound says of the access behind e, if there is one, that it comes to no more
// elements than other has. Both are operands of n.
func (o *orderer) bound(e, other ast.Expr, n *node) {
	a := o.behind[ast.Unparen(e)]
	if a == nil {
		return
	}
	a.extent = o.lengthOf(other, n)
	if isString(o.info.TypeOf(other)) && !o.means("len", types.Universe.Lookup("len"), e.Pos()) {
		a.left = NoName
	} else if a.extent.node != nil {
		n.needs(a, a.extent.node)
	}
}

func (o *orderer) lengthOf(e ast.Expr, n *node) *extent {
	tv := o.info.Types[e]
	switch {
	case tv.IsNil():
		return &extent{number: "0"}
	case tv.Value != nil:
		return &extent{number: strconv.Itoa(len(constant.StringVal(tv.Value)))}
	case o.bareName(e):
		return &extent{of: e}
	}
	return &extent{of: e, node: n.operand(e)}
}

// bareName reports whether e is a name, and no access; nothing can happen to
// it while its statement runs.
func (o *orderer) bareName(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && o.places[id] == nil
}

// operand returns the node of n's operand e. If e is not hoisted, the node comes
// after all that is.
func (n *node) operand(e ast.Expr) *node {
	for _, k := range n.kids {
		if len(k.exprs) == 1 && ast.Unparen(k.exprs[0]) == ast.Unparen(e) {
			return k
		}
	}
	return n.kid(copied, e)
}

// appending says what e, a call of append, writes behind the end of its first
// operand.
func (o *orderer) appending(e *ast.CallExpr, n *node) {
	a := o.behind[ast.Unparen(e.Args[0])]
	switch {
	case a == nil:
		return
	case e.Ellipsis.IsValid():
		o.bound(e.Args[0], e.Args[1], n)
		return
	}
	a.extent = &extent{number: strconv.Itoa(len(e.Args) - 1)}
	for _, arg := range e.Args[1:] {
		if mayPanic(o.info, arg) {
			n.needs(a, n.operand(arg))
		}
	}
}

// toArray returns how many elements the conversion e of a slice to an array reads.
func (o *orderer) toArray(e *ast.CallExpr) {
	array, ok := under(o.info.TypeOf(e)).(*types.Array)
	if a := o.behind[ast.Unparen(e.Args[0])]; ok && a != nil {
		a.extent = &extent{number: strconv.FormatInt(array.Len(), 10)}
	}
}

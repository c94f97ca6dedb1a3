package instrument

import (
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/atomicsets/sites"
)

func (o *orderer) call(e *ast.CallExpr, n *node) {
	if o.info.Types[e.Fun].IsType() {
		o.expr(e.Args[0], o.conversion(e, n))
		o.toArray(e)
		return
	}
	if b := sites.Builtin(o.info, e.Fun); b != "" {
		o.builtin(b, e, n)
		return
	}
	c := n.kid(call, e)
	o.callee(e.Fun, c)
	sig, _ := under(o.info.TypeOf(e.Fun)).(*types.Signature)
	for i, arg := range e.Args {
		o.converted(arg, paramType(sig, i, e.Ellipsis.IsValid()), c)
	}
}

// callee adds the function part of a call. If it calls itself, it is copied
// before the arguments (RewriteNonNameCall).
func (o *orderer) callee(fun ast.Expr, c *node) {
	operand := fun
	if s, ok := ast.Unparen(fun).(*ast.SelectorExpr); ok {
		if sel := o.info.Selections[s]; sel != nil && sel.Kind() == types.MethodVal {
			operand = s.X
			if !types.IsInterface(sel.Recv()) {
				o.expr(operand, c)
				return
			}
		}
	}
	probe := &node{kind: root}
	o.expr(operand, probe)
	if probe.hasCallOrChan() {
		c = c.kid(copied, operand)
	}
	o.expr(operand, c)
}

// hasCallOrChan is callOrChan for a tree: builtins count.
func (n *node) hasCallOrChan() bool {
	found := false
	n.walk(func(k *node) {
		found = found || k.kind == call || k.kind == quiet && isCall(k.exprs[0])
	})
	return found
}

// conversion returns the node that holds the operand of the conversion e.
func (o *orderer) conversion(e *ast.CallExpr, n *node) *node {
	to, from := o.info.TypeOf(e.Fun), o.info.TypeOf(e.Args[0])
	if isTypeParam(to) || isTypeParam(from) {
		return n.kid(maybe, e)
	}
	switch {
	case isSlice(to) && isString(from): // OSTR2BYTES, OSTR2RUNES
		return n.kid(quiet, e)
	case types.IsInterface(to) && o.copiedForInterface(e.Args[0]):
		return n.kid(copied, e.Args[0])
	}
	return n
}

// builtin adds a call of a builtin function. Those that are statements, and
// those of package unsafe, are evaluated where they stand.
func (o *orderer) builtin(name string, e *ast.CallExpr, n *node) {
	switch name {
	case "Sizeof", "Offsetof", "Alignof":
		return
	case "append", "cap", "complex", "copy", "imag", "len", "make", "max", "min", "new", "real", "recover":
		n = n.kid(quiet, e)
	}
	elem := appended(o.info, name, e)
	for i, arg := range e.Args {
		if i > 0 {
			o.converted(arg, elem, n)
		} else {
			o.expr(arg, n)
		}
	}
	switch {
	case len(e.Args) < 2: // of copy and append
	case name == "copy":
		o.bound(e.Args[0], e.Args[1], n)
		o.bound(e.Args[1], e.Args[0], n)
	case name == "append":
		o.appending(e, n)
	}
}

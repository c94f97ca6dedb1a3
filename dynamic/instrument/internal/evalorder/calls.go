package evalorder

import (
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
)

func (o *Orderer) call(e *ast.CallExpr, n *Node) {
	if o.Info.Types[e.Fun].IsType() {
		o.Expr(e.Args[0], o.conversion(e, n))
		o.toArray(e)
		return
	}
	if b := sites.Builtin(o.Info, e.Fun); b != "" {
		o.builtin(b, e, n)
		return
	}
	c := n.Kid(call, e)
	o.callee(e.Fun, c)
	sig, _ := source.Under(o.Info.TypeOf(e.Fun)).(*types.Signature)
	for i, arg := range e.Args {
		o.Converted(arg, paramType(sig, i, e.Ellipsis.IsValid()), c)
	}
}

// callee adds the function part of a call. If it calls itself, it is copied
// before the arguments (RewriteNonNameCall).
func (o *Orderer) callee(fun ast.Expr, c *Node) {
	operand := fun
	if s, ok := ast.Unparen(fun).(*ast.SelectorExpr); ok {
		if sel := o.Info.Selections[s]; sel != nil && sel.Kind() == types.MethodVal {
			operand = s.X
			if !types.IsInterface(sel.Recv()) {
				o.Expr(operand, c)
				return
			}
		}
	}
	probe := &Node{Kind: Root}
	o.Expr(operand, probe)
	if probe.hasCallOrChan() {
		c = c.Kid(Copied, operand)
	}
	o.Expr(operand, c)
}

// hasCallOrChan is callOrChan for a tree: builtins count.
func (n *Node) hasCallOrChan() bool {
	found := false
	n.walk(func(k *Node) {
		found = found || k.Kind == call || k.Kind == quiet && source.IsCall(k.Exprs[0])
	})
	return found
}

// conversion returns the node that holds the operand of the conversion e.
func (o *Orderer) conversion(e *ast.CallExpr, n *Node) *Node {
	to, from := o.Info.TypeOf(e.Fun), o.Info.TypeOf(e.Args[0])
	if source.IsTypeParam(to) || source.IsTypeParam(from) {
		return n.Kid(maybe, e)
	}
	switch {
	case source.IsSlice(to) && source.IsString(from): // OSTR2BYTES, OSTR2RUNES
		return n.Kid(quiet, e)
	case types.IsInterface(to) && o.copiedForInterface(e.Args[0]):
		return n.Kid(Copied, e.Args[0])
	}
	return n
}

// builtin adds a call of a builtin function. Those that are statements, and
// those of package unsafe, are evaluated where they stand.
func (o *Orderer) builtin(name string, e *ast.CallExpr, n *Node) {
	switch name {
	case "Sizeof", "Offsetof", "Alignof":
		return
	case "append", "cap", "complex", "copy", "imag", "len", "make", "max", "min", "new", "real", "recover":
		n = n.Kid(quiet, e)
	}
	elem := appended(o.Info, name, e)
	for i, arg := range e.Args {
		if i > 0 {
			o.Converted(arg, elem, n)
		} else {
			o.Expr(arg, n)
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

package source

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
)

// isRacedWithin reports whether the findings are on the object that t refers to, and not on t itself: a run has shown a
// write where the source does no more than call a function with it. The object has no lock, so it belongs to t: a
// bytes.Buffer, a list.List, or a connection of another module.
//
//	func (c *cache) Add(v any) { c.order.PushFront(v) }	// write
//	func (c *cache) Len() int { return c.order.Len() }	// read
func (m *Module) isRacedWithin(t *Variable, group []*finding.Finding, found []named) bool {
	switch t.Object.Type().Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Struct:
	default:
		return false
	}
	writes := false
	for _, f := range group {
		for _, a := range f.Accesses {
			writes = writes || a.Mode == finding.Write
		}
	}
	for _, x := range found {
		a := x.file.newAccess(x.expr)
		if a.lookWithin(); a.Call == nil {
			return false
		}
	}
	return writes
}

// lookWithin makes an access one of the object that the variable refers to, where it is one: a call with it, or an
// access of a field behind it. Else it stays one of the variable, which hands the object on where it is neither set
// nor compared.
func (a *Access) lookWithin() {
	file := a.File
	var e ast.Node = a.Expr
	a.Mode, a.Element, a.Whole, a.Call = Read, false, a.Expr, nil
	for {
		switch p := file.Parents[e].(type) {
		case *ast.ParenExpr, *ast.StarExpr:
			e = p
			continue
		// f(&x.buf)
		case *ast.UnaryExpr:
			if _, lent := file.Parents[p].(*ast.CallExpr); lent {
				e = p
				continue
			}
		// x.f.g, or the call x.f.M()
		case *ast.SelectorExpr:
			sel := file.Package.Info.Selections[p]
			if sel != nil && sel.Kind() == types.FieldVal {
				a.Whole, e = p, p
				continue
			}
			if call, ok := file.Parents[p].(*ast.CallExpr); ok && call.Fun == ast.Expr(p) {
				a.Mode, a.Whole, a.Call = file.modeOfMethod(call), call, call
				return
			}
		// f(x.f)
		case *ast.CallExpr:
			if p.Fun != e {
				a.Mode, a.Whole, a.Call = file.modeOfLending(p), p, p
				return
			}
		}
		a.Mode = a.modeIn(e, file.Parents[e])
		if a.Mode == Read && a.Whole == a.Expr && !IsComparison(file.Parents[e]) {
			a.Mode = Alias
		}
		return
	}
}

// promoted lists the calls of methods that a struct has since it embeds the variable: x.M() for x.T.M().
func (file *File) promoted(t *Variable) (list []*Access) {
	ast.Inspect(file.Syntax, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || file.embedded(sel) == nil || ObjectKey(file.Module, file.embedded(sel)) != t.Key {
			return true
		}
		a := &Access{File: file, Function: file.FunctionOf(sel), Expr: sel.X, Base: sel.X, Whole: sel, Promoted: true,
			Mode: Alias}
		if call, ok := file.Parents[sel].(*ast.CallExpr); ok && call.Fun == ast.Expr(sel) {
			a.Mode, a.Whole, a.Call = file.modeOfMethod(call), call, call
		}
		list = append(list, a)
		return true
	})
	return list
}

// embedded returns the field through which a struct has the method or field of a selection; nil if it has it itself, or
// through several fields.
func (file *File) embedded(e *ast.SelectorExpr) *types.Var {
	sel := file.Package.Info.Selections[e]
	if sel == nil || len(sel.Index()) != 2 {
		return nil
	}
	st, ok := StructOf(sel.Recv())
	if !ok {
		return nil
	}
	return st.Field(sel.Index()[0])
}

// modeOfMethod returns what a method may do to its object.
func (file *File) modeOfMethod(call *ast.CallExpr) Mode {
	if callee := file.Callee(call); callee != nil {
		if callee.paramEffect(0) == paramRead {
			return Read
		}
		return Update
	}
	if fn := typeutil.StaticCallee(file.Package.Info, call); fn != nil && fn.Pkg() != nil {
		if writes, known := callgraph.LibraryWrites(fn, 0); known && !writes {
			return Read
		}
	}
	return Update
}

// CallsUnknown reports whether an access calls a method of the object of which nobody knows whether it writes.
func (a *Access) CallsUnknown() bool {
	if a.Call == nil || a.File.Callee(a.Call) != nil {
		return false
	}
	sel, ok := ast.Unparen(a.Call.Fun).(*ast.SelectorExpr)
	fn := typeutil.StaticCallee(a.File.Package.Info, a.Call)
	if !ok || fn == nil || ast.Unparen(sel.X) != ast.Unparen(a.Expr) {
		return false
	}
	_, known := callgraph.LibraryWrites(fn, 0)
	return !known
}

// modeOfLending returns what a function may do to an object that it is handed: one whose results can refer to nothing
// has no use for it afterwards.
func (file *File) modeOfLending(call *ast.CallExpr) Mode {
	tv := file.Package.Info.Types[call.Fun]
	sig, ok := tv.Type.Underlying().(*types.Signature)
	if !ok || tv.IsType() {
		return Alias
	}
	for r := range sig.Results().Variables() {
		_, isBasic := r.Type().Underlying().(*types.Basic)
		if isError := types.Identical(r.Type(), types.Universe.Lookup("error").Type()); !isBasic && !isError {
			return Alias
		}
	}
	return Update
}

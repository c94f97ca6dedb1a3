package sites

import (
	"go/ast"
	"go/token"
	"go/types"
)

// The elements of a slice are shared memory, unless the slice is a local variable that is only ever made in its
// function and that no other function can hold before this one returns: every value that it takes is fresh, and
// every use but in a return hands nothing on. sliceUses notes both: a use that a parent node finds harmless is
// in ok, anything else makes the local held.

// sliceUses is the part of [localFinder] that is about slices.
type sliceUses struct {
	ok map[*ast.Ident]bool // uses and declarations that hand nothing on
}

// noteBefore looks at n before its operands are visited.
func (lf *localFinder) noteBefore(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if len(n.Lhs) == len(n.Rhs) && (n.Tok == token.ASSIGN || n.Tok == token.DEFINE) {
			for i, lhs := range n.Lhs {
				lf.noteValue(lhs, n.Rhs[i])
			}
		}
	case *ast.ValueSpec:
		for i, id := range n.Names {
			if len(n.Values) == 0 {
				lf.slices.ok[id] = true
			} else if len(n.Values) == len(n.Names) {
				lf.noteValue(id, n.Values[i])
			}
		}
	case *ast.FuncType:
		if n.Results != nil {
			for _, f := range n.Results.List {
				lf.harmlessNames(f.Names)
			}
		}
	case *ast.IndexExpr:
		lf.harmless(n.X)
	case *ast.RangeStmt:
		lf.harmless(n.X)
	case *ast.ReturnStmt:
		lf.harmless(n.Results...)
	case *ast.BinaryExpr: // with nil
		lf.harmless(n.X, n.Y)
	case *ast.CallExpr:
		lf.noteCall(n)
	}
}

// noteCall finds the arguments of builtins and of conversions that copy harmless.
func (lf *localFinder) noteCall(e *ast.CallExpr) {
	switch Builtin(lf.info, e.Fun) {
	case "len", "cap", "clear":
		lf.harmless(e.Args...)
	case "copy":
		for _, arg := range e.Args {
			lf.harmless(lf.sliced(arg))
		}
	case "append":
		if e.Ellipsis.IsValid() {
			lf.harmless(lf.sliced(e.Args[1]))
		}
	}
	if len(e.Args) == 1 && lf.info.Types[e.Fun].IsType() && !isSlice(lf.info.TypeOf(e)) {
		lf.harmless(e.Args[0]) // string, array
	}
}

// sliced returns the slice that e is, or is a slice of.
func (lf *localFinder) sliced(e ast.Expr) ast.Expr {
	if s, ok := ast.Unparen(e).(*ast.SliceExpr); ok && isSlice(lf.info.TypeOf(s.X)) {
		return s.X
	}
	return e
}

// noteValue finds the assignment of value to lhs harmless if value is fresh:
// made here, or made of the variable itself.
func (lf *localFinder) noteValue(lhs, value ast.Expr) {
	id, ok := ast.Unparen(lhs).(*ast.Ident)
	if !ok || !isSlice(lf.info.TypeOf(id)) {
		return
	}
	if self, ok := isNewSlice(lf.info, value, lf.info.ObjectOf(id)); ok {
		lf.slices.ok[id] = true
		if self != nil {
			lf.slices.ok[self] = true
		}
	}
}

// isNewSlice reports whether value is a new slice, or self a use of v of which it
// is made.
func isNewSlice(info *types.Info, value ast.Expr, v types.Object) (self *ast.Ident, ok bool) {
	if tv := info.Types[value]; tv.IsNil() {
		return nil, true
	}
	switch e := ast.Unparen(value).(type) {
	case *ast.Ident:
		return e, info.Uses[e] == v
	case *ast.CompositeLit:
		return nil, true
	case *ast.SliceExpr:
		if isSlice(info.TypeOf(e.X)) {
			return isNewSlice(info, e.X, v)
		}
	case *ast.CallExpr:
		switch b := Builtin(info, e.Fun); {
		case b == "make":
			return nil, true
		case b == "append":
			return isNewSlice(info, e.Args[0], v)
		case b == "" && info.Types[e.Fun].IsType():
			if isSlice(info.TypeOf(e.Args[0])) {
				return isNewSlice(info, e.Args[0], v)
			}
			return nil, true // of a string, or nil
		}
	}
	return nil, false
}

func (lf *localFinder) harmless(list ...ast.Expr) {
	for _, e := range list {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok {
			lf.slices.ok[id] = true
		}
	}
}

func (lf *localFinder) harmlessNames(list []*ast.Ident) {
	for _, id := range list {
		lf.slices.ok[id] = true
	}
}

// markHeld notes that somebody else may hold the elements of id's slice.
func (lf *localFinder) markHeld(id *ast.Ident) {
	v, ok := lf.info.ObjectOf(id).(*types.Var)
	if !ok || !isSlice(v.Type()) {
		return
	}
	l, harmless := lf.localOf(v), lf.slices.ok[id]
	switch {
	case l == nil:
	case !harmless:
		l.held = true
	case lf.info.Defs[id] != nil:
		l.made = true
	}
}

// sliceRoot returns the local slice that has the place e in one of its elements, or nil.
func (lf *localFinder) sliceRoot(e ast.Expr) *local {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return lf.sliceRoot(e.X)
	case *ast.SelectorExpr:
		if sel := lf.info.Selections[e]; sel != nil && sel.Kind() == types.FieldVal && !sel.Indirect() {
			return lf.sliceRoot(e.X)
		}
	case *ast.IndexExpr:
		if id, ok := ast.Unparen(e.X).(*ast.Ident); ok {
			v, _ := lf.info.Uses[id].(*types.Var)
			return lf.localOf(v)
		}
		return lf.sliceRoot(e.X)
	}
	return nil
}

// ownSlice reports whether nobody but the function can reach the elements of
// the slice e.
func (w *walker) ownSlice(e ast.Expr) bool {
	if !isSlice(w.info.TypeOf(e)) {
		return false
	}
	e = ast.Unparen(e)
	if s, ok := e.(*ast.SliceExpr); ok && isSlice(w.info.TypeOf(s.X)) {
		return w.ownSlice(s.X)
	}
	id, ok := e.(*ast.Ident)
	if !ok {
		_, ok := isNewSlice(w.info, e, nil)
		return ok
	}
	v, ok := w.info.Uses[id].(*types.Var)
	if !ok || isGlobal(v) {
		return false
	}
	l := w.locals[v]
	return l != nil && l.made && !l.held && !l.captured && !l.addressed
}

func isSlice(t types.Type) bool {
	_, ok := underlying(t).(*types.Slice)
	return ok
}

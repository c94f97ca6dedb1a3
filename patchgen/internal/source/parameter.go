package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// effect is what a function does with what a parameter refers to.
type effect int

const (
	paramKept    effect = iota // stored, passed on or captured
	paramRead                  // only read
	paramWritten               // read and written, not kept
)

// modeInCallee returns the mode of a variable passed on to call: that of what the
// callee does with it, if the callee is known and keeps nothing; else dflt.
func (a *Access) modeInCallee(call *ast.CallExpr, arg ast.Expr, dflt Mode) Mode {
	callee := a.File.Callee(call)
	if callee == nil {
		return dflt
	}
	args := callee.Arguments(call)
	i := slices.Index(args, arg)
	if i < 0 {
		return dflt
	}
	switch callee.paramEffect(i) {
	case paramRead:
		a.Call, a.Whole = call, call
		return Read
	case paramWritten:
		a.Call, a.Whole = call, call
		return Update
	}
	return dflt
}

// paramEffect looks at every use of the i-th parameter (receiver first) of f. A
// parameter may only be selected from, indexed, ranged over or measured.
func (f *Function) paramEffect(i int) effect {
	params := f.Params()
	if i >= len(params) || params[i] == nil {
		return paramRead
	}
	file, effect := f.File, paramRead
	ast.Inspect(f.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || file.Package.Info.Uses[id] != params[i] || effect == paramKept {
			return true
		}
		if file.FunctionOf(id) != f {
			effect = paramKept
			return true
		}
		if use := file.effectAt(id); use == paramKept {
			effect = paramKept
		} else {
			effect = max(effect, use)
		}
		return true
	})
	return effect
}

func (file *File) effectAt(id *ast.Ident) effect {
	var e ast.Expr = id
	selected := false
	for {
		switch p := file.Parents[e].(type) {
		case *ast.ParenExpr:
			e = p
			continue
		// *p
		case *ast.StarExpr:
			e, selected = p, true
			continue
		// p.f, not p.method
		case *ast.SelectorExpr:
			if sel := file.Package.Info.Selections[p]; sel == nil || sel.Kind() != types.FieldVal {
				return paramKept
			}
			e, selected = p, true
			continue
		// p[i]
		case *ast.IndexExpr:
			if p.X == e {
				e, selected = p, true
				continue
			}
		// p.f = v
		case *ast.AssignStmt:
			if slices.Contains(p.Lhs, e) {
				return paramWritten
			}
		case *ast.IncDecStmt:
			return paramWritten
		case *ast.RangeStmt:
			if p.X == e {
				return paramRead
			}
		// &p.f may be kept
		case *ast.UnaryExpr:
			if p.Op == token.AND {
				return paramKept
			}
		// len(p), delete(p, k)
		case *ast.CallExpr:
			if IsBuiltin(file, p, "len", "cap") {
				return paramRead
			}
			if IsBuiltin(file, p, "delete", "clear", "copy") && p.Args[0] == e {
				return paramWritten
			}
		}
		if selected {
			return paramRead
		}
		return paramKept
	}
}

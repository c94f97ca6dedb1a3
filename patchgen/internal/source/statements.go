package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// IsComparison reports whether n is x == y or x != y: a map or slice is compared with nil alone.
func IsComparison(n ast.Node) bool {
	b, ok := n.(*ast.BinaryExpr)
	return ok && (b.Op == token.EQL || b.Op == token.NEQ)
}

// IsBuiltin reports whether call calls one of the built-in functions names.
func IsBuiltin(file *File, call *ast.CallExpr, names ...string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	_, ok = file.Package.Info.Uses[id].(*types.Builtin)
	return ok && slices.Contains(names, id.Name)
}

// Ends reports whether control never reaches the end of the list.
func (file *File) Ends(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.BlockStmt:
		return file.Ends(s.List)
	case *ast.IfStmt:
		switch e := s.Else.(type) {
		case *ast.BlockStmt:
			return file.Ends(s.Body.List) && file.Ends(e.List)
		case *ast.IfStmt:
			return file.Ends(s.Body.List) && file.Ends([]ast.Stmt{e})
		}
		return false
	default:
		return IsPanic(file, s)
	}
}

// Leaves reports whether a break, continue or goto leads out of s.
func (file *File) Leaves(b *ast.BranchStmt, s ast.Stmt) bool {
	if b.Tok == token.FALLTHROUGH {
		return false
	}
	for n := file.Parents[b]; n != nil; n = file.Parents[n] {
		within := n.Pos() >= s.Pos() && n.End() <= s.End()
		if !within {
			return true
		}
		switch n := n.(type) {
		case *ast.LabeledStmt:
			if b.Label != nil && n.Label.Name == b.Label.Name {
				return false
			}
		case *ast.ForStmt, *ast.RangeStmt:
			if b.Label == nil {
				return false
			}
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			if b.Label == nil && b.Tok == token.BREAK {
				return false
			}
		}
	}
	return true
}

// IsPanic reports whether s calls the built-in function panic.
func IsPanic(file *File, s ast.Stmt) bool {
	if es, ok := s.(*ast.ExprStmt); ok {
		if call, ok := es.X.(*ast.CallExpr); ok {
			return IsBuiltin(file, call, "panic")
		}
	}
	return false
}

// IsWait reports whether n by itself, calls apart, may wait.
func IsWait(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SendStmt, *ast.SelectStmt, *ast.RangeStmt:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.ARROW
	}
	return false
}

// LocalsIn returns the variables that e names, those of structs and packages apart.
func (file *File) LocalsIn(e ast.Node) map[types.Object]bool {
	locals := map[types.Object]bool{}
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if v, ok := file.Package.Info.ObjectOf(id).(*types.Var); ok && !v.IsField() && !IsGlobal(v) {
			locals[v] = true
		}
		return true
	})
	return locals
}

// Sets returns which of the variables n may set: by an assignment, as the variable of a
// loop, or through its address; nil if it sets none.
func (file *File) Sets(n ast.Node, locals map[types.Object]bool) (found types.Object) {
	set := func(e ast.Expr) {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok && locals[file.Package.Info.ObjectOf(id)] {
			found = file.Package.Info.ObjectOf(id)
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				set(lhs)
			}
		case *ast.IncDecStmt:
			set(n.X)
		case *ast.RangeStmt:
			if n.Key != nil {
				set(n.Key)
			}
			if n.Value != nil {
				set(n.Value)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				set(n.X)
			}
		}
		return found == nil
	})
	return found
}

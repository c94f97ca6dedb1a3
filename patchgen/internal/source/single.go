package source

import (
	"go/ast"
	"go/token"
	"go/types"
)

// singleAssigned finds the locals of a file that are assigned once, by their
// definition, and whose address nobody takes: other names for another place.
func singleAssigned(file *File) map[types.Object]ast.Expr {
	values := map[types.Object]ast.Expr{}
	count := map[types.Object]int{}
	// What is no definition with a single value on its right counts twice: it has no value to go by. A parameter that is
	// assigned had another one before, and two that change places would each stand for the other: a, b = b, a.
	assign := func(lhs, rhs ast.Expr) {
		id, ok := ast.Unparen(lhs).(*ast.Ident)
		if !ok {
			return
		}
		obj := file.Package.Info.ObjectOf(id)
		if obj == nil {
			return
		}
		count[obj]++
		if rhs == nil || file.Package.Info.Defs[id] == nil {
			count[obj]++
		}
		values[obj] = rhs
	}
	// x := v, var x = v, x++, for x = range, &x
	ast.Inspect(file.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) {
					assign(lhs, n.Rhs[i])
				} else {
					assign(lhs, nil)
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Names) == len(n.Values) {
					assign(name, n.Values[i])
				}
			}
		case *ast.IncDecStmt:
			assign(n.X, nil)
		case *ast.RangeStmt:
			if n.Key != nil {
				assign(n.Key, nil)
			}
			if n.Value != nil {
				assign(n.Value, nil)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				assign(n.X, nil)
			}
		}
		return true
	})
	// Globals may be assigned in other files.
	for obj, n := range count {
		if n != 1 || IsGlobal(obj) {
			delete(values, obj)
		}
	}
	return values
}

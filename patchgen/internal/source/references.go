package source

import (
	"go/ast"
	"go/types"
)

// Call is a call of a declared function of the module.
type Call struct {
	In   *Function // nil at package level
	Expr *ast.CallExpr
}

// IsGo reports whether the call, in a function, starts a goroutine.
func (c Call) IsGo() bool {
	_, ok := c.In.File.Parents[c.Expr].(*ast.GoStmt)
	return ok
}

// References returns the static calls of a declared function in the module,
// tests included, and whether it is used as a value besides.
func (m *Module) References(f *Function) (calls []Call, asValue bool) {
	for _, p := range m.Packages {
		for _, file := range p.Files {
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				if used, ok := p.Info.Uses[id].(*types.Func); ok && m.Declared[used.Origin().FullName()] == f {
					if call := file.callBy(id); call != nil {
						calls = append(calls, Call{In: file.FunctionOf(call), Expr: call})
					} else {
						asValue = true
					}
				}
				return true
			})
		}
	}
	return calls, asValue
}

// callBy returns the call whose function id names: id() or x.id(). An explicit
// instantiation counts as a value.
func (file *File) callBy(id *ast.Ident) *ast.CallExpr {
	var fun ast.Node = id
	if sel, ok := file.Parents[id].(*ast.SelectorExpr); ok && sel.Sel == id {
		fun = sel
	}
	for {
		parent := file.Parents[fun]
		if _, ok := parent.(*ast.ParenExpr); !ok {
			break
		}
		fun = parent
	}
	if call, ok := file.Parents[fun].(*ast.CallExpr); ok && ast.Node(call.Fun) == fun {
		return call
	}
	return nil
}

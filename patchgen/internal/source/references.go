package source

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
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

// ErrNoGo is returned where no go statement starts a function.
var ErrNoGo = errors.New("no go statement")

// Starts lists the go statements that run f. All calls of f have to be such, or an error says which is not.
func (m *Module) Starts(f *Function) ([]Call, error) {
	// go func() {…}(): the literal runs there only
	if lit, ok := f.Node.(*ast.FuncLit); ok {
		call, isCall := f.File.Parents[lit].(*ast.CallExpr)
		if !isCall || call.Fun != ast.Expr(lit) {
			return nil, ErrNoGo
		}
		if _, isGo := f.File.Parents[call].(*ast.GoStmt); !isGo {
			return nil, ErrNoGo
		}
		return []Call{{In: f.Outer, Expr: call}}, nil
	}
	// go f(): so must every other call of f be
	sites, asValue := m.References(f)
	gos := 0
	for _, site := range sites {
		if site.In == nil {
			return nil, fmt.Errorf("%s is called where package variables are set", f.Name())
		}
		if site.IsGo() {
			gos++
		}
	}
	switch {
	case gos == 0:
		return nil, ErrNoGo
	case gos < len(sites) || asValue:
		return nil, fmt.Errorf("%s also runs without a go statement", f.Name())
	case f.Object.Exported() && exportedReceiver(f):
		return nil, fmt.Errorf("%s is exported: code outside the module may start it", f.Name())
	}
	return sites, nil
}

func exportedReceiver(f *Function) bool {
	if f.Recv == nil {
		return true
	}
	n := Named(f.Object.Signature().Recv().Type())
	return n != nil && n.Obj().Exported()
}

// InStarter writes a statement of f in the terms of a call that starts f.
func (f *Function) InStarter(site Call, s ast.Stmt) (string, error) {
	file := f.File
	args, params := f.Arguments(site.Expr), f.Params()
	if args == nil && len(params) > 0 {
		return "", fmt.Errorf("%s: arguments and parameters do not correspond", site.In.File.At(site.Expr))
	}
	type swap struct {
		id   *ast.Ident
		text string
	}
	var swaps []swap
	var err error
	ast.Inspect(s, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || err != nil {
			return true
		}
		obj := file.Package.Info.ObjectOf(id)
		v, isVar := obj.(*types.Var)
		switch i := slices.Index(params, obj); {
		case !isVar || v.IsField() || IsGlobal(v):
			if site.In.File.Package.Path != file.Package.Path && obj != nil && obj.Parent() != types.Universe {
				err = fmt.Errorf("%s is started from another package", f.Name())
			}
		case i >= 0:
			if _, pure := site.In.File.PathOf(args[i]); !pure {
				err = fmt.Errorf("%s: the argument %s may differ the second time", site.In.File.At(args[i]),
					site.In.File.Text(args[i]))
			}
			swaps = append(swaps, swap{id, strings.TrimPrefix(site.In.File.Text(args[i]), "&")})
		case f.Outer != nil && file.Module.Declaring(file, v) != f: // captured: the same there
		default:
			err = fmt.Errorf("%s: the value depends on %s, which the goroutine computes", file.At(id), id.Name)
		}
		return true
	})
	if err != nil {
		return "", err
	}
	text, start := file.Text(s), file.Offset(s.Pos())
	for _, sw := range slices.Backward(swaps) {
		from := file.Offset(sw.id.Pos()) - start
		text = text[:from] + sw.text + text[from+len(sw.id.Name):]
	}
	return text, nil
}

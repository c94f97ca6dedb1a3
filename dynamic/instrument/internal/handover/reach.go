package handover

import (
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/atomicsets/sites"
)

// Reaches reports whether a call in p may come to a function of p that holds something. It does not where it runs no
// code of the module, or a function of p that holds nothing of it and calls nothing that may come to it.
func Reaches(p *sites.Package, c *ast.CallExpr, holds func(*ast.FuncDecl) bool) bool {
	r := reach{p, holds, map[*ast.FuncDecl]bool{}}
	return r.call(c)
}

// reach is the state of one question.
type reach struct {
	pkg   *sites.Package
	holds func(*ast.FuncDecl) bool
	seen  map[*ast.FuncDecl]bool
}

func (r *reach) call(c *ast.CallExpr) bool {
	if !mayRunModule(r.pkg.Info, c) {
		return false
	}
	fn := r.declared(calledFunc(r.pkg.Info, c))
	if fn == nil || r.holds(fn) {
		return true
	}
	if r.seen[fn] {
		return false // its callees are asked already
	}
	r.seen[fn] = true
	found := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || r.call(n)
		case *ast.RangeStmt:
			found = found || RangesOverOthers(r.pkg.Info, n)
		}
		return !found
	})
	return found
}

// declared returns the declaration of a function of the package, or nil.
func (r *reach) declared(f *types.Func) *ast.FuncDecl {
	if f == nil {
		return nil
	}
	for _, file := range r.pkg.Files {
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && r.pkg.Info.Defs[fn.Name] == f.Origin() {
				return fn
			}
		}
	}
	return nil
}

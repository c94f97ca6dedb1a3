package stores

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"

	"github.com/interlock-go/interlock/analyzers/syncapi"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
)

// store describes the write that ends a section, by the source.
type store struct {
	how      storeKind
	value    types.Type // of the stored value
	constant bool       // the same in every goroutine, such as true
	adds     bool       // to a list or number: x = append(x, v), x = n + 1
}

type storeKind int

const (
	unknownStore storeKind = iota
	update                 // depends on the old value: x++, n.Add(1)
	removal                // delete(m, k)
	replacement            // puts a value in its place: x = v, m[k] = v, p.Store(v)
	answer                 // an update with a result that the code behind may test: i := n.Add(1)
	returned               // an answer that is the result of the function: return int(n.Add(1))
)

// storeAt finds the statement that makes the write at a site.
func (src *Source) storeAt(site *plan.Site) (found store) {
	for _, p := range src.Packages {
		for _, f := range p.Files {
			if !IsFile(p, f, site.File) {
				continue
			}
			var dropped ast.Node // a call with an unused result
			var result ast.Node  // a call with a result that the function returns
			ast.Inspect(f, func(n ast.Node) bool {
				if n == nil || !covers(p.Fset, n, site) {
					return n == f
				}
				switch n := n.(type) {
				case *ast.ExprStmt:
					dropped = ast.Unparen(n.X)
				case *ast.DeferStmt:
					dropped = n.Call
				case *ast.ReturnStmt:
					result = resultOf(p, n)
				}
				st := storeOf(p, n, site)
				if st.how == answer && n == dropped {
					st.how = update
				}
				if st.how == answer && n == result {
					st.how = returned
				}
				if st.how != unknownStore {
					found = st // an inner one decides
				}
				return true
			})
		}
	}
	return found
}

// storeOf returns the kind of the write at the site, if the node makes it.
func storeOf(p *sites.Package, n ast.Node, site *plan.Site) store {
	switch n := n.(type) {
	case *ast.IncDecStmt:
		return store{how: update}
	case *ast.AssignStmt:
		for i, e := range n.Lhs {
			switch {
			case !covers(p.Fset, e, site):
			case n.Tok != token.ASSIGN && n.Tok != token.DEFINE:
				return store{how: update}
			case len(n.Lhs) != len(n.Rhs):
				return store{how: replacement, value: p.Info.TypeOf(e)}
			default:
				return store{replacement, p.Info.TypeOf(e), isConstant(p, n.Rhs[i]), isAddition(p, n.Rhs[i])}
			}
		}
	case *ast.CallExpr:
		return storeOfCall(p, n)
	}
	return store{}
}

// storeOfCall is storeOf for delete, clear, copy, the functions of sync/atomic and the methods of a sync.Map.
func storeOfCall(p *sites.Package, call *ast.CallExpr) store {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		if b, builtin := p.Info.Uses[fun].(*types.Builtin); builtin && b.Name() == "delete" {
			return store{how: removal}
		} else if builtin {
			return store{how: update}
		}
	case *ast.SelectorExpr:
		f, _ := p.Info.Uses[fun.Sel].(*types.Func)
		switch {
		case f == nil || f.Pkg() == nil:
		case f.Pkg().Path() == "sync":
			return storeInSyncMap(p, f, call)
		case syncapi.Atomic(f) == "":
		case syncapi.Atomic(f) == "Store" && len(call.Args) > 0:
			v := call.Args[len(call.Args)-1]
			return store{replacement, p.Info.TypeOf(v), isConstant(p, v), isAddition(p, v)}
		default:
			return store{how: answer}
		}
	}
	return store{}
}

// storeInSyncMap is storeOf for a method of a sync.Map. A method that depends on the old value is not known to do harm,
// nor is Delete: many such maps are caches, which lose no more than time by it.
func storeInSyncMap(p *sites.Package, f *types.Func, call *ast.CallExpr) store {
	if f.Name() != "Store" || len(call.Args) != 2 {
		return store{}
	}
	v := call.Args[1]
	return store{replacement, p.Info.TypeOf(v), isConstant(p, v), isAddition(p, v)}
}

// isAddition reports whether the expression appends to a list, adds to a number or subtracts from it.
func isAddition(p *sites.Package, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return (e.Op == token.ADD || e.Op == token.SUB) && isNumeric(p.Info.TypeOf(e))
	case *ast.CallExpr:
		id, ok := ast.Unparen(e.Fun).(*ast.Ident)
		if !ok {
			return false
		}
		b, ok := p.Info.Uses[id].(*types.Builtin)
		return ok && b.Name() == "append"
	}
	return false
}

// isConstant reports whether the expression has the same value each time.
func isConstant(p *sites.Package, e ast.Expr) bool {
	tv := p.Info.Types[e]
	if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok && len(lit.Elts) == 0 {
		_, isStruct := p.Info.TypeOf(lit).Underlying().(*types.Struct)
		return isStruct
	}
	return tv.Value != nil || tv.IsNil()
}

// IsFile reports whether f is the file that sites name so.
func IsFile(p *sites.Package, f *ast.File, name string) bool {
	rel, err := filepath.Rel(p.Root, p.Fset.PositionFor(f.Package, false).Filename)
	return err == nil && filepath.ToSlash(rel) == name
}

// covers reports whether the site begins in n.
func covers(fset *token.FileSet, n ast.Node, site *plan.Site) bool {
	from, to := fset.PositionFor(n.Pos(), false), fset.PositionFor(n.End(), false)
	return !before(site.Line, site.Column, from) && before(site.Line, site.Column, to)
}

func before(line, column int, p token.Position) bool {
	return line < p.Line || line == p.Line && column < p.Column
}

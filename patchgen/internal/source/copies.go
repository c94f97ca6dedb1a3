package source

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
)

// NoNewField returns why a struct type cannot get a lock or atomic as a field: values of it are copied.
func (m *Module) NoNewField(owner *types.Named, what string) error {
	if n := m.copied(owner); n != nil {
		return fmt.Errorf("values of %s are copied (%s), and %s in it must not be", owner.Obj().Name(), m.at(n), what)
	}
	return nil
}

// Literal is a composite literal of a struct that lists its fields by position: T{1, 2}.
type Literal struct {
	*File
	*ast.CompositeLit
	Struct *types.Struct
}

// Positional returns the literals of a struct type that list its fields by position, those in tests included.
func (m *Module) Positional(owner *types.Named) (all []Literal) {
	for _, p := range m.Packages {
		for _, file := range p.Files {
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				if !ok || len(lit.Elts) == 0 || !SameNamed(Named(file.TypeOf(lit)), owner) {
					return true
				}
				fields, ok := StructOf(file.TypeOf(lit))
				if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); ok && !keyed {
					all = append(all, Literal{file, lit, fields})
				}
				return true
			})
		}
	}
	return all
}

// copied finds a place where a value of the struct type is copied; a lock or
// an atomic in it would be copied too. nil if there is none.
func (m *Module) copied(owner *types.Named) ast.Node {
	var found ast.Node
	for _, p := range m.Packages {
		for _, file := range p.Files {
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok || found != nil {
					return found == nil
				}
				tv, ok := file.Package.Info.Types[e]
				if !ok || !tv.IsValue() || Named(tv.Type) != owner.Origin() && !SameNamed(Named(tv.Type), owner) ||
					IsPointer(tv.Type) {
					return true
				}
				if file.copies(e) {
					found = e
				}
				return true
			})
			if found == nil {
				found = file.byValue(owner)
			}
		}
	}
	return found
}

// copies reports whether the struct value e is copied where it stands.
func (file *File) copies(e ast.Expr) bool {
	switch ast.Unparen(e).(type) {
	case *ast.CompositeLit, *ast.CallExpr:
		return false // a new value: the callee's return statement counts
	}
	switch p := file.Parents[e].(type) {
	case *ast.SelectorExpr, *ast.UnaryExpr, *ast.IndexExpr, *ast.ParenExpr, *ast.BinaryExpr, *ast.Field, *ast.StarExpr:
		return false
	case *ast.AssignStmt:
		return slices.Contains(p.Rhs, e)
	case *ast.ValueSpec:
		return slices.Contains(p.Values, e)
	case *ast.RangeStmt:
		return p.Value == e
	case *ast.ReturnStmt, *ast.CallExpr, *ast.KeyValueExpr, *ast.CompositeLit, *ast.SendStmt:
		return true
	}
	return false
}

// byValue finds a receiver, parameter or result of the struct type itself.
func (file *File) byValue(owner *types.Named) (found ast.Node) {
	ast.Inspect(file.Syntax, func(n ast.Node) bool {
		var lists []*ast.FieldList
		switch n := n.(type) {
		case *ast.FuncDecl:
			lists = append(lists, n.Recv, n.Type.Params, n.Type.Results)
		case *ast.FuncLit:
			lists = append(lists, n.Type.Params, n.Type.Results)
		}
		for _, l := range lists {
			if l == nil {
				continue
			}
			for _, f := range l.List {
				t := file.TypeOf(f.Type)
				if t != nil && !IsPointer(t) && SameNamed(Named(t), owner) && found == nil {
					found = f
				}
			}
		}
		return true
	})
	return found
}

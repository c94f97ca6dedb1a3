package patchgen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// fn is one function: a declaration or a literal.
type fn struct {
	unit  *unit
	node  ast.Node
	recv  *ast.FieldList
	typ   *ast.FuncType
	body  *ast.BlockStmt
	outer *fn         // function around a literal
	obj   *types.Func // nil for a literal
}

func (u *unit) newFn(n ast.Node) *fn {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Body == nil {
			return nil
		}
		f := &fn{unit: u, node: n, recv: n.Recv, typ: n.Type, body: n.Body}
		if obj, ok := u.pkg.info.Defs[n.Name].(*types.Func); ok {
			f.obj = obj
			u.m.decls[obj.FullName()] = f
		}
		return f
	case *ast.FuncLit:
		return &fn{unit: u, node: n, typ: n.Type, body: n.Body}
	}
	return nil
}

// offset of a position in its file.
func (u *unit) offset(p token.Pos) int { return u.m.fset.PositionFor(p, false).Offset }

func (u *unit) line(p token.Pos) int { return u.m.fset.PositionFor(p, false).Line }

// text is the source of n.
func (u *unit) text(n ast.Node) string { return string(u.src[u.offset(n.Pos()):u.offset(n.End())]) }

// at says in a reason where n is.
func (u *unit) at(n ast.Node) string { return fmt.Sprintf("%s:%d", u.path, u.line(n.Pos())) }

// pos turns a 1-based line and byte column into a position of the file.
func (u *unit) pos(line, column int) (token.Pos, error) {
	f := u.m.fset.File(u.file.FileStart)
	if line < 1 || line > f.LineCount() {
		return 0, errors.New("line out of the file")
	}
	p := f.LineStart(line) + token.Pos(max(column, 1)-1)
	if p > u.file.FileEnd {
		return 0, errors.New("column out of the file")
	}
	return p, nil
}

// fnOf returns the innermost function around n, or nil at package level.
func (u *unit) fnOf(n ast.Node) *fn {
	for n = u.parents[n]; n != nil; n = u.parents[n] {
		if f := u.m.fns[n]; f != nil {
			return f
		}
	}
	return nil
}

// name of f as reasons have it.
func (f *fn) name() string {
	if d, ok := f.node.(*ast.FuncDecl); ok {
		if d.Recv != nil && len(d.Recv.List) == 1 {
			return "(" + f.unit.text(d.Recv.List[0].Type) + ")." + d.Name.Name
		}
		return d.Name.Name
	}
	if f.outer != nil {
		return "a function literal in " + f.outer.name()
	}
	return "a function literal"
}

// decl is the declaration around f, f itself for a declared function; nil for
// a literal at package level.
func (f *fn) decl() *fn {
	for f.outer != nil {
		f = f.outer
	}
	return f
}

// receiver is the receiver variable of f or of a function around it.
func (f *fn) receiver() types.Object {
	d := f.decl()
	if d.recv == nil || len(d.recv.List) != 1 || len(d.recv.List[0].Names) != 1 {
		return nil
	}
	return d.unit.pkg.info.Defs[d.recv.List[0].Names[0]]
}

// callee returns the declared function of the module that call certainly calls.
func (u *unit) callee(call *ast.CallExpr) *fn {
	if f := typeutil.StaticCallee(u.pkg.info, call); f != nil {
		return u.m.decls[f.Origin().FullName()]
	}
	return nil
}

// params lists receiver and parameters of f in order; nil for an unnamed one.
func (f *fn) params() []types.Object {
	var out []types.Object
	for _, list := range []*ast.FieldList{f.recv, f.typ.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			if len(field.Names) == 0 {
				out = append(out, nil)
			}
			for _, name := range field.Names {
				out = append(out, f.unit.pkg.info.Defs[name])
			}
		}
	}
	return out
}

// arguments lists the receiver and the arguments of a call of f, in the order
// of [fn.params]; nil where they do not correspond one to one.
func (f *fn) arguments(call *ast.CallExpr) []ast.Expr {
	var out []ast.Expr
	if f.recv != nil {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		out = append(out, sel.X)
	}
	out = append(out, call.Args...)
	if len(out) != len(f.params()) || call.Ellipsis.IsValid() {
		return nil
	}
	return out
}

// sortedFns lists all functions in the order of the source.
func (m *Module) sortedFns() []*fn {
	var out []*fn
	for _, f := range m.fns {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b *fn) int {
		if c := strings.Compare(a.unit.path, b.unit.path); c != 0 {
			return c
		}
		return int(a.node.Pos() - b.node.Pos())
	})
	return out
}

package patchgen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/astutil"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// target is the variable that a patch protects.
type target struct {
	m     *Module
	obj   *types.Var
	owner *types.Named // type whose field it is; nil for package variables and locals
	fn    *fn          // function that declares a local
	key   string       // objKey of obj
	name  string
	// deep: what the variable refers to is part of it, since it is mutated in
	// place: a map's entries, a slice's elements.
	deep bool
	// places are the accesses that the findings name.
	places map[ast.Expr]bool
}

// String names the variable in reasons.
func (t *target) String() string {
	if t.owner != nil {
		return t.owner.Obj().Name() + "." + t.name
	}
	return t.name
}

// resolve finds the variable of a group: by its accesses' positions, since
// those also tell locals apart.
func (m *Module) resolve(group []*finding.Finding) (*target, error) {
	if len(group) == 0 {
		return nil, errors.New("no finding given")
	}
	var t *target
	var exprs []ast.Expr
	for _, f := range group {
		for _, a := range f.Accesses {
			u := m.files[a.File]
			if u == nil {
				return nil, fmt.Errorf("%s is not among the loaded files of the module", a.File)
			}
			e, obj := u.accessAt(a.Position, lastName(f.Variable.Name))
			if e == nil {
				return nil, fmt.Errorf("no access of %s at %s: the file changed since the analysis", f.Variable.Name, a.Position)
			}
			if t == nil {
				t = m.newTarget(obj, u, e)
			} else if objKey(m, obj) != t.key && obj.Name() != t.name {
				return nil, fmt.Errorf("the findings are on several variables: %s and %s", t.name, obj.Name())
			}
			exprs = append(exprs, e)
		}
	}
	if t == nil {
		return nil, errors.New("the findings name no access")
	}
	t = m.storedMap(t)
	t.places = map[ast.Expr]bool{}
	for _, e := range exprs {
		t.places[e] = true
	}
	t.deep = isMap(t.obj.Type()) || m.mutatedInPlace(t)
	return t, nil
}

// lastName is the field that a variable's name path ends in.
func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func (m *Module) newTarget(obj *types.Var, u *unit, e ast.Expr) *target {
	t := &target{m: m, obj: obj.Origin(), key: objKey(m, obj), name: obj.Name()}
	switch {
	case obj.IsField():
		if sel, ok := e.(*ast.SelectorExpr); ok {
			t.owner = fieldOwner(u.pkg.info.Selections[sel])
		}
	case !isGlobal(obj):
		t.fn = m.declaring(u, obj)
	}
	return t
}

// declaring returns the function whose body or parameters declare a local.
func (m *Module) declaring(u *unit, obj types.Object) *fn {
	var best *fn
	for n, f := range m.fns {
		if f.unit == u && n.Pos() <= obj.Pos() && obj.Pos() < n.End() && (best == nil || n.Pos() > best.node.Pos()) {
			best = f
		}
	}
	return best
}

// fieldOwner is the named type that holds the field of a selection, embedded
// structs followed; nil for a field of an unnamed struct.
func fieldOwner(sel *types.Selection) *types.Named {
	if sel == nil {
		return nil
	}
	t := sel.Recv()
	for _, i := range sel.Index()[:len(sel.Index())-1] {
		st, ok := structOf(t)
		if !ok {
			return nil
		}
		t = st.Field(i).Type()
	}
	return named(t)
}

// accessAt finds the access of a variable called name at a position: the
// expression starts there, or its last identifier does.
func (u *unit) accessAt(p finding.Position, name string) (ast.Expr, *types.Var) {
	pos, err := u.pos(p.Line, p.Column)
	if err != nil {
		return nil, nil
	}
	path, _ := astutil.PathEnclosingInterval(u.file, pos, pos)
	if e, obj := u.namedAccess(path, pos, name); e != nil {
		return e, obj
	}
	return u.accessOnLine(p, name)
}

func (u *unit) namedAccess(path []ast.Node, pos token.Pos, name string) (ast.Expr, *types.Var) {
	for _, n := range path {
		e, ok := n.(ast.Expr)
		if !ok {
			continue
		}
		if x, obj := u.varOf(e); obj != nil && obj.Name() == name && (x.Pos() == pos || nameOf(x).Pos() == pos) {
			return x, obj
		}
		for _, inner := range leftmost(e) { // x.m[k], x.f++, *x.p: the access starts where they do
			if x, obj := u.varOf(inner); obj != nil && obj.Name() == name && x.Pos() == pos {
				return x, obj
			}
		}
	}
	return nil, nil
}

// accessOnLine takes the only access of that name on the line, for makers of
// findings that know no exact column.
func (u *unit) accessOnLine(p finding.Position, name string) (found ast.Expr, obj *types.Var) {
	many := false
	ast.Inspect(u.file, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || u.line(e.Pos()) != p.Line {
			return n != nil
		}
		if x, v := u.varOf(e); v != nil && v.Name() == name && x == e {
			if found != nil && objKey(u.m, v) != objKey(u.m, obj) {
				many = true
			}
			found, obj = x, v
			return false
		}
		return true
	})
	if many {
		return nil, nil
	}
	return found, obj
}

// varOf returns the variable that e denotes, and the whole expression: the
// selector where e is its last identifier.
func (u *unit) varOf(e ast.Expr) (ast.Expr, *types.Var) {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		if obj, ok := u.pkg.info.Uses[e.Sel].(*types.Var); ok {
			return e, obj
		}
	case *ast.Ident:
		if sel, ok := u.parents[e].(*ast.SelectorExpr); ok && sel.Sel == e {
			return u.varOf(sel)
		}
		if obj, ok := u.pkg.info.ObjectOf(e).(*types.Var); ok {
			return e, obj
		}
	}
	return nil, nil
}

func nameOf(e ast.Expr) *ast.Ident {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		return sel.Sel
	}
	return e.(*ast.Ident)
}

// leftmost lists e's operands that start where e does.
func leftmost(e ast.Expr) []ast.Expr {
	var out []ast.Expr
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.CallExpr:
			e = x.Fun
		case *ast.SliceExpr:
			e = x.X
		default:
			return out
		}
		out = append(out, e)
	}
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// storedMap follows a race caught in a method of a named map type to the one
// field that holds such maps: that is what can be guarded.
func (m *Module) storedMap(t *target) *target {
	if t.owner != nil || isGlobal(t.obj) || !isMap(t.obj.Type()) || t.fn == nil || t.fn.recv == nil {
		return t
	}
	typ := named(t.obj.Type())
	if typ == nil {
		return t
	}
	var field *target
	for _, p := range m.pkgs {
		for _, name := range p.types.Scope().Names() {
			tn, ok := p.types.Scope().Lookup(name).(*types.TypeName)
			if !ok {
				continue
			}
			st, ok := tn.Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for i := range st.NumFields() {
				if f := st.Field(i); named(f.Type()) == typ {
					if field != nil && field.key != objKey(m, f) {
						return t
					}
					field = &target{m: m, obj: f, key: objKey(m, f), name: f.Name(), owner: named(tn.Type())}
				}
			}
		}
	}
	if field == nil {
		return t
	}
	return field
}

// mutatedInPlace reports whether elements of a slice variable are assigned
// through it: then a copy of its header is not enough.
func (m *Module) mutatedInPlace(t *target) bool {
	if _, ok := t.obj.Type().Underlying().(*types.Slice); !ok {
		return false
	}
	for _, a := range m.accesses(t) {
		if a.unit.test {
			continue
		}
		if a.element && a.mode.writes() {
			return true
		}
		if sl, ok := a.unit.parents[a.expr].(*ast.SliceExpr); ok && sl.X == a.expr {
			if call, ok := a.unit.parents[sl].(*ast.CallExpr); ok && isBuiltin(a.unit, call, "append", "copy") && len(call.Args) > 0 && call.Args[0] == ast.Expr(sl) {
				return true // append(x.s[:i], …) moves elements down in place
			}
		}
	}
	return false
}

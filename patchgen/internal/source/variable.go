package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/astutil"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Variable is the variable that a patch protects.
type Variable struct {
	module   *Module
	Object   *types.Var
	Owner    *types.Named // type whose field it is; nil for package variables and locals
	Function *Function    // function that declares a local
	Key      string       // that of Object (see ObjectKey)
	Name     string
	// Deep: what the variable refers to is part of it, since it is mutated in
	// place: a map's entries, a slice's elements.
	Deep bool
	// Within: the object that the variable refers to is part of it, as the findings are on that: see isRacedWithin.
	Within bool
	// Named are the accesses that the findings name, and Written those of them that write.
	Named, Written map[ast.Expr]bool
	// Others are further variables that the findings name, as they do: what is the matter with several fields in one
	// function is one finding of a check.
	Others []string
}

// Place returns where a local is declared, in words that outlive a patch: the
// full name of the declared function, and which of the variables of its name it
// is there, in order, from 0.
func (t *Variable) Place() (function string, nth int) {
	f := t.Function.Declaration()
	if f.Object == nil {
		return "", 0
	}
	found := false
	ast.Inspect(f.Node, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || found || id.Name != t.Name {
			return !found
		}
		if v, isVar := f.File.Package.Info.Defs[id].(*types.Var); isVar {
			if found = ObjectKey(t.module, v) == t.Key; !found {
				nth++
			}
		}
		return true
	})
	return f.Object.FullName(), nth
}

// Holds reports whether the variable is a struct of a type, so that its fields are parts of it.
func (t *Variable) Holds(pkg, typ string) bool {
	n := Named(t.Object.Type())
	_, isStruct := t.Object.Type().Underlying().(*types.Struct)
	return isStruct && n != nil && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg && finding.TypeName(n.Obj()) == typ
}

// String names the variable in reasons.
func (t *Variable) String() string {
	if t.Owner != nil {
		return t.Owner.Obj().Name() + "." + t.Name
	}
	return t.Name
}

// OuterField returns x.stats for x.stats.n, if stats is a struct value.
func (file *File) OuterField(e ast.Expr) *ast.SelectorExpr {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	outer, ok := ast.Unparen(sel.X).(*ast.SelectorExpr)
	if !ok || file.Package.Info.Selections[outer] == nil || IsPointer(file.TypeOf(outer)) {
		return nil
	}
	if s := file.Package.Info.Selections[outer]; s.Kind() != types.FieldVal {
		return nil
	}
	return outer
}

// lastName is the field that a variable's name path ends in.
func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// NewVariable returns obj, which e in file denotes, as a variable to protect. Deep and Named are left unset.
func (m *Module) NewVariable(obj *types.Var, file *File, e ast.Expr) *Variable {
	t := &Variable{module: m, Object: obj.Origin(), Key: ObjectKey(m, obj), Name: obj.Name()}
	switch {
	case obj.IsField():
		if sel, ok := e.(*ast.SelectorExpr); ok {
			t.Owner = fieldOwner(file.Package.Info.Selections[sel])
		}
		if NameOf(e).Name != obj.Name() { // promoted through it
			t.Owner = m.ownerOf(obj)
		}
	case !IsGlobal(obj):
		t.Function = m.Declaring(file, obj)
	}
	return t
}

// Declaring returns the function whose body or parameters declare a local.
func (m *Module) Declaring(file *File, obj types.Object) *Function {
	var best *Function
	for n, f := range m.functions {
		if f.File == file && n.Pos() <= obj.Pos() && obj.Pos() < n.End() && (best == nil || n.Pos() > best.Node.Pos()) {
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
		st, ok := StructOf(t)
		if !ok {
			return nil
		}
		t = st.Field(i).Type()
	}
	return Named(t)
}

// accessAt finds the access of a variable called name at a position: the
// expression starts there, or its last identifier does. Field prefers that of a field, where the expression begins
// with a variable of the same name: n.n.
func (file *File) accessAt(p finding.Position, name string, field bool) (ast.Expr, *types.Var) {
	pos, err := file.pos(p.Line, p.Column)
	if err != nil {
		return nil, nil
	}
	path, _ := astutil.PathEnclosingInterval(file.Syntax, pos, pos)
	isCalled := func(obj *types.Var) bool { return obj.Name() == name }
	isField := func(obj *types.Var) bool { return isCalled(obj) && obj.IsField() }
	if field {
		if e, obj := file.namedAccess(path, pos, isField); e != nil {
			return e, obj
		}
	}
	if e, obj := file.namedAccess(path, pos, isCalled); e != nil {
		return e, obj
	}
	return file.accessOnLine(p, name)
}

// namedAccess finds the innermost access on a path that starts at a position, or whose last identifier does, of a
// variable that is meant.
func (file *File) namedAccess(path []ast.Node, pos token.Pos, isMeant func(*types.Var) bool) (ast.Expr, *types.Var) {
	for _, n := range path {
		e, ok := n.(ast.Expr)
		if !ok {
			continue
		}
		if x, obj := file.VariableOf(e); obj != nil && isMeant(obj) && (x.Pos() == pos || NameOf(x).Pos() == pos) {
			return x, obj
		}
		for _, inner := range Leftmost(e) { // x.m[k], x.f++, *x.p: the access starts where they do
			if x, obj := file.VariableOf(inner); obj != nil && isMeant(obj) && x.Pos() == pos {
				return x, obj
			}
		}
	}
	return nil, nil
}

// accessOnLine takes the only access of that name on the line, for makers of
// findings that know no exact column.
func (file *File) accessOnLine(p finding.Position, name string) (found ast.Expr, obj *types.Var) {
	many := false
	ast.Inspect(file.Syntax, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || file.Line(e.Pos()) != p.Line {
			return n != nil
		}
		if x, v := file.VariableOf(e); v != nil && v.Name() == name && x == e {
			if found != nil && ObjectKey(file.Module, v) != ObjectKey(file.Module, obj) {
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

// insteadAt returns what stands at a position where no access of a variable
// called name does.
func (file *File) insteadAt(p finding.Position, name string) string {
	pos, err := file.pos(p.Line, p.Column)
	if err != nil {
		return "there is no such place: the file changed since the analysis"
	}
	// Of the operands that start there, the outermost is what the finding is about: of s[i].f > 0 it is s[i].f, not s.
	var e ast.Expr
	path, _ := astutil.PathEnclosingInterval(file.Syntax, pos, pos)
	for _, n := range path {
		if _, operation := n.(*ast.BinaryExpr); operation {
			break
		}
		if x, ok := n.(ast.Expr); ok && x.Pos() == pos {
			e = x
		}
	}
	switch {
	case e != nil:
	case p.Column == 0:
		return "a run has shown the line alone, and nothing on it is called so"
	default:
		return "no expression begins there"
	}
	text := file.Text(e)
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i] + " …"
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		// n.size()	a callee accesses it; no region of this function holds that alone
		if tv := file.Package.Info.Types[x.Fun]; !tv.IsType() {
			return "the call " + text + " makes it, in another function"
		}
	case *ast.IndexExpr, *ast.SliceExpr:
		// s[i]		the elements have no name of their own
		return text + " is an element, and no variable is called " + name
	case *ast.StarExpr:
		// *p		whatever p points to
		return text + " is what a pointer leads to, and no variable is called " + name
	}
	if st, ok := structAt(file.TypeOf(e)); ok && hasField(st, name) {
		// *p = x, y := x	all fields at once
		return text + " is a struct, which is copied or set as a whole"
	}
	return text + " does not name it"
}

// structAt returns the struct type that t is, not one that it points to.
func structAt(t types.Type) (*types.Struct, bool) {
	if t == nil {
		return nil, false
	}
	st, ok := t.Underlying().(*types.Struct)
	return st, ok
}

func hasField(st *types.Struct, name string) bool {
	for f := range st.Fields() {
		if f.Name() == name {
			return true
		}
	}
	return false
}

// fieldOfMap follows a race caught in a method of a named map type to the one
// field that holds such maps: that is what can be guarded.
func (m *Module) fieldOfMap(t *Variable) *Variable {
	// func (m mapType) method(): the receiver is a local of a named map type
	if t.Owner != nil || IsGlobal(t.Object) || !IsMap(t.Object.Type()) || t.Function == nil || t.Function.Recv == nil {
		return t
	}
	typ := Named(t.Object.Type())
	if typ == nil {
		return t
	}
	var field *Variable
	// struct { f mapType }: the one field of that type in the module
	for _, p := range m.Packages {
		for _, name := range p.Types.Scope().Names() {
			tn, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
			if !ok {
				continue
			}
			st, ok := tn.Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for i := range st.NumFields() {
				if f := st.Field(i); Named(f.Type()) == typ {
					if field != nil && field.Key != ObjectKey(m, f) {
						return t
					}
					field = &Variable{module: m, Object: f, Key: ObjectKey(m, f), Name: f.Name(), Owner: Named(tn.Type())}
				}
			}
		}
	}
	if field == nil {
		return t
	}
	return field
}

// shortens reports whether a slice takes the place of the longer one that it is a part of: the next append overwrites
// the elements behind it.
//
//	x.s = x.s[:0]
func (file *File) shortens(part *ast.SliceExpr) bool {
	as, ok := file.Parents[part].(*ast.AssignStmt)
	return ok && part.High != nil && !part.Slice3 && len(as.Lhs) == 1 && file.Text(as.Lhs[0]) == file.Text(part.X)
}

// MutatedInPlace reports whether elements of a slice variable are assigned
// through it: then a copy of its header is not enough.
func (m *Module) MutatedInPlace(t *Variable) bool {
	if _, ok := t.Object.Type().Underlying().(*types.Slice); !ok {
		return false
	}
	for _, a := range m.Accesses(t) {
		if a.File.Test {
			continue
		}
		if a.Element && a.Mode.Writes() {
			return true
		}
		if sl, ok := a.File.Parents[a.Expr].(*ast.SliceExpr); ok && sl.X == a.Expr {
			if call, ok := a.File.Parents[sl].(*ast.CallExpr); ok && IsBuiltin(a.File, call, "append", "copy") &&
				len(call.Args) > 0 && call.Args[0] == ast.Expr(sl) {
				return true // append(x.s[:i], …) moves elements down in place
			}
			if a.File.shortens(sl) {
				return true
			}
		}
	}
	return false
}

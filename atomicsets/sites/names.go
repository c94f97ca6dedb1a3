package sites

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// closureNames names functions as gc's stack traces do (without inlining):
// F, (*T).M, F.func1, F.func1.1; init.0 for the first init function; init and
// init.func1 in the initialisers of package variables. The numbers of
// closures in functions that range over functions may differ.
type closureNames struct {
	count map[string]int // closures of a function so far
	inits int
}

func newClosureNames() *closureNames { return &closureNames{count: map[string]int{}} }

func (c *closureNames) declared(d *ast.FuncDecl) string {
	name := d.Name.Name
	if d.Recv == nil {
		if name == "init" {
			name = fmt.Sprintf("init.%d", c.inits)
			c.inits++
		}
		return name
	}
	t := ast.Unparen(d.Recv.List[0].Type)
	star, byPointer := t.(*ast.StarExpr)
	if byPointer {
		t = ast.Unparen(star.X)
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	if byPointer {
		return "(*" + types.ExprString(t) + ")." + name
	}
	return types.ExprString(t) + "." + name
}

func (c *closureNames) closure(outer string) string {
	c.count[outer]++
	sep := ".func"
	if i := strings.LastIndex(outer, ".func"); i >= 0 && isClosureSuffix(outer[i+len(".func"):]) {
		sep = "."
	}
	return fmt.Sprintf("%s%s%d", outer, sep, c.count[outer])
}

// isClosureSuffix reports whether s may follow ".func" in the name of a closure: numbers and dots.
func isClosureSuffix(s string) bool {
	return s != "" && strings.Trim(s, "0123456789.") == ""
}

// variable names the variable of the place e.
func (w *walker) variable(e ast.Expr) plan.Variable {
	switch e := e.(type) {
	case *ast.Ident:
		return w.namedVar(w.info.Uses[e].(*types.Var))
	case *ast.SelectorExpr:
		if w.info.Selections[e] == nil {
			return w.namedVar(w.info.Uses[e.Sel].(*types.Var))
		}
		return w.fieldOf(e)
	case *ast.IndexExpr:
		return w.element(e.X)
	}
	if star, ok := e.(*ast.StarExpr); ok {
		return w.pointeeOf(star.X)
	}
	return plan.Variable{Package: w.pkg.Path, Function: w.fn, Name: types.ExprString(e), Kind: plan.KindDeref}
}

// pointeeOf names the pointee of e.
func (w *walker) pointeeOf(e ast.Expr) plan.Variable {
	if named := namedOf(w.info.TypeOf(e)); named != nil && named.Obj().Pkg() != nil {
		return plan.Variable{
			Package: named.Obj().Pkg().Path(), Type: finding.TypeName(named.Obj()), Name: "*", Kind: plan.KindDeref,
		}
	}
	return plan.Variable{Package: w.pkg.Path, Function: w.fn, Name: "*" + types.ExprString(e), Kind: plan.KindDeref}
}

func (w *walker) namedVar(v *types.Var) plan.Variable {
	if isGlobal(v) {
		return plan.Variable{Package: v.Pkg().Path(), Name: v.Name(), Kind: plan.KindGlobal}
	}
	kind := plan.KindLocal
	if l := w.locals[v]; l != nil && l.captured {
		kind = plan.KindCaptured
	}
	return plan.Variable{Package: w.pkg.Path, Function: w.declarer(v), Name: v.Name(), Kind: kind}
}

// declarer names the function that declares the local v, without the closure
// in which it stands: closures are renumbered too easily for an identity.
func (w *walker) declarer(v *types.Var) string {
	name := w.fn
	if i := strings.Index(name, ".func"); i >= 0 && isClosureSuffix(name[i+len(".func"):]) {
		name = name[:i]
	}
	return name
}

// fieldOf names the field that e selects: by the named type that declares it,
// with the path inside that type where unnamed structs lie between.
func (w *walker) fieldOf(e *ast.SelectorExpr) plan.Variable {
	sel := w.info.Selections[e]
	owner, path := sel.Recv(), []string(nil)
	var named *types.Named
	for _, i := range sel.Index() {
		if n := namedOf(owner); n != nil {
			named, path = n.Origin(), nil
		}
		st := structOf(owner)
		if st == nil {
			break
		}
		path = append(path, st.Field(i).Name())
		owner = st.Field(i).Type()
	}
	name := strings.Join(path, ".")
	if named != nil && named.Obj().Pkg() != nil {
		return plan.Variable{
			Package: named.Obj().Pkg().Path(), Type: finding.TypeName(named.Obj()), Name: name, Kind: plan.KindField,
		}
	}
	switch x := ast.Unparen(e.X).(type) { // the struct type has no name: its holder has
	case *ast.SelectorExpr, *ast.Ident:
		if v, ok := w.holder(x); ok {
			v.Name += "." + name
			return v
		}
	}
	return plan.Variable{Package: w.pkg.Path, Function: w.fn, Name: types.ExprString(e), Kind: plan.KindField}
}

// holder names the variable or field e, whether or not it is shared.
func (w *walker) holder(e ast.Expr) (plan.Variable, bool) {
	switch e := e.(type) {
	case *ast.Ident:
		if v, ok := w.info.Uses[e].(*types.Var); ok {
			return w.namedVar(v), true
		}
	case *ast.SelectorExpr:
		if sel := w.info.Selections[e]; sel == nil || sel.Kind() == types.FieldVal {
			return w.variable(e), true
		}
	}
	return plan.Variable{}, false
}

// mapVariable names the map that is the value of e.
func (w *walker) mapVariable(e ast.Expr) plan.Variable { return w.nameHeld(e, plan.KindMap) }

// element names the elements of the value of e, as mapVariable does for a map.
func (w *walker) element(e ast.Expr) plan.Variable {
	e = ast.Unparen(e)
	v, ok := w.holder(e)
	switch x := e.(type) {
	case *ast.IndexExpr:
		if !isMapType(w.info.TypeOf(x.X)) {
			v, ok = w.element(x.X), true
		}
	case *ast.SliceExpr: // its elements are those of its operand
		return w.element(x.X)
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			return w.element(x.X)
		}
	}
	if !ok {
		v = plan.Variable{Package: w.pkg.Path, Function: w.fn, Name: types.ExprString(e)}
	}
	v.Name += "[]"
	v.Kind = plan.KindElement
	return v
}

// sharedVar reports whether the variable v itself can be shared.
func (w *walker) sharedVar(v *types.Var) bool {
	if isGlobal(v) {
		return true
	}
	l := w.locals[v]
	return l != nil && l.shared()
}

// sharedPlace reports whether the place e lies in memory that can be shared.
func (w *walker) sharedPlace(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return w.sharedPlace(e.X)
	case *ast.Ident:
		v, ok := w.info.Uses[e].(*types.Var)
		return ok && w.sharedVar(v)
	case *ast.SelectorExpr:
		sel := w.info.Selections[e]
		if sel == nil {
			v, ok := w.info.Uses[e.Sel].(*types.Var)
			return ok && w.sharedVar(v)
		}
		return sel.Indirect() || w.sharedPlace(e.X)
	case *ast.IndexExpr:
		if _, ok := underlying(w.info.TypeOf(e.X)).(*types.Array); ok {
			return w.sharedPlace(e.X)
		}
		return !w.ownSlice(e.X)
	case *ast.StarExpr:
		return true
	}
	return false
}

func isGlobal(v *types.Var) bool {
	return v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// namedOf returns the named type of t or of its pointee, or nil.
func namedOf(t types.Type) *types.Named {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, _ := t.(*types.Named)
	return n
}

// structOf returns the struct that t is or points to, or nil.
func structOf(t types.Type) *types.Struct {
	u := underlying(t)
	if p, ok := u.(*types.Pointer); ok {
		u = underlying(p.Elem())
	}
	st, _ := u.(*types.Struct)
	return st
}

// directives that forbid calls in a function, or say that others depend on
// its exact code.
var forbidding = []string{
	"go:nosplit", "go:norace", "go:systemstack", "go:nowritebarrier", "go:nowritebarrierrec",
	"go:yeswritebarrierrec", "go:cgo_unsafe_args", "go:uintptrkeepalive", "go:linkname",
}

func neverInstrument(d *ast.FuncDecl, linknames map[string]bool) bool {
	if d.Recv == nil && linknames[d.Name.Name] {
		return true
	}
	if d.Doc == nil {
		return false
	}
	for _, c := range d.Doc.List {
		for _, f := range forbidding {
			if rest, ok := strings.CutPrefix(c.Text, "//"+f); ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
				return true
			}
		}
	}
	return false
}

// linknames returns the local names of f's go:linkname directives.
func linknames(f *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, g := range f.Comments {
		for _, c := range g.List {
			if fields := strings.Fields(c.Text); len(fields) > 1 && fields[0] == "//go:linkname" {
				names[fields[1]] = true
			}
		}
	}
	return names
}

func importsC(f *ast.File) bool {
	for _, s := range f.Imports {
		if s.Path.Value == `"C"` {
			return true
		}
	}
	return false
}

// versionBelow reports whether the language version v is below go1.minor.
func versionBelow(v string, minor int) bool {
	return version.Compare(v, fmt.Sprintf("go1.%d", minor)) < 0
}

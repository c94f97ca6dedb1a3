package patchgen

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mode says what an access does to the variable.
type mode int

const (
	read     mode = iota
	write         // x.f = v
	update        // x.f++, x.f += v: one load and one store
	address       // &x.f, or an implicit & for a method with pointer receiver
	alias         // a map or slice handed on as it is
	atomicOp      // argument of a function of sync/atomic
	initial       // key of a composite literal
)

func (m mode) writes() bool { return m == write || m == update }

// access is one access of the target.
type access struct {
	unit *unit
	fn   *fn      // nil at package level
	expr ast.Expr // x.f, or the identifier
	base ast.Expr // x; nil for package variables and locals
	mode mode
	// element: a map entry or slice element is accessed through the variable.
	element bool
	// whole is the smallest expression that is done with the variable and its
	// contents: x.f, x.m[k], x.stats.n, len(x.m).
	whole ast.Expr
	// call is set for alias and address where the variable is only lent to a
	// function of the module that does not keep it.
	call *ast.CallExpr
}

// accesses finds every access of t in the module, in source order.
func (m *Module) accesses(t *target) []*access {
	var out []*access
	for _, p := range m.pkgs {
		for _, u := range p.units {
			ast.Inspect(u.file, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok || id.Name != t.name {
					return true
				}
				obj, ok := u.pkg.info.Uses[id].(*types.Var)
				if !ok || objKey(m, obj) != t.key {
					return true
				}
				e, _ := u.varOf(id)
				out = append(out, u.newAccess(e))
				return true
			})
		}
	}
	return out
}

func (u *unit) newAccess(e ast.Expr) *access {
	a := &access{unit: u, expr: e, whole: e, fn: u.fnOf(e)}
	if sel, ok := e.(*ast.SelectorExpr); ok && u.pkg.info.Selections[sel] != nil {
		a.base = sel.X
	}
	a.classify()
	return a
}

// holder is the place of the struct whose field is accessed.
func (a *access) holder() (key string, ok bool) {
	p, ok := a.unit.place(a.expr)
	if !ok || a.base == nil {
		return "", false
	}
	return strings.TrimSuffix(p.key, "."+nameOf(a.expr).Name), true
}

// classify finds mode, element and whole from what is around the expression.
func (a *access) classify() {
	u := a.unit
	var e ast.Node = a.expr
	for {
		parent := u.parents[e]
		switch p := parent.(type) {
		case *ast.ParenExpr:
			e = p
			continue
		case *ast.IndexExpr:
			if p.X == e && !isArray(u.pkg.info.TypeOf(p.X)) {
				if a.element {
					break // a second level belongs to the element
				}
				a.element, a.whole, e = true, p, p
				continue
			}
			if p.X == e {
				a.whole, e = p, p
				continue
			}
		case *ast.SelectorExpr:
			// A field of a struct value is part of the variable.
			if sel := u.pkg.info.Selections[p]; sel != nil && sel.Kind() == types.FieldVal && !isPointer(u.pkg.info.TypeOf(p.X)) {
				a.whole, e = p, p
				continue
			}
		}
		a.mode = a.modeIn(e, parent)
		return
	}
}

func (a *access) modeIn(e, parent ast.Node) mode {
	u := a.unit
	switch p := parent.(type) {
	case *ast.AssignStmt:
		if i := slices.IndexFunc(p.Lhs, func(x ast.Expr) bool { return x == e }); i >= 0 {
			if p.Tok != token.ASSIGN && p.Tok != token.DEFINE {
				return update
			}
			return write
		}
	case *ast.IncDecStmt:
		return update
	case *ast.RangeStmt:
		if p.Key == e || p.Value == e {
			return write
		}
		if p.X == e {
			return read
		}
	case *ast.UnaryExpr:
		if p.Op == token.AND {
			return a.addressMode(p)
		}
	case *ast.KeyValueExpr:
		if lit, ok := u.parents[p].(*ast.CompositeLit); ok && p.Key == e {
			if _, isStruct := structOf(u.pkg.info.TypeOf(lit)); isStruct {
				return initial
			}
		}
	case *ast.SelectorExpr:
		return a.methodMode(p)
	case *ast.CallExpr:
		return a.argumentMode(e, p)
	}
	if a.hands(e) && !comparesNil(parent) {
		return alias
	}
	return read
}

// hands reports whether e gives the map itself on, not a part of it.
func (a *access) hands(e ast.Node) bool {
	return !a.element && isMap(a.unit.pkg.info.TypeOf(a.expr)) && e == ast.Node(a.expr)
}

func comparesNil(n ast.Node) bool {
	b, ok := n.(*ast.BinaryExpr)
	return ok && (b.Op == token.EQL || b.Op == token.NEQ)
}

func (a *access) addressMode(p *ast.UnaryExpr) mode {
	call, ok := a.unit.parents[p].(*ast.CallExpr)
	if !ok {
		return address
	}
	if a.unit.atomicFunc(call) != "" {
		return atomicOp
	}
	return a.lent(call, p, address)
}

// lent returns the mode of a variable passed on to call: that of what the
// callee does with it, if the callee is known and keeps nothing; else dflt.
func (a *access) lent(call *ast.CallExpr, arg ast.Expr, dflt mode) mode {
	callee := a.unit.callee(call)
	if callee == nil {
		return dflt
	}
	args := callee.arguments(call)
	i := slices.Index(args, arg)
	if i < 0 {
		return dflt
	}
	switch callee.paramUse(i) {
	case paramRead:
		a.call, a.whole = call, call
		return read
	case paramWritten:
		a.call, a.whole = call, call
		return update
	}
	return dflt
}

// methodMode: e is the X of a selector that denotes a method or a field
// behind a pointer.
func (a *access) methodMode(p *ast.SelectorExpr) mode {
	u := a.unit
	sel := u.pkg.info.Selections[p]
	if sel == nil || sel.Kind() != types.MethodVal {
		return read
	}
	sig := sel.Obj().Type().(*types.Signature)
	byAddress := sig.Recv() != nil && isPointer(sig.Recv().Type()) && !isPointer(u.pkg.info.TypeOf(p.X))
	if !byAddress && !isMap(u.pkg.info.TypeOf(p.X)) {
		return read
	}
	dflt := alias
	if byAddress {
		dflt = address
	}
	if call, ok := u.parents[p].(*ast.CallExpr); ok && call.Fun == ast.Expr(p) {
		return a.lent(call, p.X, dflt)
	}
	return dflt
}

func (a *access) argumentMode(e ast.Node, call *ast.CallExpr) mode {
	u := a.unit
	switch {
	case call.Fun == e:
		return read
	case isBuiltin(u, call, "delete", "clear"):
		if call.Args[0] == e {
			a.element = true
			return write
		}
		return read
	case isBuiltin(u, call, "copy"):
		if call.Args[0] == e {
			a.element = true
			return write
		}
		return read
	case isBuiltin(u, call, "len", "cap"):
		a.whole = call
		return read
	}
	if arg, ok := e.(ast.Expr); ok && a.hands(e) {
		return a.lent(call, arg, alias)
	}
	return read
}

func isBuiltin(u *unit, call *ast.CallExpr, names ...string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	_, ok = u.pkg.info.Uses[id].(*types.Builtin)
	return ok && slices.Contains(names, id.Name)
}

func isArray(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// atomicFunc names the function of sync/atomic that call calls; "" if none.
func (u *unit) atomicFunc(call *ast.CallExpr) string {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if f, ok := u.pkg.info.Uses[sel.Sel].(*types.Func); ok && f.Pkg() != nil && f.Pkg().Path() == "sync/atomic" && f.Signature().Recv() == nil {
			return f.Name()
		}
	}
	return ""
}

// paramEffect is what a function does with what a parameter refers to.
type paramEffect int

const (
	paramKept    paramEffect = iota // stored, passed on or captured
	paramRead                       // only read
	paramWritten                    // read and written, not kept
)

// paramUse looks at every use of the i-th parameter (receiver first) of f. A
// parameter may only be selected from, indexed, ranged over or measured.
func (f *fn) paramUse(i int) paramEffect {
	params := f.params()
	if i >= len(params) || params[i] == nil {
		return paramRead
	}
	u, effect := f.unit, paramRead
	ast.Inspect(f.body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || u.pkg.info.Uses[id] != params[i] || effect == paramKept {
			return true
		}
		if u.fnOf(id) != f {
			effect = paramKept
			return true
		}
		if use := u.useOfParam(id); use == paramKept {
			effect = paramKept
		} else {
			effect = max(effect, use)
		}
		return true
	})
	return effect
}

func (u *unit) useOfParam(id *ast.Ident) paramEffect {
	var e ast.Expr = id
	selected := false
	for {
		switch p := u.parents[e].(type) {
		case *ast.ParenExpr:
			e = p
			continue
		case *ast.StarExpr:
			e, selected = p, true
			continue
		case *ast.SelectorExpr:
			if sel := u.pkg.info.Selections[p]; sel == nil || sel.Kind() != types.FieldVal {
				return paramKept
			}
			e, selected = p, true
			continue
		case *ast.IndexExpr:
			if p.X == e {
				e, selected = p, true
				continue
			}
		case *ast.AssignStmt:
			if slices.Contains(p.Lhs, e) {
				return paramWritten
			}
		case *ast.IncDecStmt:
			return paramWritten
		case *ast.RangeStmt:
			if p.X == e {
				return paramRead
			}
		case *ast.UnaryExpr:
			if p.Op == token.AND {
				return paramKept
			}
		case *ast.CallExpr:
			if isBuiltin(u, p, "len", "cap") {
				return paramRead
			}
			if isBuiltin(u, p, "delete", "clear", "copy") && p.Args[0] == e {
				return paramWritten
			}
		}
		if selected {
			return paramRead
		}
		return paramKept
	}
}

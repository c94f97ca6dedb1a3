package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Mode is what an access does to the variable.
type Mode int

const (
	Read    Mode = iota
	Write        // x.f = v
	Update       // x.f++, x.f += v: one load and one store
	Address      // &x.f, or an implicit & for a method with pointer receiver
	Alias        // a map or slice handed on as it is
	Atomic       // argument of a function of sync/atomic
	Initial      // key of a composite literal
)

// Writes reports whether the access assigns to the variable.
func (m Mode) Writes() bool { return m == Write || m == Update }

// Access is one access of a variable.
type Access struct {
	File     *File
	Function *Function // nil at package level
	Expr     ast.Expr  // x.f, or the identifier
	Base     ast.Expr  // x; nil for package variables and locals
	Mode     Mode
	// Element: a map entry or slice element is accessed through the variable.
	Element bool
	// Whole is the smallest expression that is done with the variable and its
	// contents: x.f, x.m[k], x.stats.n, len(x.m).
	Whole ast.Expr
	// Promoted: Expr is the struct that embeds the variable, whose method is called through it.
	Promoted bool
	// Call is set for Alias and Address where the variable is only lent to a
	// function of the module that does not keep it.
	Call *ast.CallExpr
}

// Accesses finds every access of t in the module, in source order.
func (m *Module) Accesses(t *Variable) []*Access {
	var out []*Access
	for _, p := range m.Packages {
		for _, file := range p.Files {
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok || id.Name != t.Name {
					return true
				}
				obj, ok := file.Package.Info.Uses[id].(*types.Var)
				if !ok || ObjectKey(m, obj) != t.Key {
					return true
				}
				e, _ := file.VariableOf(id)
				a := file.newAccess(e)
				if t.Within && a.Mode != Initial {
					a.lookWithin()
				}
				out = append(out, a)
				return true
			})
			if t.Within && t.Object.Embedded() {
				out = append(out, file.promoted(t)...)
			}
		}
	}
	return out
}

func (file *File) newAccess(e ast.Expr) *Access {
	a := &Access{File: file, Expr: e, Whole: e, Function: file.FunctionOf(e)}
	if sel, ok := e.(*ast.SelectorExpr); ok && file.Package.Info.Selections[sel] != nil {
		a.Base = sel.X
	}
	a.classify()
	return a
}

// HolderKey is the place of the struct whose field is accessed.
func (a *Access) HolderKey() (key string, ok bool) {
	p, ok := a.File.PathOf(a.Expr)
	if !ok || a.Base == nil {
		return "", false
	}
	if a.Promoted {
		return p.Key, true
	}
	return strings.TrimSuffix(p.Key, "."+NameOf(a.Expr).Name), true
}

// classify finds mode, element and whole from what is around the expression.
func (a *Access) classify() {
	file := a.File
	var e ast.Node = a.Expr
	for {
		parent := file.Parents[e]
		switch p := parent.(type) {
		case *ast.ParenExpr:
			e = p
			continue
		case *ast.IndexExpr:
			if p.X == e && !isArray(file.TypeOf(p.X)) {
				if a.Element {
					break // a second level belongs to the element
				}
				a.Element, a.Whole, e = true, p, p
				continue
			}
			if p.X == e {
				a.Whole, e = p, p
				continue
			}
		case *ast.SliceExpr:
			// copy(x.a[:], y): the elements of an array are its own
			if call, ok := file.Parents[p].(*ast.CallExpr); ok && p.X == e && isArray(file.TypeOf(p.X)) &&
				IsBuiltin(file, call, "copy") {
				if a.Mode, a.Whole = Read, call; call.Args[0] == ast.Expr(p) {
					a.Mode = Write
				}
				return
			}
		case *ast.SelectorExpr:
			// A field of a struct value is part of the variable.
			if sel := file.Package.Info.Selections[p]; sel != nil && sel.Kind() == types.FieldVal &&
				!IsPointer(file.TypeOf(p.X)) {
				a.Whole, e = p, p
				continue
			}
		}
		a.Mode = a.modeIn(e, parent)
		return
	}
}

func (a *Access) modeIn(e, parent ast.Node) Mode {
	file := a.File
	switch p := parent.(type) {
	// x.f = v, x.f += v
	case *ast.AssignStmt:
		if i := slices.IndexFunc(p.Lhs, func(x ast.Expr) bool { return x == e }); i >= 0 {
			if p.Tok != token.ASSIGN && p.Tok != token.DEFINE {
				return Update
			}
			return Write
		}
	case *ast.IncDecStmt:
		return Update
	// for x.f = range …, for range x.f
	case *ast.RangeStmt:
		if p.Key == e || p.Value == e {
			return Write
		}
		if p.X == e {
			return Read
		}
	// &x.f
	case *ast.UnaryExpr:
		if p.Op == token.AND {
			return a.addressMode(p)
		}
	// T{f: v}
	case *ast.KeyValueExpr:
		if lit, ok := file.Parents[p].(*ast.CompositeLit); ok && p.Key == e {
			if _, isStruct := StructOf(file.TypeOf(lit)); isStruct {
				return Initial
			}
		}
	// x.f.method, x.f.field behind a pointer
	case *ast.SelectorExpr:
		return a.methodMode(p)
	// g(x.f), len(x.f), x.f()
	case *ast.CallExpr:
		return a.argumentMode(e, p)
	}
	if a.isWholeMap(e) && !IsComparison(parent) {
		return Alias
	}
	return Read
}

// isWholeMap reports whether e passes the map itself on, not a part of it.
func (a *Access) isWholeMap(e ast.Node) bool {
	return !a.Element && IsMap(a.File.TypeOf(a.Expr)) && e == ast.Node(a.Expr)
}

func (a *Access) addressMode(p *ast.UnaryExpr) Mode {
	call, ok := a.File.Parents[p].(*ast.CallExpr)
	if !ok {
		return Address
	}
	if a.File.atomicFunc(call) != "" {
		return Atomic
	}
	return a.modeInCallee(call, p, Address)
}

// methodMode: e is the X of a selector that denotes a method or a field
// behind a pointer.
func (a *Access) methodMode(p *ast.SelectorExpr) Mode {
	file := a.File
	sel := file.Package.Info.Selections[p]
	if sel == nil || sel.Kind() != types.MethodVal {
		return Read
	}
	sig := sel.Obj().Type().(*types.Signature)
	byAddress := sig.Recv() != nil && IsPointer(sig.Recv().Type()) && !IsPointer(file.TypeOf(p.X))
	if !byAddress && !IsMap(file.TypeOf(p.X)) {
		return Read
	}
	dflt := Alias
	if byAddress {
		dflt = Address
	}
	if call, ok := file.Parents[p].(*ast.CallExpr); ok && call.Fun == ast.Expr(p) {
		return a.modeInCallee(call, p.X, dflt)
	}
	return dflt
}

func (a *Access) argumentMode(e ast.Node, call *ast.CallExpr) Mode {
	file := a.File
	switch {
	case call.Fun == e:
		return Read
	case IsBuiltin(file, call, "delete", "clear"):
		if call.Args[0] == e {
			a.Element = true
			return Write
		}
		return Read
	case IsBuiltin(file, call, "copy"):
		if call.Args[0] == e {
			a.Element = true
			return Write
		}
		return Read
	case IsBuiltin(file, call, "len", "cap"):
		a.Whole = call
		return Read
	}
	if arg, ok := e.(ast.Expr); ok && a.isWholeMap(e) {
		return a.modeInCallee(call, arg, Alias)
	}
	return Read
}

// Outermost is the function whose regions an access belongs to: literals that
// run on the spot are part of what is around them.
func (a *Access) Outermost() *Function {
	f := a.Function
	for f != nil && f.Outer != nil && f.File.RunsAt(f) != nil {
		f = f.Outer
	}
	return f
}

// Places returns where accesses are, for notes and reasons: at most three places.
func Places(accs []*Access) string {
	var out []string
	for i, a := range accs {
		if i == 3 {
			out = append(out, fmt.Sprintf("and %d more", len(accs)-3))
			break
		}
		out = append(out, a.File.At(a.Expr))
	}
	return strings.Join(out, ", ")
}

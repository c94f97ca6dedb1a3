package sites

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"hash/fnv"
	"slices"
	"strings"
)

// LockUse is a call of a method by which a lock is acquired or released, or a method value
// of one: x.mu.Lock(), defer c.RUnlock(), unlock := mu.Unlock.
type LockUse struct {
	// ID is that of the place, in all builds of the module; not 0. It is odd for a lock that
	// one goroutine may acquire and another one release.
	ID       uint64
	File     *ast.File
	Selector *ast.SelectorExpr
	Kind     LockKind
	// Through are the embedded fields on the way from the operand to the lock, with dots
	// between, or "".
	Through string
	Pointer bool           // the operand, or the last field on the way, is a pointer to the lock
	Place   token.Position // of the selector; its file is relative to the module's root
	// Function is that around it: "F", "(*T).M", "F.func1".
	Function string
	// Lock names the lock in all instances, by where its field or variable is declared: a field of a generic
	// type by that of the type's origin, an element of a list by the list. A lock that is reached through a
	// pointer variable or a parameter has the name of that.
	Lock string
}

// LockKind is the type of a lock.
type LockKind string

const (
	Mutex   LockKind = "Mutex"
	RWMutex LockKind = "RWMutex"
	Locker  LockKind = "Locker" // the interface
)

// lockMethods are those by which locks are acquired and released.
var lockMethods = []string{"Lock", "Unlock", "RLock", "RUnlock", "TryLock", "TryRLock"}

// LockUses returns the uses of locks of package sync in pkgs, package by package and file by file, in the order of
// the text. Those in files that import "C" and in functions with a directive that forbids calls are left out. The
// packages are all that are instrumented: which locks may be handed over depends on all of them.
//
// Missed: locks reached through an interface other than sync.Locker or an embedded field that
// cannot be named here, and method expressions.
func LockUses(pkgs []*Package) map[*Package][]LockUse {
	uses := map[*Package][]LockUse{}
	handed := findHandovers(pkgs)
	for _, p := range pkgs {
		uses[p] = lockUsesOf(p)
		for i := range uses[p] {
			if handed.loose[uses[p][i].Lock] {
				uses[p][i].ID |= 1
			}
		}
	}
	return uses
}

func lockUsesOf(p *Package) []LockUse {
	var all []LockUse
	names := newClosureNames()
	for _, f := range p.Files {
		w := &walker{pkg: p, info: p.Info, file: f, names: names, linknames: linknames(f), cgo: importsC(f)}
		for _, d := range f.Decls {
			w.fn = "init"
			fn, isFunc := d.(*ast.FuncDecl)
			if isFunc {
				w.fn = names.declared(fn)
			}
			if !w.cgo && !(isFunc && neverInstrument(fn, w.linknames)) {
				all = append(all, w.lockUsesIn(d)...)
			}
		}
	}
	return all
}

// lockUsesIn returns the uses of locks in n, a node of the function w.fn.
func (w *walker) lockUsesIn(n ast.Node) (all []LockUse) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			outer := w.fn
			w.fn = w.names.closure(outer)
			all = append(all, w.lockUsesIn(n.Body)...)
			w.fn = outer
			return false
		case *ast.SelectorExpr:
			if use, ok := w.lockUse(n); ok {
				all = append(all, use)
			}
		}
		return true
	})
	return all
}

// lockUse returns the use of a lock that e is.
func (w *walker) lockUse(e *ast.SelectorExpr) (use LockUse, ok bool) {
	sel := w.info.Selections[e]
	if sel == nil || sel.Kind() != types.MethodVal || !slices.Contains(lockMethods, e.Sel.Name) {
		return use, false
	}
	recv := types.Unalias(sel.Obj().(*types.Func).Signature().Recv().Type())
	if p, isPointer := recv.(*types.Pointer); isPointer {
		recv = types.Unalias(p.Elem())
	}
	named, isNamed := recv.(*types.Named)
	if !isNamed || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != "sync" {
		return use, false
	}
	switch use.Kind = LockKind(named.Obj().Name()); use.Kind {
	case Mutex, RWMutex, Locker:
	default:
		return use, false
	}
	t, path, ok := w.throughFields(sel)
	if !ok {
		return use, false
	}
	use.Through, use.Pointer = path, isPointer(t)
	use.File, use.Selector, use.Function = w.file, e, w.fn
	use.Place = w.position(e.Pos())
	use.Place.Filename = w.relative(use.Place.Filename)
	use.ID = lockID(use.Place, w.position(e.End()))
	use.Lock = w.lockOf(e, sel)
	return use, true
}

// throughFields returns the embedded fields between the operand of a method and the type that has
// it, and the type of the last of them. It is not ok if one has no name here.
func (w *walker) throughFields(sel *types.Selection) (t types.Type, path string, ok bool) {
	t = sel.Recv()
	var names []string
	index := sel.Index()
	for _, n := range index[:len(index)-1] {
		st := structOf(t)
		if st == nil {
			return nil, "", false
		}
		f := st.Field(n)
		if !f.Exported() && f.Pkg() != w.pkg.Types {
			return nil, "", false
		}
		names, t = append(names, f.Name()), f.Type()
	}
	return t, strings.Join(names, "."), true
}

// lockID makes a number of a place, the same in each build.
func lockID(from, to token.Position) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s:%d:%d-%d:%d", from.Filename, from.Line, from.Column, to.Line, to.Column)
	return max(h.Sum64()&^1, 2)
}

// lockOf names the lock of a use in all instances: by the embedded field or else by the operand.
func (w *walker) lockOf(e *ast.SelectorExpr, sel *types.Selection) string {
	if index := sel.Index(); len(index) > 1 {
		t := sel.Recv()
		for _, n := range index[:len(index)-2] {
			t = structOf(t).Field(n).Type()
		}
		return w.placeName(structOf(t).Field(index[len(index)-2]).Origin())
	}
	return w.operandName(e.X)
}

func (w *walker) operandName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return w.operandName(e.X)
	case *ast.StarExpr:
		return w.operandName(e.X)
	case *ast.IndexExpr:
		return w.operandName(e.X) + "[]"
	case *ast.Ident:
		if v, ok := w.info.Uses[e].(*types.Var); ok {
			return w.placeName(v.Origin())
		}
	case *ast.SelectorExpr:
		if v, ok := w.info.Uses[e.Sel].(*types.Var); ok {
			return w.placeName(v.Origin())
		}
	}
	return types.ExprString(e)
}

// placeName names a variable by where it is declared.
func (w *walker) placeName(v *types.Var) string { return w.position(v.Pos()).String() }

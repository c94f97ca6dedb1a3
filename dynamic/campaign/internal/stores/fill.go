// Package stores judges by the source whether a store that was lost, or made twice, is more
// than two goroutines that have stored the same.
package stores

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Two goroutines that find a cache empty, compute the same value and both store
// it split each other's section and do no harm. So an end that replaces what the
// other goroutine has stored counts only where the two are known to differ: by
// what the monitor read of them, and by what their type says about equality.

// Source is what the stores of a plan are read in.
type Source struct {
	Plan     *plan.Plan
	Packages []*sites.Package // with their syntax
}

// store is what the source says about the write that ends a section.
type store struct {
	how      storeKind
	value    types.Type // of what is stored
	constant bool       // the same in every goroutine, such as true
}

type storeKind int

const (
	unknownStore storeKind = iota
	update                 // builds on what is there: x++, n.Add(1)
	removal                // delete(m, k)
	replacement            // puts a value in its place: x = v, m[k] = v, p.Store(v)
	answer                 // an update whose result goes on, so that the code behind may ask for it: i := n.Add(1)
	returned               // an answer that is the result of the function: return int(n.Add(1))
)

// Lost reports whether what the split changed is more than that two goroutines have
// stored the same: it is false where that is not known.
func (src *Source) Lost(section *plan.Section, s *evidence.SplitSection) bool {
	if s.End == nil || !s.End.Write || src.Plan.Site(s.End.Site).Variable != src.Plan.Site(section.Entry).Variable {
		return true // what was asked at the entry decides about something else
	}
	if section.Length && s.Overturned && s.Stored != nil && !slices.Equal(s.Replaced, s.Stored) {
		return true // the limit was passed, and the end has gone further
	}
	st := src.storeAt(src.Plan.Site(s.End.Site))
	alike := section.Kind == plan.TestAndUse && s.Overturned && s.Remote.Site == s.End.Site // both have done the same
	switch {
	case alike && (st.constant || st.how == removal) && !src.repeats(section, s):
		return false
	case st.how == update, st.how == removal, st.how == returned && src.isDropped(s.End):
		return !src.looksAgain(section, s)
	case section.Kind != plan.TestAndUse:
		// What was loaded goes into what is stored, so that a lost store is lost, but
		// for texts that both goroutines may have made alike: f(f(x)) == f(x).
		return st.value == nil || !isText(st.value) || s.Remote.Site != s.End.Site || src.differ(st.value, s)
	case st.how == unknownStore, st.how == answer, st.how == returned:
		return false
	case st.constant:
		// That a flag is set twice is nothing. What it stands before is, as the static
		// finding says.
		return section.Finding != "" && !section.Lead && s.Overturned && src.repeats(section, s)
	}
	return src.differ(st.value, s)
}

// differ reports whether what the end replaced and what it stored, values of the
// type, are known not to be equal.
func (src *Source) differ(of types.Type, s *evidence.SplitSection) bool {
	if s.Stored == nil {
		return false
	}
	if s.Replaced == nil { // the key was gone
		return true
	}
	return src.unequal(of, s.Replaced, s.Stored)
}

// unequal compares the first words of two values. What lies behind pointers was
// not read: two objects differ if they may change, since then it matters which of
// them goes on to be used, and may be equal if not.
func (src *Source) unequal(of types.Type, a, b []uint64) bool {
	if slices.Equal(a, b) {
		return false
	}
	switch u := of.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer && (!isText(of) || lengthsDiffer(a, b))
	case *types.Slice:
		return lengthsDiffer(a, b)
	case *types.Map:
		return src.mapsChange(of)
	case *types.Chan:
		return true
	case *types.Pointer:
		return src.changes(u.Elem())
	case *types.Struct, *types.Array:
		return plainMemory(of)
	}
	return false
}

// lengthsDiffer compares the second words of two strings or slices.
func lengthsDiffer(a, b []uint64) bool { return len(a) > 1 && len(b) > 1 && a[1] != b[1] }

func isText(of types.Type) bool {
	b, ok := of.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// plainMemory reports whether values of the type are equal only if their memory is:
// no pointers, no padding that counts, no blank fields.
func plainMemory(of types.Type) bool {
	switch u := of.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsInteger|types.IsBoolean) != 0
	case *types.Array:
		return plainMemory(u.Elem())
	case *types.Struct:
		var size int64
		for f := range u.Fields() {
			if f.Name() == "_" || !plainMemory(f.Type()) {
				return false
			}
			size += memory.Sizeof(f.Type())
		}
		return size == memory.Sizeof(of)
	}
	return false
}

// memory lays values out as the systems do that the monitor runs on.
var memory = types.SizesFor("gc", "amd64")

// changes reports whether objects of the type are known to change once others can
// reach them: some monitored code writes a field, or there is a lock, an atomic, a
// channel or a map that changes in them.
func (src *Source) changes(of types.Type) bool {
	n, ok := types.Unalias(of).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return false
	}
	st, ok := n.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range st.Fields() {
		if madeToChange(f.Type()) || isMap(f.Type()) && src.mapsChange(f.Type()) {
			return true
		}
	}
	return slices.ContainsFunc(src.Plan.Sites, func(s plan.Site) bool {
		v := s.Variable
		writes := s.Mode != plan.Read && s.Mode != plan.AtomicRead
		return s.Decision == plan.Monitor && writes && v.Package == n.Obj().Pkg().Path() &&
			v.Type == finding.TypeName(n.Obj()) && !src.inCall(&s, worksOut) && !src.inCall(&s, appends) &&
			!src.inMaking(&s)
	})
}

// inCall reports whether the site lies in the first argument of a call of that kind.
func (src *Source) inCall(site *plan.Site, is func(*types.Info, *ast.CallExpr) bool) (found bool) {
	for _, p := range src.Packages {
		for _, f := range p.Files {
			if !IsFile(p, f, site.File) {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if n == nil || !covers(p.Fset, n, site) {
					return false
				}
				call, ok := n.(*ast.CallExpr)
				found = found || ok && len(call.Args) > 0 && covers(p.Fset, call.Args[0], site) && is(p.Info, call)
				return true
			})
		}
	}
	return found
}

// worksOut reports whether the call is of the Do of a sync.Once: what each object works out once for itself does not
// make two that were made alike different.
func worksOut(info *types.Info, call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, isFunc := info.Uses[sel.Sel].(*types.Func)
	return isFunc && fn.FullName() == "(*sync.Once).Do"
}

// appends reports whether the call is of append, which writes behind the end of a list: the object that holds the
// list changes where the longer one is stored. Behind the end of a part of it, elements are replaced.
func appends(info *types.Info, call *ast.CallExpr) bool {
	fun, ok := ast.Unparen(call.Fun).(*ast.Ident)
	_, part := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
	return ok && !part && info.Uses[fun] == types.Universe.Lookup("append")
}

func madeToChange(of types.Type) bool {
	if _, ok := of.Underlying().(*types.Chan); ok {
		return true
	}
	n, ok := types.Unalias(of).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return false
	}
	path := n.Obj().Pkg().Path()
	return path == "sync/atomic" || path == "sync" && n.Obj().Name() != "Once"
}

// storeAt finds the statement that makes the write at a site.
func (src *Source) storeAt(site *plan.Site) (found store) {
	for _, p := range src.Packages {
		for _, f := range p.Files {
			if !IsFile(p, f, site.File) {
				continue
			}
			var dropped ast.Node // the call whose result nobody takes
			var result ast.Node  // the call whose result is that of the function
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

// storeOf returns what kind of write at the site the node makes, if it makes it.
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
				return store{replacement, p.Info.TypeOf(e), false}
			default:
				return store{replacement, p.Info.TypeOf(e), isConstant(p, n.Rhs[i])}
			}
		}
	case *ast.CallExpr:
		return storeOfCall(p, n)
	}
	return store{}
}

// storeOfCall is storeOf for delete, clear, copy and the functions of sync/atomic.
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
		case f == nil || f.Pkg() == nil || f.Pkg().Path() != "sync/atomic":
		case strings.HasPrefix(f.Name(), "Store") && len(call.Args) > 0:
			v := call.Args[len(call.Args)-1]
			return store{replacement, p.Info.TypeOf(v), isConstant(p, v)}
		default:
			return store{how: answer}
		}
	}
	return store{}
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

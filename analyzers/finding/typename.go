package finding

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
	"sync/atomic"
)

// TypeName returns the text of Variable.Type for a named type: its name within its package. A type that a
// function declares has the function's name before it, as two functions may each declare a type of one name:
//
//	func TestPut(t *testing.T) {
//		type box struct{ n int } // TestPut.box
//
// Types that export data brings are declared outside of functions, or have a name of the compiler's that no
// other type has.
func TypeName(obj *types.TypeName) string {
	if obj.Pkg() == nil || obj.Parent() == nil || obj.Parent() == obj.Pkg().Scope() {
		return obj.Name()
	}
	if fn := declarerOf(obj); fn != "" {
		return fn + "." + obj.Name()
	}
	return obj.Name()
}

// declarerOf returns the name of the function or method within which obj is declared: "F", or "T.M"; "" for one
// that has no name to look up (init, a closure that initialises a package variable).
func declarerOf(obj *types.TypeName) string {
	d := lastDeclarers.Load()
	if d == nil || d.pkg != obj.Pkg() {
		d = declarersOf(obj.Pkg())
		lastDeclarers.Store(d)
	}
	byEnd := func(f declarer, pos token.Pos) int { return cmp.Compare(f.end, pos) }
	i, _ := slices.BinarySearchFunc(d.list, obj.Pos(), byEnd)
	if i < len(d.list) && d.list[i].start <= obj.Pos() {
		return d.list[i].name
	}
	return ""
}

// declarers are the functions and methods of a package, in the order of the source.
type declarers struct {
	pkg  *types.Package
	list []declarer
}

type declarer struct {
	start, end token.Pos
	name       string
}

// lastDeclarers are those of the package that was asked for last.
var lastDeclarers atomic.Pointer[declarers]

func declarersOf(pkg *types.Package) *declarers {
	d := &declarers{pkg: pkg}
	add := func(fn *types.Func, name string) {
		if s := fn.Scope(); s != nil && s.Pos().IsValid() {
			d.list = append(d.list, declarer{s.Pos(), s.End(), name})
		}
	}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		switch o := scope.Lookup(name).(type) {
		case *types.Func:
			add(o, name)
		case *types.TypeName:
			n, ok := o.Type().(*types.Named)
			for i := 0; ok && i < n.NumMethods(); i++ {
				add(n.Method(i), name+"."+n.Method(i).Name())
			}
		}
	}
	slices.SortFunc(d.list, func(a, b declarer) int { return cmp.Compare(a.start, b.start) })
	return d
}

package finding

import "go/types"

// TypeName returns what Variable.Type says of a named type: its name within its package. A type that a function
// declares has the function's name before it, as two functions may each declare a type of one name:
//
//	func TestPut(t *testing.T) {
//		type box struct{ n int } // TestPut.box
//
// Types that export data brings are declared outside of functions, or have a name of the compiler's that no other
// type has.
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
	scope := obj.Pkg().Scope()
	for _, name := range scope.Names() {
		switch o := scope.Lookup(name).(type) {
		case *types.Func:
			if contains(o, obj) {
				return o.Name()
			}
		case *types.TypeName:
			n, ok := o.Type().(*types.Named)
			for i := 0; ok && i < n.NumMethods(); i++ {
				if contains(n.Method(i), obj) {
					return o.Name() + "." + n.Method(i).Name()
				}
			}
		}
	}
	return ""
}

// contains reports whether the body of fn declares obj.
func contains(fn *types.Func, obj *types.TypeName) bool {
	return fn.Scope() != nil && fn.Scope().Contains(obj.Pos())
}

// Package library is the part of the table of library functions (analyzers/internal/knowledge) that the dynamic side
// needs. Its tables are generated; library.go asks them.
package library

import "go/types"

// HandsOverNothing reports whether a library function neither sends, receives, closes, starts a goroutine nor stores by
// sync/atomic, except through the functions that it is handed.
func HandsOverNothing(fn *types.Func) bool { return entry(handsOverNothing, fn) }

// entry returns the entry of a table for a function or method; false where it has none. Names are p of a package, p.F
// of a function, p.T.M of a method, p.*.M of the method M of any type, p.T.* of all methods of a type, p.*.* of all
// methods. The most exact one counts, in this order.
func entry(table map[string]bool, fn *types.Func) bool {
	pkg := fn.Pkg().Path()
	names := []string{pkg + "." + fn.Name(), pkg}
	if recv := fn.Signature().Recv(); recv != nil {
		typ := typeName(recv.Type())
		names = []string{
			pkg + "." + typ + "." + fn.Name(), pkg + ".*." + fn.Name(), pkg + "." + typ + ".*", pkg + ".*.*", pkg,
		}
	}
	for _, name := range names {
		if is, ok := table[name]; ok {
			return is
		}
	}
	return false
}

// typeName returns the name of a named type, or of the one that a pointer points to; "" for others.
func typeName(t types.Type) string {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

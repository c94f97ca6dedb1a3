package region

import (
	"go/ast"
	"strings"
)

// Calls reports whether a call on the line is one of the function, as a stack names it, and is made there and then. A
// literal has no name to be called by: any call may be one of it. Where the function around the line defers a call that
// may be this one, nobody knows.
func (f *File) Calls(line int, function string) bool {
	body, _ := f.innermost(line)
	if body == nil {
		return false
	}
	function = strings.TrimSuffix(strings.ReplaceAll(function, "[...]", ""), "-fm")
	name := function[strings.LastIndexByte(function, '.')+1:]
	if strings.Contains(function, ".func") {
		name = ""
	}
	calls, deferred := false, false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeferStmt:
			deferred = deferred || named(n.Call, name)
			return false
		case *ast.GoStmt:
			return false
		case *ast.CallExpr:
			calls = calls || holds(f.fset, n, line) && named(n, name)
		}
		return true
	})
	return calls && !deferred
}

// named reports whether a call may be one of a function of that name. Every call may be one of a literal, which has
// none, unless it is one of a method.
func named(call *ast.CallExpr, name string) bool {
	fun := ast.Unparen(call.Fun)
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	switch fun := fun.(type) {
	case *ast.SelectorExpr:
		return fun.Sel.Name == name
	case *ast.Ident:
		return name == "" || fun.Name == name
	}
	return name == ""
}

// Package handover knows which code may hand work over to other goroutines.
//
// A goroutine in an atomic section may have others work for it and wait for them. Their
// accesses are not remote, and the monitor cannot tell them from remote ones. A statement
// hands over if it sends, receives, closes a channel, starts a goroutine, stores by
// sync/atomic, or calls a function that may do so. A function is quiet, that is, does none of this,
// if its text shows it or the table of the library has it; all others may hand over.
package handover

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
	"github.com/interlock-go/interlock/dynamic/internal/library"
)

// Quiet returns the full names of those functions of pkgs that do not hand over. It
// looks at each body once and then at each call once, from the callee.
func Quiet(pkgs []*sites.Package) map[string]bool {
	callers, loud := map[string][]string{}, map[string]bool{}
	var spread []string
	quiet := map[string]bool{}
	// Each body by itself: one that hands over is loud, even if all that it calls is quiet.
	for _, p := range pkgs {
		for _, f := range p.Files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				name := fullName(p.Info.Defs[fn.Name].(*types.Func))
				quiet[name] = true
				hands := Scan(p.Info, fn.Body, func(callee string) bool {
					callers[callee] = append(callers[callee], name)
					return false
				})
				if hands && !loud[name] {
					loud[name] = true
					spread = append(spread, name)
				}
			}
		}
	}
	// Functions without a body here may do anything.
	for callee := range callers {
		if !quiet[callee] {
			spread = append(spread, callee)
		}
	}
	// Callers of loud functions are loud.
	for len(spread) > 0 {
		name := spread[len(spread)-1]
		spread = spread[:len(spread)-1]
		delete(quiet, name)
		for _, caller := range callers[name] {
			if !loud[caller] {
				loud[caller] = true
				spread = append(spread, caller)
			}
		}
	}
	return quiet
}

func fullName(f *types.Func) string { return f.Origin().FullName() }

// Scan reports whether n may hand over. calls reports it of the functions that n calls,
// except those of the tables. The bodies of closures count.
func Scan(info *types.Info, n ast.Node, calls func(callee string) bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt, *ast.SelectStmt, *ast.GoStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.RangeStmt:
			found = found || RangesOverOthers(info, n)
		case *ast.CallExpr:
			found = callHandsOver(info, n, calls) || found
		}
		return true
	})
	return found
}

// RangesOverOthers reports whether s receives from a channel or calls a function.
func RangesOverOthers(info *types.Info, s *ast.RangeStmt) bool {
	switch source.Under(info.TypeOf(s.X)).(type) {
	case *types.Chan, *types.Signature, *types.TypeParam, *types.Interface:
		return true
	}
	return false
}

func callHandsOver(info *types.Info, c *ast.CallExpr, calls func(callee string) bool) bool {
	if info.Types[c.Fun].IsType() {
		return false
	}
	if b := sites.Builtin(info, c.Fun); b != "" {
		return b == "close"
	}
	if _, ok := ast.Unparen(c.Fun).(*ast.FuncLit); ok {
		return false // its body counts
	}
	f := calledFunc(info, c)
	switch {
	case f == nil:
		return true
	case slices.Contains(lockNames, f.Name()):
		return false
	case f.Pkg() == nil: // error.Error
		return true
	case isKnownQuiet(f):
		// It may call its arguments.
		return slices.ContainsFunc(c.Args, func(arg ast.Expr) bool {
			_, literal := ast.Unparen(arg).(*ast.FuncLit)
			_, function := source.Under(info.TypeOf(arg)).(*types.Signature)
			return function && !literal
		})
	}
	if r := f.Signature().Recv(); r != nil && types.IsInterface(r.Type()) {
		return dispatches(f, calls)
	}
	return calls(fullName(f))
}

// dispatches reports whether a call of the interface's method f may hand over. A method
// with an unexported name is declared in the interface's own package, whichever type has
// it; others may be declared anywhere.
func dispatches(f *types.Func, calls func(callee string) bool) bool {
	if f.Exported() {
		return true
	}
	found, loud := false, false
	for _, name := range f.Pkg().Scope().Names() {
		named, ok := f.Pkg().Scope().Lookup(name).Type().(*types.Named)
		if !ok || types.IsInterface(named) {
			continue
		}
		for m := range named.Methods() {
			if m.Name() == f.Name() {
				found, loud = true, calls(fullName(m)) || loud
			}
		}
	}
	return loud || !found
}

// calledFunc returns the declared function or method that c calls, or nil.
func calledFunc(info *types.Info, c *ast.CallExpr) *types.Func {
	fun := ast.Unparen(c.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = ast.Unparen(x.X)
	case *ast.IndexListExpr:
		fun = ast.Unparen(x.X)
	}
	var id *ast.Ident
	switch x := fun.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	default:
		return nil
	}
	f, _ := info.Uses[id].(*types.Func)
	return f
}

// mayRunModule reports whether code of the module may run in the call.
func mayRunModule(info *types.Info, c *ast.CallExpr) bool {
	if info.Types[c.Fun].IsType() || sites.Builtin(info, c.Fun) != "" {
		return false
	}
	f := calledFunc(info, c)
	if f == nil || f.Pkg() == nil || f.Pkg().Path() != "sync/atomic" && !isKnownQuiet(f) {
		return true
	}
	return slices.ContainsFunc(c.Args, func(arg ast.Expr) bool {
		_, function := source.Under(info.TypeOf(arg)).(*types.Signature)
		return function
	})
}

// lockNames are those of methods that lock and unlock, in whichever type.
var lockNames = []string{"Lock", "Unlock", "RLock", "RUnlock", "TryLock", "TryRLock"}

// isKnownQuiet reports whether the table of the library has it that f hands nothing over.
func isKnownQuiet(f *types.Func) bool { return library.HandsOverNothing(f) }

// IsAtomic reports whether the full name is that of a function of sync/atomic.
func IsAtomic(name string) bool {
	const path = "sync/atomic."
	for i := 0; i+len(path) <= len(name) && i <= 2; i++ {
		if name[i:i+len(path)] == path {
			return true
		}
	}
	return false
}

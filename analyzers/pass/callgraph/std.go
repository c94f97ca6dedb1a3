package callgraph

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
)

// stdUse returns what a function of the standard library does with functions
// handed to it.
func stdUse(fn *ssa.Function) (use, bool) {
	if fn.Pkg == nil && fn.Object() == nil {
		return use{}, false
	}
	pkg := fn.Package()
	path := ""
	if pkg != nil {
		path = pkg.Pkg.Path()
	} else if obj := fn.Object(); obj.Pkg() != nil {
		path = obj.Pkg().Path()
	}
	how, ok := knowledge.CallbackOf(path, fn.Name())
	return use{called: how == knowledge.Called, started: how == knowledge.Started}, ok
}

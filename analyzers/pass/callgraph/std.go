package callgraph

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// stdUse returns how a function of the standard library uses functions that are
// handed to it.
func stdUse(fn *ssa.Function) (use, bool) {
	how, ok := knowledge.CallbackOf(ir.Declared(fn))
	return use{called: how == knowledge.Called, started: how == knowledge.Started}, ok
}

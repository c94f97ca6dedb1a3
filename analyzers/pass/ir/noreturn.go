package ir

import (
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
)

// noReturn is the fact that a function never returns. It is ctrlflow's own
// under another name: a driver that runs both passes takes each fact type
// from one analyzer only.
type noReturn struct{}

func (*noReturn) AFact()         {}
func (*noReturn) String() string { return "noReturn" }

// noReturns runs ctrlflow over the package, with facts of our own and a table
// in place of the standard library's.
func noReturns(pass *analysis.Pass) func(*types.Func) bool {
	sub := *pass
	sub.Analyzer = ctrlflow.Analyzer
	sub.ImportObjectFact = func(obj types.Object, _ analysis.Fact) bool {
		return stdNeverReturns(obj) || pass.ImportObjectFact(obj, new(noReturn))
	}
	sub.ExportObjectFact = func(obj types.Object, _ analysis.Fact) {
		pass.ExportObjectFact(obj, new(noReturn))
	}
	cfgs, err := ctrlflow.Analyzer.Run(&sub)
	if err != nil {
		panic(err) // ctrlflow has no way to fail
	}
	return cfgs.(*ctrlflow.CFGs).NoReturn
}

// stdNeverReturns reports whether obj is a function of the standard library
// that never returns.
func stdNeverReturns(obj types.Object) bool {
	fn, _ := obj.(*types.Func)
	return knowledge.NeverReturns(fn)
}

package ir

import (
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
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

// stdNeverReturns is the table: package path and name of the function or method.
func stdNeverReturns(obj types.Object) bool {
	if obj.Pkg() == nil {
		return false
	}
	switch obj.Pkg().Path() {
	case "os", "syscall":
		return obj.Name() == "Exit"
	case "runtime":
		return obj.Name() == "Goexit"
	case "log":
		switch obj.Name() {
		case "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln":
			return true
		}
	case "testing":
		switch obj.Name() {
		case "Fatal", "Fatalf", "FailNow", "Skip", "Skipf", "SkipNow":
			return true
		}
	}
	return false
}

package callgraph_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/passtest"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
)

// Each call of the fixture may run all that its comment lists, and no more.
func TestConservative(t *testing.T) {
	passtest.Run(t, callgraph.Analyzer, func(l *passtest.Line) string {
		return names(l, (*callgraph.Conservative).Runs)
	}, "conservative")
}

// The library of each call of the fixture may call all that its comment lists, and no more.
func TestCalledBack(t *testing.T) {
	passtest.Run(t, callgraph.Analyzer, func(l *passtest.Line) string {
		return names(l, (*callgraph.Conservative).CalledBack)
	}, "calledback")
}

// names lists the functions that the calls of a line run, by ask.
func names(l *passtest.Line, ask func(*callgraph.Conservative, ssa.CallInstruction) []*ssa.Function) string {
	calls := callgraph.NewConservative([]*callgraph.Graph{passtest.Result[*callgraph.Graph](l, callgraph.Analyzer)})
	var names []string
	for _, instr := range l.Instrs {
		call, ok := instr.(ssa.CallInstruction)
		if !ok {
			continue
		}
		for _, fn := range ask(calls, call) {
			names = append(names, strings.Trim(strings.ReplaceAll(fn.RelString(l.Prog.Pkg.Pkg), ")", ""), "(*"))
		}
	}
	slices.Sort(names)
	return orNobody(slices.Compact(names))
}

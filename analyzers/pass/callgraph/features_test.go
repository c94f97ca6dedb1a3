package callgraph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/passtest"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
)

// Each function of features is one way to be called.
func TestFeatures(t *testing.T) {
	passtest.Run(t, callgraph.Analyzer, callsAt, "features")
}

// callsAt prints who runs the function that begins on the line, or what the
// calls of the line lead to.
func callsAt(l *passtest.Line) string {
	graph := passtest.Result[*callgraph.Graph](l, callgraph.Analyzer)
	for _, fn := range l.Prog.Funcs {
		if l.Has(fn.Pos()) {
			return rolesOf(graph, fn)
		}
	}
	var calls []string
	for _, instr := range l.Instrs {
		if call, ok := instr.(ssa.CallInstruction); ok {
			for _, s := range graph.At(call) {
				calls = append(calls, modes[s.Mode]+s.Callee.RelString(l.Prog.Pkg.Pkg))
			}
		}
	}
	slices.Sort(calls)
	return orNobody(calls)
}

var modes = map[callgraph.Mode]string{callgraph.Call: "calls ", callgraph.Defer: "defers ", callgraph.Go: "starts "}

func rolesOf(graph *callgraph.Graph, fn *ssa.Function) string {
	r := graph.Roles(fn)
	var roles []string
	for _, role := range []struct {
		is   bool
		text string
	}{{r.API, "any caller"}, {r.Main, "main"}, {r.Init, "init"}, {r.Unknown, "unknown"}, {graph.Once(fn), "once"}} {
		if role.is {
			roles = append(roles, role.text)
		}
	}
	for _, g := range r.Goroutines {
		many := ""
		if g.Many {
			many = " in a loop"
		}
		roles = append(roles, fmt.Sprintf("goroutine of %s%s", g.Start.Parent().Name(), many))
	}
	return orNobody(roles)
}

func orNobody(list []string) string {
	if len(list) == 0 {
		return "nobody"
	}
	return strings.Join(list, ", ")
}

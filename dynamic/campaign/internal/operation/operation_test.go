package operation

import (
	"go/ast"
	"testing"

	"github.com/interlock-go/interlock/dynamic/campaign/internal/typedfile"
)

// A lock that literals capture is that of the function which declares it; one of their own is theirs.
func TestVariableOfLiterals(t *testing.T) {
	p := typedfile.Parse(t, `package m

import "sync"

type pair struct{ mu sync.Mutex }

func Two() {
	var shared sync.Mutex
	var in pair
	f := func() {
		var own sync.Mutex
		own.Lock()    // Two.func1
		shared.Lock() // Two
		in.mu.Lock()  // a field
		func() {
			own.Lock()    // Two.func1
			shared.Lock() // Two
		}()
	}
	f()
}
`)
	functions := map[string]string{"own": "Two.func1", "shared": "Two"}
	seen := 0
	ast.Inspect(p.Files[0], func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		in := "Two.func1"
		if seen++; seen > 2 {
			in = "Two.func1.1"
		}
		op := Operation{In: p, Node: call, Operand: id}
		if v := op.Variable(in); v.Function != functions[id.Name] {
			t.Errorf("%s in %s is of %q, want %q", id.Name, in, v.Function, functions[id.Name])
		}
		return true
	})
	if seen != 4 {
		t.Errorf("%d calls, want 4", seen)
	}
}

package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

func TestScalar(t *testing.T) {
	for _, tt := range []struct {
		kind string
		bits uint64
		want string
	}{
		{"int", 1<<64 - 5, "-5"},
		{"int32", 1<<32 - 2, "-2"},
		{"int8", 0xff, "-1"},
		{"uint8", 0xff, "255"},
		{"bool", 1, "true"},
		{"float64", 0x3ff8000000000000, "1.5"},
		{"float32", 0x3fc00000, "1.5"},
		{"pointer", 0, "nil"},
		{"pointer", 8, "a pointer other than nil"},
	} {
		if got := scalar(tt.kind, tt.bits); got != tt.want {
			t.Errorf("%s %#x: got %s, want %s", tt.kind, tt.bits, got, tt.want)
		}
	}
}

// The monitor stands around the call of a short function, whose frame the stack lacks then.
func TestCalledAt(t *testing.T) {
	a := finding.Access{Package: "p", Function: "(*T).get", Position: finding.Position{File: "p.go", Line: 3, EndLine: 3}}
	for _, c := range []struct {
		function string
		line     int
		want     bool
	}{
		{"p.(*T).Add", 9, true},
		{"p.(*T).get", 3, false},
		{"p.(*T[...]).get", 4, false}, // an access of several lines
		{"p.(*T).Add", 3, false},      // inlined, at the line of the access
	} {
		if got := calledAt(&a, []finding.Frame{{Function: c.function, File: "p.go", Line: c.line}}); got != c.want {
			t.Errorf("%s at line %d: %v", c.function, c.line, got)
		}
	}
}

// A line of code may access several variables. A list and its elements are named as one; of others, all that may be
// meant are named.
func TestSharedVariable(t *testing.T) {
	on := func(typ string, names ...string) (sites []*plan.Site) {
		for _, name := range names {
			kind := plan.KindField
			if strings.HasSuffix(name, "[]") {
				kind = "element"
			}
			sites = append(sites, &plan.Site{Variable: plan.Variable{Package: "p", Type: typ, Name: name, Kind: kind}})
		}
		return sites
	}
	for _, c := range []struct {
		a, b []*plan.Site
		want string
		ok   bool
	}{
		{on("T", "n"), on("T", "n", "m"), "p.T.n", true},
		{on("T", "subs[]", "subs"), on("T", "subs", "subs[]"), "p.T.subs", true},
		{on("T", "subs[]", "subs"), on("T", "subs[]"), "p.T.subs[]", true},
		{on("T", "n", "m"), on("T", "m", "n"), "p.T.m or n", false},
		{on("T", "n"), on("T", "m"), "", false},
		{on("T", "*"), on("T", "n"), on("T", "n")[0].Variable.Package + ".T.n", true},
		{on("U", "*"), on("T", "n"), "", false},
		{slices.Concat(on("T", "n"), on("U", "n")), slices.Concat(on("T", "n"), on("U", "n")), "", false},
	} {
		v, ok := sharedVariable(c.a, c.b)
		if got := finding.Variable(v).String(); got != c.want || ok != c.ok {
			t.Errorf("%v and %v: %s, %v, want %s, %v", c.a, c.b, got, ok, c.want, c.ok)
		}
		isCopy := ok && c.a[0].Variable.Name == "*"
		if notes := copies(v, slices.Concat(c.a, c.b)...); (len(notes) == 1) != isCopy {
			t.Errorf("%v and %v: notes %q", c.a, c.b, notes)
		}
	}
}

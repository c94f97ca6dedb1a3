package judge

import (
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// The stack of a section's owner is kept behind the statement of an access: its frame names the access all the same.
func TestStackAtTheAccess(t *testing.T) {
	section := &plan.Section{Function: "(*T).Take", File: "a.go"}
	site := &plan.Site{Package: "m", Function: "(*T).Take", Line: 22}
	callee := &plan.Site{Package: "m/sub", Function: "(*T).size", Line: 5}
	for _, test := range []struct {
		name string
		at   finding.Frame
		site *plan.Site
		call *plan.Place
		want int
	}{
		{"the closing brace", finding.Frame{Function: "m.(*T).Take", File: "a.go", Line: 24}, site, nil, 22},
		{"at the access", finding.Frame{Function: "m.(*T).Take", File: "a.go", Line: 22}, site, nil, 22},
		{"a call", finding.Frame{Function: "m.(*T).Take", File: "a.go", Line: 24}, callee, &plan.Place{Line: 21}, 21},
		{"a call of two lines", finding.Frame{Function: "m.(*T).Take", File: "a.go", Line: 24}, callee,
			&plan.Place{Line: 23, EndLine: 24}, 24},
		{"generic", finding.Frame{Function: "m.(*T[...]).Take", File: "a.go", Line: 24}, site, nil, 22},
		{"another function", finding.Frame{Function: "m.(*T).Give", File: "a.go", Line: 24}, site, nil, 24},
	} {
		g := &finding.Goroutine{Stack: []finding.Frame{test.at}}
		if stackAt(g, section, test.site, test.call); g.Stack[0].Line != test.want {
			t.Errorf("%s: line %d, want %d", test.name, g.Stack[0].Line, test.want)
		}
	}
}

// A panic on a line of an end may stand behind the access there, or before it.
func TestPanickedAtEnd(t *testing.T) {
	p := &plan.Plan{Sites: []plan.Site{
		{ID: 1, File: "a.go", Line: 37, EndLine: 38}, {ID: 2, Function: "(*Q).Pop", File: "b.go", Line: 5, EndLine: 5},
	}}
	section := &plan.Section{File: "a.go", Ends: []plan.End{{Site: 1}, {Site: 2, EndCall: &plan.Place{Line: 22}}}}
	pop := finding.Frame{Function: "m.(*Q[...]).Pop", File: "b.go", Line: 4}
	elsewhere := finding.Frame{Function: "m.f", File: "x.go", Line: 1}
	for _, test := range []struct {
		above finding.Frame
		file  string
		line  int
		want  bool
	}{
		{elsewhere, "a.go", 37, true}, {elsewhere, "a.go", 38, true}, {elsewhere, "a.go", 36, false},
		{elsewhere, "b.go", 5, true}, {elsewhere, "b.go", 37, false}, {elsewhere, "a.go", 22, true},
		{pop, "a.go", 22, false},
	} {
		g := &finding.Goroutine{Stack: []finding.Frame{test.above, {File: test.file, Line: test.line}}}
		at := panickedAtEnd(p, section, &finding.Access{Goroutine: g})
		if (at != nil) != test.want || at != nil && at.Line != test.line {
			t.Errorf("%s:%d: %v, want %t", test.file, test.line, at, test.want)
		}
	}
}

package campaign

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

package stores

import (
	"strings"
	"testing"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/typedfile"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// A function that reads the variable again behind the end may undo its store.
func TestLooksAgain(t *testing.T) {
	const code = `package p

type c struct{ n int }

func (c *c) again() { if c.n < 1 { return }; c.n -= 1; if c.n < 0 { c.n += 1 } } // again
func (c *c) other(m int) { if c.n < 1 { return }; c.n -= 1; if m < 0 { c.n += 1 } } // not
func (c *c) gives() { if c.n < 1 { return }; c.n -= 1; c.settle() } // again
func (c *c) calls() { if c.n < 1 { return }; c.n -= 1; c.zero() } // not
func (c *c) settle() { if c.n < 0 { c.n += 1 } }
func (c *c) zero() { c.n = 0 }
func (c *c) before() { if c.n < 1 { return }; if c.n < 2 { return }; c.n -= 1 } // not
`
	pkg := typedfile.Parse(t, code)
	for i, line := range strings.Split(code, "\n") {
		text, want, ok := strings.Cut(line, " // ")
		if !ok {
			continue
		}
		p := &plan.Plan{Sites: []plan.Site{
			{ID: 1, File: "m.go", Line: i + 1, Column: strings.Index(text, "if c.n") + 4, Variable: plan.Variable{Name: "n"}},
			{ID: 2, File: "m.go", Line: i + 1, Column: strings.Index(text, "c.n -= 1") + 1},
		}}
		seen := Source{p, []*sites.Package{pkg}}
		write := &evidence.Side{Site: 2, Write: true}
		s := &evidence.SplitSection{Remote: write, End: write, Overturned: true, Changed: true}
		section := &plan.Section{Kind: plan.TestAndUse, File: "m.go", Entry: 1, Ends: []plan.End{{Site: 2}}}
		if got := seen.looksAgain(section, s); got != (want == "again") {
			t.Errorf("%s: %t, want %s", text, got, want)
		}
	}
}

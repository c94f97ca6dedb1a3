package stores

import (
	"strings"
	"testing"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/typedfile"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// A limit that is passed, or a count that people call inexact, is no harm by itself.
func TestLimitsAndInexactCounts(t *testing.T) {
	const code = `package m

type c struct {
	n, max, balance int
	hits int // some are lost when many come at once
	estimate int
}

func (c *c) size() int { return c.n }
func (c *c) full() bool { return c.n >= c.max }
func (c *c) empty() bool { return c.n == 0 }

func (c *c) t1() { if c.n < c.max { c.n++ } } // limit
func (c *c) t2() { if c.n >= 10 { return }; c.n++ } // limit
func (c *c) t3() { if c.max > c.n { c.n++ } } // limit
func (c *c) t4() { n := c.n; if n < c.max { c.n++ } } // limit
func (c *c) t5() { if c.n > c.max { c.n-- } } // limit
func (c *c) t6() { if c.n > 0 { c.n-- } } // harm
func (c *c) t7() { if c.n < 1 { return }; c.n-- } // harm
func (c *c) t8() { if 0 == c.n { c.n++ } } // harm
func (c *c) t9(sum int) { if c.n >= sum { c.n -= sum } } // harm
func (c *c) t10(sum int) { if c.n < sum { return }; c.n = c.n - sum } // unknown
func (c *c) t11() { if c.hits > 0 { c.hits-- } } // inexact
func (c *c) t12() { if c.estimate > 0 { c.estimate-- } } // inexact
// t13 is best-effort.
func (c *c) t13() { if c.n > 0 { c.n-- } } // harm
`
	pkg, tried := typedfile.Parse(t, code), 0
	for i, line := range strings.Split(code, "\n") {
		text, want, ok := strings.Cut(line, " // ")
		if !ok || !strings.Contains(text, " t") {
			continue
		}
		tried++
		name := "n"
		for _, n := range []string{"hits", "estimate"} {
			if strings.Contains(text, n) {
				name = n
			}
		}
		if strings.Contains(text, " t13") {
			want = "inexact"
		}
		v := plan.Variable{Package: "m", Type: "c", Name: name, Kind: plan.KindField}
		p := &plan.Plan{Sites: []plan.Site{
			{ID: 1, File: "m.go", Line: i + 1, Column: strings.Index(text, "c."+name) + 1, Variable: v, Scalar: "int"},
			{ID: 2, File: "m.go", Line: i + 1, Column: endOf(text, "c."+name), Variable: v},
		}}
		src := Source{p, []*sites.Package{pkg}}
		s := &evidence.SplitSection{
			Entry: &evidence.Side{Site: 1}, Remote: &evidence.Side{Site: 2, Write: true},
			End:        &evidence.Side{Site: 2, Write: true},
			Overturned: true, Changed: true,
		}
		got := map[string]string{"": "harm", overLimit: "limit", inexact: "inexact"}[src.Doubt(&plan.Section{
			Kind: plan.TestAndUse, File: "m.go", Function: "f", Entry: 1, Ends: []plan.End{{Site: 2}}, Finding: "il-1",
		}, s)]
		if got == "" {
			got = "unknown"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", strings.TrimSpace(text), got, want)
		}
	}
	if tried != 13 {
		t.Errorf("%d tried", tried)
	}
}

// endOf returns the column of the last use of a name at which a statement begins.
func endOf(text, name string) int {
	return max(strings.LastIndex(text, "; "+name)+3, strings.LastIndex(text, "{ "+name)+3)
}

// The comment of a function, and not that of another one, says that its result is inexact.
func TestSaysInexact(t *testing.T) {
	pkg := typedfile.Parse(t, `package m

type stats struct{ hits, total int }

// ratio is approximate while others count.
func (s *stats) ratio() int { return s.hits / s.total }

// exact is the ratio.
func (s *stats) exact() int { return s.hits / s.total }

// guess may be stale.
func guess() int { return 0 }
`)
	for name, want := range map[string]bool{
		"m.(*stats).ratio": true, "m.(*stats).ratio.func1": true, "m.(*stats).exact": false,
		"m.guess": true, "m.guess.func1": true, "n.guess": false,
	} {
		if got := SaysInexact([]*sites.Package{pkg}, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

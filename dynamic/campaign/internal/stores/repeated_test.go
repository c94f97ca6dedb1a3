package stores

import (
	"strings"
	"testing"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/typedfile"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// twice are tests of a flag or key; to do twice what each does beside its end is harm, or may be the same as once.
const twice = `package m

import ("sync"; "sync/atomic")

type c struct {
	mu sync.Mutex; once sync.Once; flag bool; m map[int]bool; tab [4]int; n int
	ch chan int; list []int; f func(); closed int; at atomic.Int64
}

func (c *c) fill() { c.mu.Lock(); defer c.mu.Unlock(); for i := range c.tab { c.tab[i] = i * i } }
func (c *c) end() { c.once.Do(func() { c.closed++ }) }
func (c *c) count() { c.mu.Lock(); defer c.mu.Unlock(); c.n++ }
func (c *c) again() { c.again() }
func (c *c) stop() { close(c.ch) }
func (c *c) deep() { c.stop() }

func (c *c) t1() { if !c.flag { c.fill(); c.flag = true } } // same
func (c *c) t2() { if !c.flag { c.end(); c.flag = true } } // same
func (c *c) t3() { if !c.flag { c.flag = true; c.tab[1] = 7 } } // same
func (c *c) t4() { if !c.flag { c.count(); c.flag = true } } // same
func (c *c) t5() { if !c.flag { c.flag = true; c.deep() } } // harm
func (c *c) t6() { if !c.flag { c.flag = true; go c.fill() } } // same
func (c *c) t7() { if !c.flag { c.flag = true; c.ch <- 1 } } // same
func (c *c) t8() { if !c.flag { c.flag = true; close(c.ch) } } // harm
func (c *c) t9() { if !c.flag { c.flag = true; c.f() } } // same
func (c *c) t10() { if !c.flag { c.flag = true; c.again() } } // same
func (c *c) t11() { if !c.flag { c.ch = make(chan int); c.flag = true } } // harm
func (c *c) t12() { if !c.flag { c.flag = true; c.list = append(c.list, 1) } } // same
func (c *c) t13() { if c.m[1] { c.end(); delete(c.m, 1) } } // same
func (c *c) t14() { if c.m[1] { c.count(); delete(c.m, 1) } } // harm
func (c *c) t15() { if c.m[1] { c.fill(); delete(c.m, 1) } } // same
func (c *c) t16() { if c.m[1] { delete(c.m, 1); c.at.Add(-1) } } // harm
func (c *c) t17() { if c.flag { return }; c.flag = true; c.fill() } // same
func (c *c) t18() { if c.flag { return }; c.flag = true; c.stop() } // harm
`

func TestDoneTwice(t *testing.T) {
	pkg, tried := typedfile.Parse(t, twice), 0
	for i, line := range strings.Split(twice, "\n") {
		code, want, ok := strings.Cut(line, " // ")
		if !ok {
			continue
		}
		tried++
		end := strings.Index(code, "c.flag = true") + 1
		if at := strings.Index(code, "delete(c.m"); at >= 0 {
			end = at + len("delete(") + 1
		}
		v := plan.Variable{Package: "m", Type: "c", Name: "flag", Kind: plan.KindField}
		if strings.Contains(code, "delete(") {
			v.Kind = plan.KindMap
		}
		p := &plan.Plan{Sites: []plan.Site{
			{ID: 1, File: "m.go", Line: i + 1, Column: strings.Index(code, "if ") + 4, Variable: v},
			{ID: 2, File: "m.go", Line: i + 1, Column: end, Variable: v},
		}}
		seen := Source{p, []*sites.Package{pkg}}
		write := &evidence.Side{Site: 2, Write: true}
		s := &evidence.SplitSection{Remote: write, End: write, Overturned: true, Changed: true}
		section := &plan.Section{Kind: plan.TestAndUse, File: "m.go", Entry: 1, Ends: []plan.End{{Site: 2}}, Finding: "il-1"}
		if got := seen.Lost(section, s); got != (want == "harm") {
			t.Errorf("%s: lost is %v, want %s", strings.TrimSpace(code), got, want)
		}
	}
	if tried != 18 {
		t.Errorf("%d tried", tried)
	}
}

// A function that asks again behind the end may take back what it has done.
func TestLooksAgain(t *testing.T) {
	const code = `package p

type c struct{ n int }

func (c *c) again() { if c.n < 1 { return }; c.n -= 1; if c.n < 0 { c.n += 1 } } // again
func (c *c) other(m int) { if c.n < 1 { return }; c.n -= 1; if m < 0 { c.n += 1 } } // not
func (c *c) before() { if c.n < 1 { return }; if c.n < 2 { return }; c.n -= 1 } // not
`
	pkg := typedfile.Parse(t, code)
	for i, line := range strings.Split(code, "\n") {
		text, want, ok := strings.Cut(line, " // ")
		if !ok {
			continue
		}
		p := &plan.Plan{Sites: []plan.Site{
			{ID: 1, File: "m.go", Line: i + 1, Column: strings.Index(text, "if c.n") + 4},
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

package stores

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/typedfile"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// fills are ends of test-and-use sections, one a line: what was replaced, what was
// stored, and whether it is known that the two differ.
const fills = `package m

import ("sync"; "sync/atomic")

type still struct{ n int }
type moves struct{ n int }
type locked struct{ mu sync.Mutex }
type pair struct{ a, b int64 }
type padded struct{ a int8; b int64 }

func (m *moves) set() { m.n = 1 } // changes moves

type memo struct { once sync.Once; n int }

func (m *memo) get() int { m.once.Do(func() { m.n = 1 }); return m.n } // changes memo

type grown struct{ n []int }
type cut struct{ n []int }

func (m *grown) add() []int { return append(m.n, 1) } // changes grown
func (m *cut) cut() []int { return append(m.n[:0], 1) } // changes cut

type held struct{ n int; nums map[string]bool; f func() int }

func makeHeld(k string) *held {
	m := &held{nums: map[string]bool{}}
	m.nums[k] = true
	m.n = len(k) // changes held
	m.f = func() int { return m.n }
	return m
}

type late struct{ n []int }

func makeLate() *late {
	m := &late{}
	all = append(all, m)
	m.n = nil // changes late
	return m
}

var all []*late

func (c *cache) put() { c.m[1] = 1 }

type cache struct {
	held *held; late *late; marks map[string]bool
	n int; f float64; s string; list []int; p *still; q *moves; l *locked; m map[int]int; fn func(); i any
	two pair; pad padded; nums map[string]int; ptrs map[string]*still; flag bool
	at atomic.Int64; ap atomic.Pointer[still]; memo *memo
	grown *grown; cut *cut
}

func (c *cache) fill(n int, s string, list []int, p *still, q *moves, l *locked, k string, d cache) {
	c.n = n           // 1 | 1 | equal
	c.n = n + 1       // 1 | 2 | differ
	c.n += n          // 1 | 2 | differ
	c.f = 1 / float64(n) // 1 | 2 | differ
	c.s = s           // 10,3 | 20,3 | equal
	c.s = s + "x"     // 10,3 | 20,4 | differ
	c.list = list     // 10,3,3 | 20,3,3 | equal
	c.p = p           // 10 | 20 | equal
	c.p = &still{n}   // 10 | 20 | equal
	c.q = q           // 10 | 20 | differ
	c.l = l           // 10 | 20 | differ
	c.memo = new(memo) // 10 | 20 | equal
	c.grown = new(grown) // 10 | 20 | equal
	c.cut = new(cut)  // 10 | 20 | differ
	c.m = d.m         // 10 | 20 | differ
	c.marks = d.marks // 10 | 20 | equal
	c.held = makeHeld(k) // 10 | 20 | equal
	c.late = makeLate() // 10 | 20 | differ
	c.fn = d.fn       // 10 | 20 | equal
	c.i = d.i         // 10,1 | 20,1 | equal
	c.two = d.two     // 1,2 | 1,3 | differ
	c.pad = d.pad     // 1,2 | 257,2 | equal
	c.nums[k] = n     // 1 | 1 | equal
	c.nums[k] = n + 1 // 1 | 2 | differ
	c.nums[k] = n + 2 // | 2 | differ
	c.ptrs[k] = p     // 10 | 20 | equal
	c.n = n - 1       // | | equal
	delete(c.nums, k) // | | differ
	c.flag = true     // 1 | 1 | differ
	c.at.Store(int64(n)) // 1 | 2 | differ
	c.at.Add(1)       // | | differ
	_ = c.at.Add(1) < 3 // | | equal
	c.n = 1 + int(c.at.Add(1)) // | | equal
	c.ap.Store(p)     // 10 | 20 | equal
}
`

func TestEqualFills(t *testing.T) {
	pkg := typedfile.Parse(t, fills)
	p := &plan.Plan{}
	site := func(line, column int, v plan.Variable, mode plan.Mode) uint32 {
		p.Sites = append(p.Sites, plan.Site{
			ID: uint32(len(p.Sites) + 1), File: "m.go", Line: line, Column: column,
			Variable: v, Mode: mode, Decision: plan.Monitor,
		})
		return uint32(len(p.Sites))
	}
	v := plan.Variable{Package: "m", Type: "cache", Name: "x"}
	entry := site(1, 1, v, plan.Read)
	seen := Source{p, []*sites.Package{pkg}}
	tried := 0
	for i, line := range strings.Split(fills, "\n") {
		code, want, ok := strings.Cut(line, " // ")
		if of, changes := strings.CutPrefix(want, "changes "); changes {
			site(i+1, strings.Index(line, "m.n")+1, plan.Variable{Package: "m", Type: of, Name: "n"}, plan.Write)
		}
		parts := strings.Split(want, "|")
		if !ok || len(parts) != 3 {
			continue
		}
		tried++
		column := 2
		if at := strings.Index(code, "(c."); strings.HasPrefix(strings.TrimSpace(code), "delete") {
			column = at + 2
		} else if at := strings.LastIndex(code, "c.at.Add"); at >= 0 {
			column = at + 1
		}
		end := site(i+1, column, v, plan.Write)
		s := &evidence.SplitSection{
			Entry: &evidence.Side{Site: entry}, Remote: &evidence.Side{Site: end, Write: true},
			End:     &evidence.Side{Site: end, Write: true},
			Changed: true, Overturned: true, Replaced: words64(t, parts[0]), Stored: words64(t, parts[1]),
		}
		section := &plan.Section{Kind: plan.TestAndUse, Entry: entry, Finding: "il-1"}
		if got := seen.Lost(section, s); got != (strings.TrimSpace(parts[2]) == "differ") {
			t.Errorf("%s: lost is %v, want that they %s", strings.TrimSpace(code), got, parts[2])
		}
	}
	if tried != 34 {
		t.Errorf("%d fills tried", tried)
	}
}

// What a function returns of a counter may be asked for by its caller, unless that takes no result.
func TestReturnedAnswer(t *testing.T) {
	const code = `package m

import "sync/atomic"

type pool struct{ n atomic.Int32 }

func (p *pool) add(d int) int { return int(p.n.Add(int32(d))) }

func (p *pool) drops() { p.add(1) }
func (p *pool) asks() bool { return p.add(1) > 3 }
func (p *pool) both() { if p.add(1) > 3 { p.add(-1) } }
func (p *pool) checks(d int) int { n := p.n.Add(int32(d)); return int(n) }
func (p *pool) dropsChecked() { p.checks(1) }
`
	lines := strings.Split(code, "\n")
	lineOf := func(text string) int {
		return slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, text) }) + 1
	}
	for _, tt := range []struct {
		function, caller string
		want             bool
	}{
		{"add", "drops()", true}, {"add", "asks()", false}, {"add", "both()", false}, {"checks", "dropsChecked()", false},
	} {
		at := lineOf(") " + tt.function + "(d int)")
		p := &plan.Plan{Sites: []plan.Site{
			{ID: 1, File: "m.go", Line: 1, Column: 1},
			{
				ID: 2, File: "m.go", Line: at, Column: strings.Index(lines[at-1], "p.n.Add") + 1,
				Function: "(*pool)." + tt.function,
			},
		}}
		pkg := typedfile.Parse(t, code)
		seen := Source{p, []*sites.Package{pkg}}
		file := pkg.Fset.Position(pkg.Files[0].Pos()).Filename
		end := &evidence.Side{Site: 2, Write: true, Stack: fmt.Sprintf("goroutine 7 [running]:\nrt.end()\n\trt.go:3 +0x1\n"+
			"m.(*pool).%s(...)\n\t%s:%d\nm.(*pool).f()\n\t%s:%d +0x2\ncreated by m.g in goroutine 1\n\tm.go:9 +0x1\n",
			tt.function, file, at, file, lineOf(tt.caller))}
		s := &evidence.SplitSection{Remote: end, End: end, Overturned: true, Changed: true}
		if got := seen.Lost(&plan.Section{Kind: plan.TestAndUse, Entry: 1}, s); got != tt.want {
			t.Errorf("%s, called by %s: lost is %v", tt.function, tt.caller, got)
		}
	}
}

// A flag counts only where a static finding says that what it guards is done twice.
func TestFlagWithoutFinding(t *testing.T) {
	const code = "package m\n\ntype c struct{ flag bool }\n\n" +
		"func (c *c) set() {\n\tif !c.flag {\n\t\tc.flag = true\n\t\tgo c.set()\n\t}\n}\n"
	p := &plan.Plan{Sites: []plan.Site{
		{ID: 1, File: "m.go", Line: 6, Column: 6}, {ID: 2, File: "m.go", Line: 7, Column: 3},
	}}
	seen := Source{p, []*sites.Package{typedfile.Parse(t, code)}}
	write := &evidence.Side{Site: 2, Write: true}
	s := &evidence.SplitSection{Remote: write, End: write, Overturned: true, Changed: true}
	for finding, want := range map[string]bool{"": false, "il-1": true} {
		if got := seen.Lost(&plan.Section{Kind: plan.TestAndUse, Entry: 1, Finding: finding}, s); got != want {
			t.Errorf("finding %q: lost is %v", finding, got)
		}
	}
}

// A text that both have made of the same text may be the same; a count is not.
func TestStoresOfWhatWasLoaded(t *testing.T) {
	const code = "package m\n\ntype c struct { s string; n int }\n\n" +
		"func (c *c) set(s string, n int) {\n\tc.s = s\n\tc.n = n\n}\n"
	p := &plan.Plan{Sites: []plan.Site{
		{ID: 1, File: "m.go", Line: 6, Column: 2}, {ID: 2, File: "m.go", Line: 7, Column: 2}, {ID: 3},
	}}
	seen := Source{p, []*sites.Package{typedfile.Parse(t, code)}}
	for _, tt := range []struct {
		end, remote    uint32
		before, behind string
		want           bool
	}{
		{1, 1, "10,3", "20,3", false},
		{1, 1, "10,3", "20,4", true},
		{1, 3, "10,3", "20,3", true},
		{2, 2, "1", "2", true},
	} {
		s := &evidence.SplitSection{
			Remote: &evidence.Side{Site: tt.remote, Write: true}, End: &evidence.Side{Site: tt.end, Write: true}, Changed: true,
			Replaced: words64(t, tt.before), Stored: words64(t, tt.behind),
		}
		if got := seen.Lost(&plan.Section{Kind: plan.LoadAndStore, Entry: tt.end}, s); got != tt.want {
			t.Errorf("%+v: lost is %v", tt, got)
		}
	}
}

// A length that has passed its limit matters if the end has changed it once more. That
// two goroutines have stored alike, each under a key of its own, does not excuse it.
func TestLengthPassed(t *testing.T) {
	m := plan.Variable{Kind: plan.KindMap, Package: "m", Type: "c", Name: "m"}
	p := &plan.Plan{Sites: []plan.Site{{ID: 1, Variable: m}, {ID: 2, Variable: m, Mode: plan.Write}}}
	seen := Source{p, nil}
	s := &plan.Section{ID: 1, Kind: plan.TestAndUse, Entry: 1, Length: true, Ends: []plan.End{{Site: 2}}}
	for stored, want := range map[uint64]bool{11: true, 10: false} {
		split := &evidence.SplitSection{
			Section: 1, Changed: true, Overturned: true, Replaced: []uint64{10}, Stored: []uint64{stored},
			Remote: &evidence.Side{Site: 2, Write: true}, End: &evidence.Side{Site: 2, Write: true},
		}
		if got := seen.Lost(s, split); got != want {
			t.Errorf("the length was 10, and %d is stored: lost %v, want %v", stored, got, want)
		}
	}
}

func words64(t *testing.T, list string) (words []uint64) {
	t.Helper()
	for f := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		if f == "" {
			continue
		}
		var w uint64
		for _, c := range f {
			w = 10*w + uint64(c-'0')
		}
		words = append(words, w)
	}
	return words
}

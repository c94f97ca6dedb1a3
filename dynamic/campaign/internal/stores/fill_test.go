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
// stored, and whether that is harm by itself.
const fills = `package m

import ("sync"; "sync/atomic")

type still struct{ n int }
type moves struct{ mu sync.Mutex; n int; at atomic.Int64 }
type latch struct { name string; done chan int }
type turns struct{ mu sync.RWMutex }
type group struct { wg *sync.WaitGroup; n int }

func (m *moves) set() { m.mu.Lock(); m.n = 1; m.mu.Unlock(); m.at.Store(3) }

type cache struct {
	n int; s string; list []int; p *still; q *moves; m map[int]int; fn func(); i any
	nums map[string]int; ptrs map[string]*still; flag bool
	at atomic.Int64; ap atomic.Pointer[moves]
	done chan int; latch *latch; mu *sync.Mutex; turns *turns; group *group; locks map[string]*sync.Mutex
}

func (c *cache) fill(n int, s string, list []int, p *still, q *moves, k string, d cache) {
	c.n = n           // 1 | 1 | unknown
	c.n = 7           // 1 | 7 | unknown
	c.n = n + 1       // 1 | 2 | unknown
	c.n += n          // 1 | 2 | harm
	c.s = s + "x"     // 10,3 | 20,4 | unknown
	c.list = list     // 10,3,3 | 20,4,4 | unknown
	c.p = &still{n}   // 10 | 20 | unknown
	c.q = q           // 10 | 20 | unknown
	c.m = d.m         // 10 | 20 | unknown
	c.fn = d.fn       // 10 | 20 | unknown
	c.i = d.i         // 10,1 | 20,1 | unknown
	c.nums[k] = n + 1 // 1 | 2 | unknown
	c.nums[k] = n + 2 // | 2 | unknown
	c.ptrs[k] = p     // 10 | 20 | unknown
	c.done = make(chan int) // 10 | 20 | unknown
	c.done = d.done   // 10 | 10 | unknown
	c.latch = &latch{done: d.done} // 10 | 20 | unknown
	c.mu = new(sync.Mutex) // 10 | 20 | harm
	c.turns = new(turns) // 10 | 20 | harm
	c.group = new(group) // 10 | 20 | harm
	c.locks[k] = new(sync.Mutex) // 10 | 20 | harm
	c.at.Store(int64(n)) // 1 | 2 | unknown
	c.at.Add(1)       // | | harm
	_ = c.at.Add(1) < 3 // | | unknown
	c.n = 1 + int(c.at.Add(1)) // | | unknown
	c.ap.Store(q)     // 10 | 20 | unknown
}
`

func TestFills(t *testing.T) {
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
		if got := seen.Doubt(section, s) == ""; got != (strings.TrimSpace(parts[2]) == "harm") {
			t.Errorf("%s: lost is %v, want %s", strings.TrimSpace(code), got, parts[2])
		}
	}
	if tried != 26 {
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
		if got := seen.Doubt(&plan.Section{Kind: plan.TestAndUse, Entry: 1}, s) == ""; got != tt.want {
			t.Errorf("%s, called by %s: lost is %v", tt.function, tt.caller, got)
		}
	}
}

// A text, number or pointer may be replaced on purpose; what was added to a list or number is lost.
func TestStoresOfWhatWasLoaded(t *testing.T) {
	const code = "package m\n\ntype c struct { s string; n int; p *int; list []int }\n\n" +
		"func (c *c) set(s string, n int, p *int) {\n\tc.s = s\n\tc.n = n\n\tc.p = p\n\tc.list = append(c.list, n)\n" +
		"\tc.n = n + 1\n\tc.s = s + \"x\"\n}\n"
	p := &plan.Plan{Sites: []plan.Site{
		{ID: 1, File: "m.go", Line: 6, Column: 2}, {ID: 2, File: "m.go", Line: 7, Column: 2}, {ID: 3},
		{ID: 4, File: "m.go", Line: 8, Column: 2}, {ID: 5, File: "m.go", Line: 9, Column: 2},
		{ID: 6, File: "m.go", Line: 10, Column: 2}, {ID: 7, File: "m.go", Line: 11, Column: 2},
	}}
	seen := Source{p, []*sites.Package{typedfile.Parse(t, code)}}
	for _, tt := range []struct {
		end, remote    uint32
		before, behind string
		want           bool
	}{
		{1, 1, "10,3", "20,3", false},
		{1, 1, "10,3", "20,4", false},
		{1, 3, "10,3", "20,3", false},
		{2, 2, "1", "2", false},
		{4, 4, "10", "20", false},
		{5, 5, "10,3,3", "20,4,4", true},
		{6, 6, "1", "2", true},
		{7, 7, "10,3", "20,4", false},
	} {
		s := &evidence.SplitSection{
			Remote: &evidence.Side{Site: tt.remote, Write: true}, End: &evidence.Side{Site: tt.end, Write: true}, Changed: true,
			Replaced: words64(t, tt.before), Stored: words64(t, tt.behind),
		}
		if got := seen.Doubt(&plan.Section{Kind: plan.LoadAndStore, Entry: tt.end}, s) == ""; got != tt.want {
			t.Errorf("%+v: lost is %v", tt, got)
		}
	}
}

// That a table is to be empty is no limit: harm is done if the end has changed the length once more. That
// two goroutines have stored alike, each under a key of its own, does not excuse it.
func TestLengthPassed(t *testing.T) {
	const code = "package m\n\ntype c struct{ m map[int]int }\n\n" +
		"func (c *c) put(k int) {\n\tif len(c.m) == 0 {\n\t\tc.m[k] = k\n\t}\n}\n"
	m := plan.Variable{Kind: plan.KindMap, Package: "m", Type: "c", Name: "m"}
	p := &plan.Plan{Sites: []plan.Site{
		{ID: 1, Variable: m, File: "m.go", Line: 6, Column: 9},
		{ID: 2, Variable: m, File: "m.go", Line: 7, Column: 3, Mode: plan.Write},
	}}
	seen := Source{p, []*sites.Package{typedfile.Parse(t, code)}}
	s := &plan.Section{ID: 1, Kind: plan.TestAndUse, Entry: 1, Length: true, Ends: []plan.End{{Site: 2}}}
	for stored, want := range map[uint64]bool{11: true, 10: false} {
		split := &evidence.SplitSection{
			Section: 1, Changed: true, Overturned: true, Replaced: []uint64{10}, Stored: []uint64{stored},
			Remote: &evidence.Side{Site: 2, Write: true}, End: &evidence.Side{Site: 2, Write: true},
		}
		if got := seen.Doubt(s, split) == ""; got != want {
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

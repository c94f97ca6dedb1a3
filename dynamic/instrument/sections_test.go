package instrument_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument"
)

const sectionPrelude = `package p

import (
	"sync"
	"sync/atomic"
)

type C struct {
	mu     sync.Mutex
	n, max int
	closed bool
	m      map[string]int
	q      []int
	at     atomic.Int32
	next   *C
	sm     sync.Map
	sp     *sync.Map
}

func key() string        { return "" }
func use(...any)         {}
func (c *C) lock()       { c.mu.Lock() }
func (c *C) unlockAll()  { c.mu.Unlock() }

type waitGroup = sync.WaitGroup

type D struct {
	mu   sync.Mutex
	name string
	err  error
	list []int
	pos  struct {
		on   bool
		x, y int64
	}
	m map[int]string
}
`

// TestSections rewrites the declarations of testdata/sections/golden.txtar. The
// first lines of each say what the sections are:
//
//	// section KIND ENTRY END...
//
// where an entry or end is the expression of a site, with #2 for the second of the
// kind, behind "call>" if it lies in a callee.
func TestSections(t *testing.T) {
	const name = "testdata/sections/golden.txtar"
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(ar.Files); i += 2 {
		in, want := ar.Files[i], &ar.Files[i+1]
		t.Run(in.Name, func(t *testing.T) {
			got := goldenSections(t, string(in.Data))
			if *update {
				want.Data = []byte(got)
			}
			if got != string(want.Data) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want.Data)
			}
		})
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(ar), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func goldenSections(t *testing.T, in string) string {
	const head = "package p\n\n"
	p := typed(t, "go1.26", map[string]string{"a.go": sectionPrelude, "b.go": head + in})
	pl := &plan.Plan{Version: plan.SchemaVersion, Module: "m"}
	for i, a := range sites.Enumerate(p) {
		a.Site.ID = uint32(i + 1)
		pl.Sites = append(pl.Sites, a.Site)
	}
	for line := range strings.Lines(in) {
		if spec, ok := strings.CutPrefix(line, "// section "); ok {
			pl.Sections = append(pl.Sections, section(t, p, pl, strings.Fields(spec)))
		}
	}
	if err := pl.Validate(); err != nil {
		t.Fatal(err)
	}
	return rewriteSections(t, p, pl, head)
}

func rewriteSections(t *testing.T, p *sites.Package, pl *plan.Plan, head string) string {
	site := func(k plan.Key) *plan.Site {
		for i := range pl.Sites {
			if s := &pl.Sites[i]; s.Key() == k {
				return s
			}
		}
		return nil
	}
	res, err := instrument.Rewrite(p, site, instrument.Options{Plan: pl})
	if err != nil {
		t.Fatal(err)
	}
	out := string(res.Files[len(res.Files)-1].Content)
	checkTypes(t, sectionPrelude, out)
	_, out, _ = strings.Cut(out, strings.TrimSpace(head))
	_, out, _ = strings.Cut(out, "\n\n")
	for id, reason := range res.Sections {
		if reason != "" {
			out += fmt.Sprintf("// section %d: %s\n", id, reason)
		}
	}
	return out
}

// section reads the words of a section comment.
func section(t *testing.T, p *sites.Package, pl *plan.Plan, words []string) plan.Section {
	t.Helper()
	kind, length := strings.CutSuffix(words[0], "+length")
	s := plan.Section{ID: uint32(len(pl.Sections) + 1), Kind: kind, Name: "s", File: "b.go", Function: "f", Length: length}
	s.Entry, s.EntryCall = half(t, p, pl, words[1])
	s.Variables = []plan.Variable{pl.Site(s.Entry).Variable}
	for _, w := range words[2:] {
		e := plan.End{Allows: []plan.Mode{plan.Read}}
		e.Site, e.EndCall = half(t, p, pl, w)
		s.Ends = append(s.Ends, e)
	}
	return s
}

func half(t *testing.T, p *sites.Package, pl *plan.Plan, text string) (uint32, *plan.Place) {
	t.Helper()
	var place *plan.Place
	if call, rest, ok := strings.Cut(text, ">"); ok {
		place, text = callPlace(t, p, call), rest
	}
	expr, nth, _ := strings.Cut(text, "#")
	n, _ := strconv.Atoi(nth)
	n = max(n, 1)
	for _, s := range pl.Sites {
		if s.File == "b.go" && s.Expr == expr {
			if n--; n == 0 {
				return s.ID, place
			}
		}
	}
	t.Fatalf("no site %q", text)
	return 0, nil
}

func callPlace(t *testing.T, p *sites.Package, text string) (place *plan.Place) {
	t.Helper()
	ast.Inspect(p.Files[len(p.Files)-1], func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && types.ExprString(c) == text && place == nil {
			from, to := p.Fset.Position(c.Pos()), p.Fset.Position(c.End())
			place = &plan.Place{Line: from.Line, Column: from.Column, EndLine: to.Line, EndCol: to.Column}
		}
		return true
	})
	if place == nil {
		t.Fatalf("no call %q", text)
	}
	return place
}

// A function is quiet if it and all that it calls are, in other packages too, however
// they call each other.
func TestQuiet(t *testing.T) {
	const src = `package p

import (
	"fmt"
	"sort"
	"sync/atomic"
	"time"
)

type T struct{ n atomic.Int32; f func() }

func quietEven(n int) bool { return n == 0 || quietOdd(n-1) }
func quietOdd(n int) bool { return n != 0 && quietEven(n-1) }
func quietSort(s []int) string { sort.Slice(s, func(i, j int) bool { return s[i] < s[j] }); return fmt.Sprint(s) }
func (t *T) quietLoad() int32 { return t.n.Load() }
func quietGeneric[K comparable](k K) bool { return quietEven(0) && k == k }
func quietInstance() bool { return quietGeneric(1) && quietGeneric[string]("") }
func (t *T) loudStore() { t.n.Store(1) }
func (t *T) loudValue() { t.f() }
func loudMethod(e error) string { return e.Error() }
func loudSleep() { time.Sleep(1) }
func loudCalls(t *T) { defer t.loudStore() }
func loudRound(n int) { if n > 0 { loudBack(n) } }
func loudBack(n int) { loudRound(n - 1); loudSleep() }
func loudSort(s []int, less func(i, j int) bool) { sort.Slice(s, less) }
func loudRange(c chan int) { for range c { } }
func loudPull(seq func(func(int) bool)) { for range seq { } }
func loudClose(c chan int) { close(c) }

type store interface { find() int; save(); Find() int; nowhere() }
type memory struct{ n int; c chan int }
func (m *memory) find() int { return m.n }
func (m *memory) save() { m.c <- m.n }
func (m *memory) Find() int { return m.n }
type other struct{ memory }
func (o other) find() int { return o.memory.find() }
func quietDispatch(s store) int { return s.find() }
func loudDispatch(s store) { s.save() }
func loudExported(s store) int { return s.Find() }
func loudNowhere(s store) { s.nowhere() }
`
	p := typed(t, "go1.26", map[string]string{"a.go": src})
	quiet := instrument.Quiet([]*sites.Package{p})
	for _, d := range p.Files[0].Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := p.Info.Defs[fn.Name].(*types.Func).FullName()
		want := strings.HasPrefix(fn.Name.Name, "quiet")
		if (want || strings.HasPrefix(fn.Name.Name, "loud")) && quiet[name] != want {
			t.Errorf("%s: quiet %v, want %v", name, quiet[name], want)
		}
	}
}

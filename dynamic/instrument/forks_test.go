package instrument_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/instrument"
)

func TestForks(t *testing.T) {
	const decls = "package p\n\nimport \"sync\"\n\ntype T struct { n int; wg sync.WaitGroup }\n\nfunc g(int) {}\n\n"
	for _, c := range []struct{ in, want string }{
		{"go g(1)", "go g(1); _ilrt.Forked(N)"},
		{"go g(x.n)", "go g((*_ilrt.R(&x.n, 1))); _ilrt.Forked(N)"},
		{"go func() { x.n = 1 }()", "go func() { _ilrt.Started(N); (*_ilrt.W(&x.n, 1)) = 1 }(); _ilrt.Forked(N)"},
		{"x.wg.Go(func() {})", "(*_ilrt.GAW(&x.wg, 1)).Go(func() { _ilrt.Started(N);}); _ilrt.Forked(N)"},
		{"l: go g(1); if x == nil { goto l }", "l: go g(1); _ilrt.Forked(N); if"},
	} {
		src := decls + "func f(x *T) {\n\t" + c.in + "\n}\n"
		p := typed(t, "go1.26", map[string]string{"a.go": src})
		res, err := instrument.Rewrite(p, everySite(p), instrument.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out := string(res.Files[0].Content)
		body := strings.Split(out, "\n")[strings.Count(decls, "\n")+1]
		if body = forkID.ReplaceAllString(body, "(N)"); !strings.Contains(body, c.want) {
			t.Errorf("%s becomes %s, want %s", c.in, body, c.want)
		}
		checkTypes(t, out)
	}
}

func TestWaits(t *testing.T) {
	const decls = "package p\n\nimport \"sync\"\n\n" +
		"type T struct { n int; ch chan int; c *sync.Cond }\n\nfunc g(int) {}\n\n"
	for _, c := range []struct{ in, want string }{
		{"<-x.ch", "{ _ilrt.Awaiting(N); <-(*_ilrt.R(&x.ch, 1)) }"},
		{"x.n = <-x.ch", "{ _ilrt.Awaiting(N); { _il1 := <-(*_ilrt.R(&x.ch, 2)); (*_ilrt.W(&x.n, 1)) = _il1 }"},
		{"if v := <-x.ch; v > 0 { g(v) }", "{ _ilrt.Awaiting(N); if v := <-"},
		{"for v := range x.ch { g(v) }", "{ _ilrt.Awaiting(N); for v := range"},
		{"l: for v := range x.ch { g(v); continue l }", "{ _ilrt.Awaiting(N); l: for v := range"},
		{"for x.n > 0 { x.c.Wait() }", "0 { _ilrt.Awaiting(N); (*_ilrt.R(&x.c, 2)).Wait() }"},
		{"select { case v := <-x.ch: g(v) }", "{ _ilrt.Awaiting(N); select { case v :="},
		{"select { case v := <-x.ch: g(v); default: }", "{ select { case v :="},
		{"defer func() { <-x.ch }()", "{ defer func() { _ilrt.Awaiting(N); <-"},
		{"x.ch <- 1", "{ _ilrt.CR((*_ilrt.R(&x.ch, 1)), 2) <- 1 }"},
	} {
		src := decls + "func f(x *T) { " + c.in + " }\n"
		p := typed(t, "go1.26", map[string]string{"a.go": src})
		res, err := instrument.Rewrite(p, everySite(p), instrument.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out := string(res.Files[0].Content)
		body := strings.Split(out, "\n")[strings.Count(decls, "\n")]
		if body = forkID.ReplaceAllString(body, "(N)"); !strings.Contains(body, c.want) {
			t.Errorf("%s becomes %s, want %s", c.in, body, c.want)
		}
		checkTypes(t, out)
	}
}

// forkID is the id of a fork in the text.
var forkID = regexp.MustCompile(`\(\d{5,}\)`)

// A file that starts goroutines and has no accesses to monitor imports the monitor for that.
func TestForksAlone(t *testing.T) {
	p := typed(t, "go1.26", map[string]string{"a.go": "package p\n\nfunc f(g func()) { go g() }\n"})
	res, err := instrument.Rewrite(p, func(plan.Key) *plan.Site { return nil }, instrument.Options{})
	if err != nil || len(res.Files) != 1 {
		t.Fatalf("%d files, %v", len(res.Files), err)
	}
	checkTypes(t, string(res.Files[0].Content))
}

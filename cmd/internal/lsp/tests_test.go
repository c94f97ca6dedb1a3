package lsp

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/registry"
)

// tested is a module with findings in a package, in its own tests, in tests from outside that need the
// package both with what its tests declare and by way of another package, and in a folder of tests alone.
// What vet reports stands beside them, and is vet's.
const tested = `-- go.mod --
module example.com/m

go 1.26.0
-- p/p.go --
package p

import "sync"

type Counter struct {
	mu sync.Mutex
	n  int
}

func (c *Counter) Add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

func (c *Counter) Sub() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
}

func (c *Counter) Get() int { return c.n }
-- q/q.go --
package q

import "example.com/m/p"

func New() *p.Counter { return new(p.Counter) }
-- p/p_test.go --
package p

import "testing"

func (c *Counter) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n = 0
}

func TestGet(t *testing.T) {
	n, done := 0, make(chan bool)
	go func() { n = new(Counter).Get(); done <- true }()
	n++
	<-done
}
-- p/x_test.go --
package p_test

import (
	"sync"
	"testing"

	"example.com/m/p"
	"example.com/m/q"
)

func TestReset(t *testing.T) {
	var c *p.Counter = q.New()
	c.Reset()
	var mu sync.Mutex
	mu.Lock()
	c.Add()
	mu.Lock()
}
-- only/only_test.go --
package only

import "testing"

func TestOnly(t *testing.T) {
	c := make(chan int)
	go func() { c <- 1 }() // a lead, which no editor shows
}
`

// buildDir is where interlock is built, for all tests that run it.
var buildDir string

func TestMain(m *testing.M) {
	var err error
	if buildDir, err = os.MkdirTemp("", "lsp"); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	os.RemoveAll(buildDir)
	os.Exit(code)
}

// program returns the name of interlock, which is built for the first test that asks.
func program(t *testing.T) string {
	t.Helper()
	name, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

var built = sync.OnceValues(func() (string, error) {
	name := filepath.Join(buildDir, "interlock.exe")
	if out, err := exec.Command("go", "build", "-race=false", "-o", name, "../../interlock").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building interlock: %w\n%s", err, out)
	}
	return name, nil
})

// run runs a command in a module, and returns what it prints on standard output and standard error.
func run(t *testing.T, dir string, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errors strings.Builder
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errors
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "PWD="+dir)
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errors.String()
}

// checked returns the likely and possible findings of `interlock check`, as "file:line:column code", in order.
func checked(t *testing.T, program, dir string) (list []string) {
	t.Helper()
	stdout, stderr := run(t, dir, program, "check", "-possible", "-format=jsonl", "./...")
	for line := range strings.Lines(stdout) {
		f := new(finding.Finding)
		if err := json.Unmarshal([]byte(line), f); err != nil {
			t.Fatalf("%v in %s\n%s", err, line, stderr)
		}
		if f.ID == "" { // the end
			continue
		}
		at, _ := primary(f)
		list = append(list, fmt.Sprintf("%s %s", at, f.Code))
	}
	slices.Sort(list)
	return list
}

var vetLine = regexp.MustCompile(`(?m)^(?:vet: )?(\S+\.go:\d+:\d+): (IL\d+): `)

// vetted returns the findings of go vet with interlock as its tool, in the same form.
func vetted(t *testing.T, program, dir string) (list []string) {
	t.Helper()
	args := []string{"go", "vet", "-vettool=" + program}
	for _, a := range registry.Analyzers() {
		args = append(args, "-"+a.Name+"."+check.PossibleFlag)
	}
	_, stderr := run(t, dir, append(args, "./...")...)
	for _, m := range vetLine.FindAllStringSubmatch(stderr, -1) {
		list = append(list, m[1]+" "+m[2])
	}
	slices.Sort(list)
	return slices.Compact(list) // a package and the package with its tests
}

// listed returns what the editor shows, in the same form.
func (e *editor) listed() (list []string) {
	for name, shown := range e.shown {
		for _, d := range shown {
			code, _ := d.Code.(protocol.String)
			list = append(list, fmt.Sprintf("%s:%d:%d %s", name, d.Range.Start.Line+1, d.Range.Start.Character+1, code))
		}
	}
	slices.Sort(list)
	return list
}

// agree waits until the editor shows what the commands find, and returns that.
func (e *editor) agree(program string) []string {
	e.t.Helper()
	want := checked(e.t, program, e.root)
	if vet := vetted(e.t, program, e.root); !slices.Equal(vet, want) {
		e.t.Errorf("go vet finds %q, check %q", vet, want)
	}
	e.wait(fmt.Sprintf("%q", want), func() bool { return slices.Equal(e.listed(), want) })
	return want
}

// Findings in tests are shown as check and vet report them, and go when they are corrected, by an edit of
// the test or of what it tests.
func TestTests(t *testing.T) {
	tool := program(t)
	e := start(t, unpack(t, []byte(tested)), Options{})
	for _, name := range []string{"p/p.go", "p/p_test.go", "p/x_test.go", "only/only_test.go"} {
		e.open(name)
	}
	want := []string{"p/p.go:22:38 IL1001", "p/x_test.go:17:2 IL3002"}
	if got := e.agree(tool); !slices.Equal(got, want) {
		t.Errorf("check finds %q, want %q", got, want)
	}
	for _, a := range e.actions("p/x_test.go", e.expect("p/x_test.go", "IL3002")[0]) {
		if isPreferred := a.IsPreferred != nil && *a.IsPreferred; isPreferred {
			t.Errorf("%s is offered in a test", a.Title)
		}
	}
	e.save("p/p_test.go", strings.Replace(e.disk("p/p_test.go"), "\tn++\n\t<-done\n", "\t<-done\n\tn++\n", 1))
	e.agree(tool)
	src := e.disk("p/p.go")
	e.save("p/p.go", strings.Replace(src, "type Counter", "// Size is new.\ntype Size int\n\ntype Counter", 1))
	e.save("p/x_test.go", strings.Replace(e.disk("p/x_test.go"), "\tc.Reset()", "\tc.Reset()\n\t_ = p.Size(1)", 1))
	e.agree(tool)
	e.save("p/x_test.go", strings.Replace(e.disk("p/x_test.go"), "c.Add()", "mu.Unlock()", 1))
	if got := e.agree(tool); len(got) != 1 {
		t.Errorf("corrected, check finds %q", got)
	}
	// A test that is gone leaves no diagnostic.
	e.save("p/x_test.go", strings.Replace(e.disk("p/x_test.go"), "mu.Unlock()", "c.Add()", 1))
	if got := e.agree(tool); len(got) != 2 {
		t.Errorf("locked twice again, check finds %q", got)
	}
	e.check(os.Remove(filepath.Join(e.root, "p", "x_test.go")))
	e.check(e.server.DidClose(t.Context(), &protocol.DidCloseTextDocumentParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: e.uri("p/x_test.go")}}))
	e.save("p/p.go", e.disk("p/p.go"))
	if got := e.agree(tool); len(got) != 1 {
		t.Errorf("in the end check finds %q", got)
	}
	e.stop()
}

// vets is a module of whose lines vet says what is wrong, some of which are about concurrency.
const vets = `-- go.mod --
module example.com/m

go 1.21.0
-- m.go --
package m

import (
	"context"
	"sync"
	"sync/atomic"
)

type Counter struct {
	mu sync.Mutex
	n  int64
}

func (c Counter) Get() int64 { // copylocks
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func Copy(c *Counter) int64 {
	d := *c // copylocks
	return d.n
}

func Loop(list []int) {
	for _, n := range list {
		go func() {
			println(n) // loopclosure
		}()
	}
}

func Cancel(ctx context.Context) context.Context {
	ctx, _ = context.WithCancel(ctx) // lostcancel
	return ctx
}

func Add(c *Counter) {
	c.n = atomic.AddInt64(&c.n, 1) // atomic
}

func Wait() {
	var wg sync.WaitGroup
	for i := 0; i < 3; i++ {
		go func() {
			wg.Add(1) // waitgroup
			defer wg.Done()
		}()
	}
	wg.Wait()
}
-- m_test.go --
package m

import "testing"

func TestFatal(t *testing.T) {
	done := make(chan bool)
	go func() {
		defer close(done)
		t.Fatal("no") // testinggoroutine
	}()
	<-done
}
`

// What vet reports at a line is not reported a second time there, by the server, check, or vet with interlock.
func TestNothingOfVet(t *testing.T) {
	tool := program(t)
	e := start(t, unpack(t, []byte(vets)), Options{})
	e.open("m.go")
	_, said := run(t, e.root, "go", "vet", "./...")
	for i, line := range strings.Split(e.disk("m.go"), "\n") {
		if _, pass, marked := strings.Cut(line, " // "); marked && !strings.Contains(said, fmt.Sprintf("m.go:%d:", i+1)) {
			t.Errorf("vet does not report %s in line %d:\n%s", pass, i+1, said)
		}
	}
	list := e.agree(tool)
	t.Logf("interlock finds %q", list)
	for _, f := range list {
		if at := f[:strings.LastIndex(f, ":")+1]; strings.Contains(said, at) {
			t.Errorf("%s is a place of vet's:\n%s", f, said)
		}
	}
	e.stop()
}

// No action is one that editors apply without asking, be it the preferred one.
func TestNoFixAll(t *testing.T) {
	e := start(t, unpack(t, []byte(counter)), Options{})
	e.open("count/count.go")
	d := e.expect("count/count.go", "IL1001")[0]
	ask := func(only ...protocol.CodeActionKind) []protocol.CommandOrCodeAction {
		list, err := e.server.CodeAction(t.Context(), &protocol.CodeActionParams{
			TextDocument: protocol.TextDocumentIdentifier{URI: e.uri("count/count.go")}, Range: d.Range,
			Context: protocol.CodeActionContext{Diagnostics: []protocol.Diagnostic{d}, Only: only},
		})
		e.check(err)
		return list
	}
	for _, kind := range []protocol.CodeActionKind{"source", "source.fixAll", "source.fixAll.interlock"} {
		if list := ask(kind); len(list) > 0 {
			t.Errorf("%s offers %v", kind, list)
		}
	}
	for _, a := range ask() {
		if kind := a.(*protocol.CodeAction).Kind; kind == nil || strings.HasPrefix(string(*kind), "source") {
			t.Errorf("an action of kind %v", kind)
		}
	}
	e.stop()
}

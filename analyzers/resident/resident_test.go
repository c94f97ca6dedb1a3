package resident

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/tools/txtar"
)

// layers is a module of three packages, each of which imports the one before.
const layers = `
-- go.mod --
module example.com/m

go 1.26.0
-- low/low.go --
package low

type Box struct{ N int }

func (b *Box) Add() { b.N++ }
-- mid/mid.go --
package mid

import "example.com/m/low"

type Shelf struct{ Box low.Box }

func (s *Shelf) Add() { s.Box.Add() }
-- high/high.go --
package high

import (
	"sync"

	"example.com/m/mid"
)

type Top struct {
	mu    sync.Mutex
	shelf mid.Shelf
	n     int
}

func (t *Top) Add() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shelf.Add()
	t.n++
}

func (t *Top) Twice() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n += 2
}

func (t *Top) Get() int { return t.n }

func Run(t *Top) {
	go t.Add()
	go t.Twice()
	println(t.Get())
}
`

// fixture is a module on disk with edits that are not saved.
type fixture struct {
	t       *testing.T
	root    string
	buffers map[string][]byte
	*Module
	checked []string // packages analysed since the last call of analyse
}

func newFixture(t *testing.T, archive string) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, root: dir, buffers: map[string][]byte{}}
	for _, file := range txtar.Parse([]byte(archive)).Files {
		f.write(file.Name, string(file.Data))
	}
	f.Module = f.load()
	return f
}

func (f *fixture) name(file string) string { return filepath.Join(f.root, filepath.FromSlash(file)) }

func (f *fixture) write(file, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.name(file)), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.name(file), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) load() *Module {
	f.t.Helper()
	m, err := Load(f.t.Context(), Options{
		Root: f.root,
		Read: func(name string) ([]byte, error) {
			if data, ok := f.buffers[name]; ok {
				return data, nil
			}
			return os.ReadFile(name)
		},
		Buffers: func() map[string][]byte { return f.buffers },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return m
}

// replace edits a file without saving it.
func (f *fixture) replace(file, old, new string) {
	f.t.Helper()
	text, err := f.options.Read(f.name(file))
	if err != nil || !strings.Contains(string(text), old) {
		f.t.Fatalf("%s has no %q (%v)", file, old, err)
	}
	f.buffers[f.name(file)] = []byte(strings.Replace(string(text), old, new, 1))
}

// analyse brings the package of a file up to date, and returns which packages that took.
func (f *fixture) analyse(file string) ([]string, error) {
	f.t.Helper()
	f.checked = nil
	if err := f.Refresh(f.t.Context(), f.name(file)); err != nil {
		return nil, err
	}
	err := f.Analyse(f.t.Context(), f.PackageOf(f.name(file)), func(path string) {
		f.checked = append(f.checked, strings.TrimPrefix(path, "example.com/m/"))
	})
	return f.checked, err
}

func (f *fixture) expect(file string, want ...string) {
	f.t.Helper()
	got, err := f.analyse(file)
	if err != nil {
		f.t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("analysed %q, want %q", got, want)
	}
	if file == "high/high.go" { // which needs all that this module has
		f.compare(file)
	}
}

// compare compares the findings with those of a module that is loaded from nothing.
func (f *fixture) compare(file string) {
	f.t.Helper()
	fresh := f.load()
	if err := fresh.Analyse(f.t.Context(), fresh.PackageOf(f.name(file)), func(string) {}); err != nil {
		f.t.Fatal(err)
	}
	if a, b := texts(f.t, f.Module), texts(f.t, fresh); !slices.Equal(a, b) {
		f.t.Errorf("kept: %q\nfresh: %q", a, b)
	}
}

func texts(t *testing.T, m *Module) (list []string) {
	t.Helper()
	summaries, err := m.Summaries()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range summaries {
		for _, f := range s.Findings {
			list = append(list, fmt.Sprintf("%s %s %s %v", f.ID, f.Code, f.Title, f.Accesses))
		}
	}
	return list
}

func TestKeeps(t *testing.T) {
	f := newFixture(t, layers)
	f.expect("high/high.go", "low", "mid", "high")
	if list := texts(t, f.Module); len(list) != 1 || !strings.Contains(list[0], "Top.n is read without t.mu") {
		t.Fatalf("findings %q", list)
	}
	f.expect("high/high.go")
	// An edit in one package is its own matter, unless its API or its facts change.
	f.replace("high/high.go", "t.n += 2", "t.n += 3")
	f.expect("high/high.go", "high")
	f.replace("low/low.go", "b.N++", "b.N += 1")
	f.expect("high/high.go", "low")
	f.replace("low/low.go", "func (b *Box) Add", "// Add adds.\n\nfunc (b *Box) Add")
	f.expect("high/high.go", "low")
	f.replace("low/low.go", "type Box struct{ N int }", "type Box struct{ N, M int }")
	f.expect("high/high.go", "low", "mid", "high")
	// A lock that the method takes is a fact that the importers see.
	f.replace("low/low.go", "package low", "package low\n\nimport \"sync\"\n\nvar Mu sync.Mutex\n")
	f.expect("high/high.go", "low", "mid", "high")
	f.replace("low/low.go", "b.N += 1", "Mu.Lock()\n\tb.N += 1\n\tMu.Unlock()\n")
	f.expect("low/low.go", "low")
	if !f.IsStale("example.com/m/mid") || f.IsStale("example.com/m/high") {
		t.Error("the facts of low concern mid, and high only where those of mid change")
	}
	f.expect("high/high.go", "mid", "high")
}

// The first package that is asked for is analysed with what it needs, and no more.
func TestLazy(t *testing.T) {
	f := newFixture(t, layers)
	f.expect("mid/mid.go", "low", "mid")
	f.replace("low/low.go", "type Box struct{ N int }", "type Box struct{ N, M int }")
	f.expect("low/low.go", "low")
	if !f.IsStale("example.com/m/mid") || f.IsStale("example.com/m/high") {
		t.Error("mid was analysed, and high was not")
	}
	f.expect("high/high.go", "mid", "high")
}

// What does not compile is said, with its place, and what was known stays.
func TestCompileError(t *testing.T) {
	f := newFixture(t, layers)
	f.expect("high/high.go", "low", "mid", "high")
	before := texts(t, f.Module)
	for _, edit := range [][3]string{
		{"high/high.go", "t.n += 2", "t.n += "},
		{"high/high.go", "t.n += ", "t.n += x"},
		{"mid/mid.go", "package mid", "package mid\n\nimport _ \"example.com/none\""},
		{"low/low.go", "package low", "package"},
	} {
		f.replace(edit[0], edit[1], edit[2])
		var problem *CompileError
		if _, err := f.analyse("high/high.go"); !errors.As(err, &problem) || !strings.Contains(problem.Problem, edit[0]) {
			t.Errorf("after %q: error %v", edit[2], err)
		}
		if after := texts(t, f.Module); !slices.Equal(before, after) {
			t.Errorf("after %q: findings %q, want %q", edit[2], after, before)
		}
	}
	clear(f.buffers)
	f.expect("high/high.go", "mid") // which had another import
}

// Files and imports that come and go are found out without anybody who says so.
func TestListsAnew(t *testing.T) {
	f := newFixture(t, layers)
	f.expect("high/high.go", "low", "mid", "high")
	f.write("high/more.go", "package high\n\nimport \"sort\"\n\nfunc (t *Top) More() int { sort.Ints(nil); return t.n }\n")
	f.expect("high/high.go", "high")
	if err := os.Remove(f.name("high/more.go")); err != nil {
		t.Fatal(err)
	}
	f.expect("high/high.go", "high")
	f.replace("low/low.go", "package low", "package low\n\nimport \"strings\"\n\nvar _ = strings.ToUpper")
	f.expect("high/high.go", "low")
	f.write("new/new.go", "package new\n\nimport \"example.com/m/high\"\n\nvar T high.Top\n")
	f.expect("new/new.go", "new")
	f.write("go.mod", "module example.com/m\n\ngo 1.25.0\n")
	f.expect("high/high.go", "low", "mid", "high")
}

func TestCancelled(t *testing.T) {
	f := newFixture(t, layers)
	ctx, cancel := context.WithCancel(t.Context())
	err := f.Analyse(ctx, "example.com/m/high", func(path string) {
		if strings.HasSuffix(path, "mid") {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	f.expect("high/high.go", "mid", "high") // what was done is kept
}

func TestNoModule(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(t.Context(), Options{Root: dir, Read: os.ReadFile, Buffers: func() map[string][]byte { return nil }})
	if !errors.As(err, new(*LoadError)) {
		t.Errorf("error %v", err)
	}
}

// workers is a package in which nothing hangs: what may is in functions that a scope calls, or
// passes over as they do nothing that matters.
const workers = `
-- go.mod --
module example.com/m

go 1.26.0
-- high/high.go --
package high

type Job struct{ n int }

func Run() int {
	done := make(chan Job)
	go work(done)
	if busy() {
		count(1)
	}
	return (<-done).n
}

func work(done chan Job) { finish(done) }

func finish(done chan Job) { done <- Job{1} }

func busy() bool { return true }

func count(n int) { note(n) }

func note(n int) {}

func other() {}
`

// TestMemory demands the findings of a fresh analysis after each edit: scopes that were quiet
// are simulated again where code has changed that they go through.
func TestMemory(t *testing.T) {
	f := newFixture(t, workers)
	for _, step := range []struct {
		old, new string
		found    int
	}{
		{"", "", 0},
		{"func other() {}", "func other() { println() }", 0},
		{"done <- Job{1}", "_ = Job{1}", 1},
		{"_ = Job{1}", "done <- Job{1}", 0},
		{"func note(n int) {}", "func note(n int) { select {} }", 0}, // it is meant to wait
		{"func note(n int) { select {} }", "func note(n int) { var c chan int; <-c }", 1},
		{"func note(n int) { var c chan int; <-c }", "func note(n int) {}", 0},
		{"make(chan Job)", "make(chan Job, 1)", 0},
		{"go work(done)", "", 1},
	} {
		f.replace("high/high.go", step.old, step.new)
		if _, err := f.analyse("high/high.go"); err != nil {
			t.Fatal(err)
		}
		f.compare("high/high.go")
		if list := texts(t, f.Module); len(list) != step.found {
			t.Errorf("%q for %q: %q", step.new, step.old, list)
		}
	}
}

// TestCancel demands that an analysis ends within a pass, and leaves what was known.
func TestCancel(t *testing.T) {
	f := newFixture(t, workers)
	if _, err := f.analyse("high/high.go"); err != nil {
		t.Fatal(err)
	}
	f.replace("high/high.go", "done <- Job{1}", "_ = Job{1}")
	ctx := &ending{Context: t.Context(), after: 3}
	err := f.Analyse(ctx, "example.com/m/high", func(string) {})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("it ends with %v", err)
	}
	if list := texts(t, f.Module); len(list) != 0 {
		t.Errorf("it leaves %q", list)
	}
	if _, err := f.analyse("high/high.go"); err != nil {
		t.Fatal(err)
	}
	f.compare("high/high.go")
}

// ending is a context that ends when it was asked a number of times.
type ending struct {
	context.Context
	after int64
	asked atomic.Int64
}

func (e *ending) Err() error {
	if e.asked.Add(1) > e.after {
		return context.Canceled
	}
	return nil
}

// Tests are analysed when asked for, and again where they, or what they import, have changed.
func TestTests(t *testing.T) {
	f := newFixture(t, layers)
	f.write("low/low_test.go", "package low\n\nimport \"testing\"\n\nfunc (b *Box) Zero() { b.N = 0 }\n\n"+
		"func TestZero(t *testing.T) { new(Box).Zero() }\n")
	f.write("low/x_test.go", "package low_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m/low\"\n"+
		"\t_ \"example.com/m/mid\"\n)\n\nfunc TestBox(t *testing.T) { new(low.Box).Zero() }\n")
	tests := func(want ...string) {
		t.Helper()
		if _, err := f.analyse("low/low.go"); err != nil {
			t.Fatal(err)
		}
		f.checked = nil
		isNew, err := f.AnalyseTests(t.Context(), "example.com/m/low", func(path string) {
			f.checked = append(f.checked, strings.TrimPrefix(path, "example.com/m/"))
		})
		if err != nil || isNew != (len(want) > 0) || !slices.Equal(f.checked, want) {
			t.Errorf("analysed %q (new: %v), want %q; error %v", f.checked, isNew, want, err)
		}
	}
	// The package with its tests, what the test from outside needs beside it, first as it is and then typed
	// against that, and the test.
	tests("low", "mid", "mid", "low_test")
	tests()
	f.replace("low/x_test.go", "new(low.Box).Zero()", "println()\n\tnew(low.Box).Zero()")
	tests("low_test")
	f.replace("low/low_test.go", "b.N = 0", "b.N = 1")
	tests("low")
	f.replace("low/low_test.go", "Zero() {", "Zero(...int) {")
	tests("low", "mid", "low_test")
	f.replace("low/low.go", "b.N++", "b.N += 1")
	tests("low")
	f.write("low/more_test.go", "package low_test\n\nvar "+"X int\n")
	tests("low", "mid", "low_test")
	// What is too much is said once.
	f.write("low/large_test.go", "package low\n\n/*"+strings.Repeat("x", largestTests)+"*/\n")
	if _, err := f.AnalyseTests(t.Context(), "example.com/m/low", func(string) {}); err == nil {
		t.Error("there is no limit")
	}
	tests()
}

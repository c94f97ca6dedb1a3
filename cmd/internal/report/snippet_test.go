package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// What a run has shown is completed from the source: the locks around an access, and one name for a literal that gc
// has inlined. What a check says of locks stays.
func TestReadSource(t *testing.T) {
	dir := t.TempDir()
	source := `package p

func (t *T) F() {
	step := func() func() {
		return func() {
			t.state.Lock()
			t.now++
			t.state.Unlock()
			t.then()
		}
	}
	step()()
}

func (t *T) G() int {
	t.state.RLock()
	defer t.state.RUnlock()
	return t.now
}

func (t *T) H() { t.now = 0 }

func (t *T) Start() {
	t.once.Do(func() {
		go func() {
			t.now++
		}()
		go func() { t.now-- }()
	})
}

// The caller holds the lock.

func (t *T) add() {
	t.now++
}

func (t *T) Add() {
	t.state.Lock()
	t.add()
	t.state.Unlock()
}

func (t *T) Late() {
	defer t.add()
	t.state.Lock()
	defer t.state.Unlock()
	t.then()
}

func (t *T) With() {
	t.with(func() {
		t.now++
	})
}

func (t *T) with(f func()) {
	t.state.Lock()
	defer t.state.Unlock()
	f()
}
`
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	const inlined = "example.com/p.(*T).F.(*T).F.func1.func2"
	at := func(line int, function string, stack ...finding.Frame) finding.Access {
		return finding.Access{Position: finding.Position{File: "p.go", Line: line}, Function: function,
			Goroutine: &finding.Goroutine{Stack: stack}}
	}
	write := at(7, "(*T).F.func1.1", finding.Frame{Function: inlined, File: "p.go", Line: 7},
		finding.Frame{Function: "example.com/p.(*T).F", File: "p.go", Line: 12})
	read := at(18, "(*T).G", finding.Frame{Function: "example.com/p.(*T).G", File: "p.go", Line: 18},
		finding.Frame{Function: inlined, File: "p.go", Line: 9}, finding.Frame{Function: "q.F.func1", File: "q.go", Line: 9})
	plain, checked := at(21, "(*T).H"), at(7, "(*T).F.func1.1")
	checked.Locks = []string{"t.other"}
	// The caller holds a lock; one that defers the call may have released it.
	frame := func(function string, line int) finding.Frame {
		return finding.Frame{Function: "example.com/p." + function, File: "p.go", Line: line}
	}
	called := at(35, "(*T).add", frame("(*T).add", 35), frame("(*T).Add", 40))
	late := at(35, "(*T).add", frame("(*T).add", 35), frame("(*T).Late", 49))
	inLiteral := at(53, "(*T).With.func1", frame("(*T).With.func1", 53), frame("(*T).with", 60), frame("(*T).With", 52))
	// A goroutine that a literal has started: the go statement is one of the literal, not of what it starts.
	const starter = "example.com/p.(*T).Start.func1"
	var started []finding.Access
	for i, line := range []int{26, 28} {
		a := at(line, fmt.Sprintf("(*T).Start.func1.%d", i+1),
			finding.Frame{Function: "example.com/p.(*T).Start.func1.gowrap1", File: "p.go", Line: line})
		a.Goroutine.Created = []finding.Frame{{Function: starter, File: "p.go", Line: 25 + 3*i}}
		started = append(started, a)
	}
	of := append([]finding.Access{write, read, plain, checked, called, late, inLiteral}, started...)
	f := &finding.Finding{Code: finding.CaughtInTheAct, Accesses: of}
	(&Report{Root: dir, Findings: []*finding.Finding{f}}).ReadSource()
	for i, want := range [][]string{{"t.state"}, {"t.state (read)"}, nil, {"t.other"}, {"t.state"}, nil,
		{"t.state"}} {
		if got := f.Accesses[i].Locks; !slices.Equal(got, want) {
			t.Errorf("access %d holds %q, want %q", i, got, want)
		}
	}
	if got := f.Accesses[0].Source; got != "t.now++" {
		t.Errorf("the line of the first access is %q", got)
	}
	for _, a := range started {
		if got := a.Goroutine.Created[0].Function; got != starter {
			t.Errorf("the goroutine at line %d was started by %s, want %s", a.Line, got, starter)
		}
	}
	var names []string
	for _, a := range f.Accesses[:2] {
		for _, frame := range a.Goroutine.Stack {
			names = append(names, frame.Function)
		}
	}
	want := []string{"example.com/p.(*T).F.func1.1", "example.com/p.(*T).F", "example.com/p.(*T).G",
		"example.com/p.(*T).F.func1.1", "q.F.func1"}
	if !slices.Equal(names, want) {
		t.Errorf("names\n%q, want\n%q", names, want)
	}
}

// The end of a section that a panic has ended was made by nobody: the source says which lock its function holds there,
// and where it does not, nothing is said.
func TestLocksOfAnEndNotReached(t *testing.T) {
	dir := t.TempDir()
	source := "package p\n\nfunc (t *T) F() {\n\tt.mu.Lock()\n\tdefer t.mu.Unlock()\n\tt.n = 1\n}\n\nvar _ = n\n"
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	at := func(line int) finding.Access {
		return finding.Access{Position: finding.Position{File: "p.go", Line: line}, Mode: finding.Write, Expr: "t.n"}
	}
	panicked := at(6)
	panicked.Mode, panicked.Expr, panicked.Step = finding.Leave, "panic: failed", 3
	panicked.Goroutine = &finding.Goroutine{}
	f := &finding.Finding{Code: finding.TestAndUse, Section: &finding.Section{}, Evidence: &finding.Evidence{},
		Accesses: []finding.Access{at(6), at(9), panicked}}
	(&Report{Root: dir, Findings: []*finding.Finding{f}}).ReadSource()
	if got := f.Accesses[0].Locks; !slices.Equal(got, []string{"t.mu"}) {
		t.Errorf("at the end the locks %q are held", got)
	}
	if knowsLocks(f, &f.Accesses[1]) {
		t.Error("an access that was not made is said to hold no lock")
	}
}

// A lock that a caller holds is not added again under another name.
func TestAddLocks(t *testing.T) {
	for _, c := range []struct{ locks, more, want []string }{
		{[]string{"q.Mutex"}, []string{"q"}, []string{"q.Mutex"}},
		{[]string{"q.RWMutex (read)"}, []string{"q (read)"}, []string{"q.RWMutex (read)"}},
		{[]string{"a.mu"}, []string{"b.mu"}, []string{"a.mu"}},
		{[]string{"q.Mutex"}, []string{"p"}, []string{"q.Mutex", "p"}},
		{[]string{"q.mu"}, []string{"q"}, []string{"q.mu", "q"}},
	} {
		if got := addLocks(c.locks, c.more); !slices.Equal(got, c.want) {
			t.Errorf("%v and %v: %v, want %v", c.locks, c.more, got, c.want)
		}
	}
}

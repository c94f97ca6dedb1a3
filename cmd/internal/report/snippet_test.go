package report

import (
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
	f := &finding.Finding{Code: finding.CaughtInTheAct, Accesses: []finding.Access{write, read, plain, checked}}
	(&Report{Root: dir, Findings: []*finding.Finding{f}}).ReadSource()
	for i, want := range [][]string{{"t.state"}, {"t.state (read)"}, nil, {"t.other"}} {
		if got := f.Accesses[i].Locks; !slices.Equal(got, want) {
			t.Errorf("access %d holds %q, want %q", i, got, want)
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

package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// circular is a module with two locks that are taken in both orders, in two files.
const circular = `-- go.mod --
module example.com/m

go 1.26.0
-- a.go --
package m

import "sync"

type Pair struct{ a, b sync.Mutex }

func (p *Pair) Forward() {
	p.a.Lock()
	p.b.Lock()
	p.b.Unlock()
	p.a.Unlock()
}
-- b.go --
package m

func (p *Pair) Back() {
	p.b.Lock()
	p.a.Lock()
	p.a.Unlock()
	p.b.Unlock()
}

func Run(p *Pair) {
	go p.Forward()
	go p.Back()
}
`

// relatedTexts returns what stands in the related places of a diagnostic, in the texts that the client has.
func relatedTexts(t *testing.T, d protocol.Diagnostic,
	read func(protocol.DiagnosticRelatedInformation) string) (list []string) {
	t.Helper()
	for _, r := range d.RelatedInformation {
		list = append(list, marked(t, read(r), r.Location.Range))
	}
	return list
}

// A cycle of locks marks the calls that take them, and its other places follow what is typed into either file.
func TestCycle(t *testing.T) {
	e := start(t, unpack(t, []byte(circular)), Options{})
	e.open("a.go")
	e.open("b.go")
	texts := map[string]string{"a.go": e.disk("a.go"), "b.go": e.disk("b.go")}
	read := func(r protocol.DiagnosticRelatedInformation) string { return texts[e.relative(r.Location.URI)] }
	d := e.expect("a.go", "IL3001")[0]
	if got := marked(t, texts["a.go"], d.Range); got != "p.b.Lock()" {
		t.Errorf("it marks %q", got)
	}
	e.agree(program(t))
	want := []string{"p.a.Lock()", "p.a.Lock()", "p.b.Lock()"}
	if got := relatedTexts(t, d, read); !slices.Equal(got, want) {
		t.Errorf("related are %q, want %q", got, want)
	}
	// Lines are typed into the other file, and nothing is saved there.
	texts["b.go"] = strings.Replace(texts["b.go"], "package m\n", "package m\n\n// 𝒲\n\n", 1)
	e.edit("b.go", texts["b.go"])
	action := e.actions("a.go", d)[0]
	if got := relatedTexts(t, action.Diagnostics[0], read); !slices.Equal(got, want) {
		t.Errorf("after lines are put in, related are %q, want %q", got, want)
	}
	// A line that is typed over is no place any more.
	texts["b.go"] = strings.Replace(e.disk("b.go"), "\tp.a.Lock()", "\tprintln()", 1)
	e.edit("b.go", texts["b.go"])
	action = e.actions("a.go", d)[0]
	want = []string{"p.a.Lock()", "p.b.Lock()"}
	if got := relatedTexts(t, action.Diagnostics[0], read); !slices.Equal(got, want) {
		t.Errorf("after a line is typed over, related are %q, want %q", got, want)
	}
	e.stop()
}

// What a run has shown of locks follows edits with all its places.
func TestSeenCycle(t *testing.T) {
	// No check knows which lock is in the map.
	dir := unpack(t, []byte(strings.Replace(circular, "\tp.b.Lock()\n\tp.a.Lock()\n\tp.a.Unlock()\n\tp.b.Unlock()\n",
		"\tp.b.Lock()\n\tlocks[1]()\n\tp.a.Unlock()\n\tp.b.Unlock()\n", 1)+"\nvar locks map[int]func()\n"))
	at := func(file string, line, from, to int) finding.Position {
		return finding.Position{File: file, Line: line, Column: from, EndLine: line, EndColumn: to}
	}
	wait := func(at finding.Position, function, source, expr, holds string) finding.Access {
		return finding.Access{Position: at, Package: "example.com/m", Function: function, Expr: expr, Source: source,
			Mode: finding.Lock, Locks: []string{holds}}
	}
	forward, back := at("a.go", 9, 2, 12), at("b.go", 5, 2, 12)
	sinceForward, sinceBack := at("a.go", 8, 2, 12), at("b.go", 4, 2, 12)
	f := &finding.Finding{
		Version: finding.SchemaVersion, Code: finding.LockCycle, Status: finding.Confirmed, Title: "deadlock",
		Accesses: []finding.Access{wait(forward, "(*Pair).Forward", "p.b.Lock()", "p.b.Lock()", "p.a"),
			wait(back, "(*Pair).Back", "locks[1]()", "locks[1]()", "p.b")},
		Cycle: []finding.Edge{
			{From: "m.Pair.a", To: "m.Pair.b", Position: forward, Function: "(*Pair).Forward", Since: &sinceForward},
			{From: "m.Pair.b", To: "m.Pair.a", Position: back, Function: "(*Pair).Back", Since: &sinceBack}},
		Evidence: &finding.Evidence{Engine: "watch", Run: 1, Runs: 1, Hits: 1},
	}
	f.ID = f.ComputeID()
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "found.jsonl"), withEnd(data), 0o644); err != nil {
		t.Fatal(err)
	}
	e := start(t, dir, Options{From: []string{"found.jsonl"}})
	e.open("a.go")
	e.open("b.go")
	texts := map[string]string{"a.go": e.disk("a.go"), "b.go": e.disk("b.go")}
	read := func(r protocol.DiagnosticRelatedInformation) string { return texts[e.relative(r.Location.URI)] }
	want := []string{"p.b.Lock()", "p.a.Lock()", "locks[1]()", "p.b.Lock()"}
	expect := func(when string) {
		t.Helper()
		e.wait("all places "+when, func() bool {
			list := e.shown["a.go"]
			if len(list) != 1 || len(list[0].RelatedInformation) < len(want) {
				return false
			}
			for i, r := range list[0].RelatedInformation[len(list[0].RelatedInformation)-len(want):] {
				lines := strings.Split(read(r), "\n")
				at := r.Location.Range.Start
				if int(at.Line) >= len(lines) || !strings.HasPrefix(lines[at.Line], "\t"+want[i]) {
					return false
				}
			}
			return true
		})
	}
	expect("at first")
	for _, name := range []string{"a.go", "b.go"} {
		texts[name] = strings.Replace(texts[name], "package m\n", "package m\n\n// new\n\n", 1)
		e.save(name, texts[name])
		expect("after lines are put into " + name)
	}
	e.stop()
}

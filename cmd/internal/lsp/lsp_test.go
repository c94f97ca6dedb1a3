package lsp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/interlock-go/interlock/analyzers/finding"
)

func utf16s(s string) []uint16 { return utf16.Encode([]rune(s)) }
func decode(u []uint16) []rune { return utf16.Decode(u) }

// counter is a module with a race, and a second package that relies on the first.
const counter = `
-- go.mod --
module example.com/m

go 1.26.0
-- count/count.go --
package count

import "sync"
// Counter is safe for concurrent use.
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

func Run(c *Counter) {
	go c.Add()
	go c.Sub()
	println(c.Get())
}
-- count/count_test.go --
package count

import "testing"

func TestRun(t *testing.T) { Run(new(Counter)) }
-- low/low.go --
package low

func Do(f func()) { f() }
-- high/high.go --
package high

import (
	"sync"

	"example.com/m/low"
)

type Top struct {
	mu sync.Mutex
	m  map[string]int
}

func (t *Top) Set() {
	t.mu.Lock()
	defer t.mu.Unlock()
	low.Do(func() {})
	t.m["a"]++
}
`

func TestDiagnostics(t *testing.T) {
	e := start(t, unpack(t, []byte(counter)), Options{})
	e.open("count/count.go")
	list := e.expect("count/count.go", "IL1001")
	d := list[0]
	src := e.disk("count/count.go")
	if got := marked(t, src, d.Range); got != "c.n" {
		t.Errorf("it marks %q", got)
	}
	if d.Severity != protocol.DiagnosticSeverityWarning || len(d.RelatedInformation) == 0 {
		t.Errorf("severity %v, related %v", d.Severity, d.RelatedInformation)
	}
	// An edit that protects the field clears it, and one that takes the lock away brings it back.
	fixed := strings.Replace(src, "Get() int { return c.n }",
		"Get() int {\n\tc.mu.Lock()\n\tdefer c.mu.Unlock()\n\treturn c.n\n}", 1)
	e.save("count/count.go", fixed)
	e.expect("count/count.go")
	e.save("count/count.go", src)
	e.expect("count/count.go", "IL1001")
	e.stop()
}

// without is an input that goes on for ever without a line's end.
type without struct{}

func (without) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// What is not framed as a message ends the session with an error, although the client goes on, or stays and says
// nothing more. What is framed and no message is answered, and the session goes on.
func TestEnds(t *testing.T) {
	const exit = "Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}"
	message := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	silent := strings.NewReader // which ends there
	for name, in := range map[string]io.Reader{
		"cut off":    silent("Content-Length: 100\r\n\r\n{}"),
		"empty":      silent(""),
		"exit first": silent(exit),
	} {
		t.Run(name, func(t *testing.T) { testEnds(t, in, name == "exit first") })
	}
	for name, in := range map[string]string{
		"no header":      "hello\r\n\r\n",
		"no number":      "Content-Length: x\r\n\r\n{}",
		"negative":       "Content-Length: -2\r\n\r\n{}",
		"more than int":  "Content-Length: 99999999999999999999\r\n\r\n{}",
		"nothing":        "Content-Length: 0\r\n\r\n",
		"no length":      "Content-Type: application/json\r\n\r\n{}",
		"length too low": "Content-Length: 20\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}" + exit,
		"too high":       "Content-Length: 40\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}" + exit,
	} {
		t.Run(name, func(t *testing.T) {
			r, w := io.Pipe()
			defer w.Close()
			go io.WriteString(w, in)
			testEnds(t, r, false)
		})
	}
	for body, code := range map[string]jsonrpc2.Code{
		"{x}":  jsonrpc2.ParseError,
		"3":    jsonrpc2.ParseError,
		"null": jsonrpc2.ParseError,
		"[]":   jsonrpc2.InvalidRequest,
		`[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}]`: jsonrpc2.InvalidRequest,
		"{}":                             jsonrpc2.InvalidRequest,
		`{"id":1,"method":"initialize"}`: jsonrpc2.InvalidRequest,
		`{"jsonrpc":"2.0","id":{},"method":"initialize"}`: jsonrpc2.InvalidRequest,
	} {
		t.Run(body, func(t *testing.T) {
			in := message(body) + message(`{"jsonrpc":"2.0","id":7,"method":"shutdown"}`) + exit
			var out bytes.Buffer
			// Without initialize there is nothing to shut down.
			if err := Serve(t.Context(), strings.NewReader(in), &out, Options{}); !errors.Is(err, ErrNoShutdown) {
				t.Errorf("it ends with %v", err)
			}
			for _, want := range []string{`"id":null`, fmt.Sprintf(`"code":%d`, code), `"id":7`} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the answers have no %s:\n%s", want, out.String())
				}
			}
		})
	}
	t.Run("endless header", func(t *testing.T) { testEnds(t, without{}, false) })
	t.Run("endless message", func(t *testing.T) {
		testEnds(t, io.MultiReader(strings.NewReader("Content-Length: 1000000000\r\n\r\n"), without{}), false)
	})
}

// testEnds has the server read an input, which is to end the session.
func testEnds(t *testing.T, in io.Reader, noShutdown bool) {
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), in, io.Discard, Options{}) }()
	select {
	case err := <-ended:
		if err == nil || noShutdown && !errors.Is(err, ErrNoShutdown) {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(deadline):
		t.Error("it hangs")
	}
}

// apply returns the texts that a client has after an edit, by file.
func (e *editor) apply(edit *protocol.WorkspaceEdit) map[string]string {
	e.t.Helper()
	after := map[string]string{}
	for _, c := range edit.DocumentChanges {
		change := c.(*protocol.TextDocumentEdit)
		name := e.relative(change.TextDocument.URI)
		if v := change.TextDocument.Version; v != nil && *v != e.versions[name] {
			e.t.Errorf("an edit of version %d of %s, which is at %d", *v, name, e.versions[name])
		}
		now := newText([]byte(e.disk(name)))
		for _, one := range slices.Backward(change.Edits) { // places are those before all edits
			te := one.(*protocol.TextEdit)
			now = now.apply(&protocol.TextDocumentContentChangePartial{Range: te.Range, Text: te.NewText})
		}
		after[name] = string(now.data)
	}
	return after
}

// actions returns the code actions at a diagnostic.
func (e *editor) actions(name string, d protocol.Diagnostic) (list []*protocol.CodeAction) {
	e.t.Helper()
	all, err := e.server.CodeAction(e.t.Context(), &protocol.CodeActionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: e.uri(name)}, Range: d.Range,
		Context: protocol.CodeActionContext{Diagnostics: []protocol.Diagnostic{d}},
	})
	e.check(err)
	for _, a := range all {
		list = append(list, a.(*protocol.CodeAction))
	}
	return list
}

func TestActions(t *testing.T) {
	about := func(c finding.Code) string { return "about " + string(c) }
	e := start(t, unpack(t, []byte(counter)), Options{Explain: about})
	e.open("count/count.go")
	d := e.expect("count/count.go", "IL1001")[0]
	list := e.actions("count/count.go", d)
	if len(list) != 3 || !isTrue(list[0].IsPreferred) || isTrue(list[1].IsPreferred) || isTrue(list[2].IsPreferred) {
		t.Fatalf("actions %+v", list)
	}
	// A client may name the diagnostic with the cursor elsewhere in the line.
	elsewhere := d
	elsewhere.Range.Start.Character, elsewhere.Range.End.Character = 0, 0
	if n := len(e.actions("count/count.go", elsewhere)); n != 3 {
		t.Errorf("%d actions at the start of the line", n)
	}
	// Nothing is offered for what is not on disk.
	src := e.disk("count/count.go")
	e.edit("count/count.go", src+"\n")
	if a := e.actions("count/count.go", d)[0]; isTrue(a.IsPreferred) || !strings.Contains(a.Disabled.Reason, "save") {
		t.Errorf("before the file is saved: %+v", a)
	}
	e.edit("count/count.go", src)
	list = e.actions("count/count.go", d)
	// The edit comes when it is asked for.
	if list[0].Edit != nil {
		t.Error("the edit was made before it was asked for")
	}
	fixed, err := e.server.CodeActionResolve(t.Context(), list[0])
	e.check(err)
	after := e.apply(fixed.Edit)
	if len(after) != 1 || !strings.Contains(after["count/count.go"], "c.mu.Lock()\n\tn := c.n\n") &&
		strings.Count(after["count/count.go"], "c.mu.Lock()") != 3 {
		t.Fatalf("after the patch: %q", after)
	}
	// A comment accepts the finding.
	before := e.disk("count/count.go")
	e.save("count/count.go", e.apply(list[1].Edit)["count/count.go"])
	e.expect("count/count.go")
	e.save("count/count.go", before)
	e.expect("count/count.go", "IL1001")
	// An explanation is shown, and changes nothing.
	text, err := e.server.ExecuteCommand(t.Context(), &protocol.ExecuteCommandParams{
		Command: list[2].Command.Command, Arguments: list[2].Command.Arguments})
	e.check(err)
	if !strings.Contains(string(text), "about IL1001") {
		t.Errorf("explanation %s", text)
	}
	e.save("count/count.go", after["count/count.go"])
	e.expect("count/count.go")
	e.stop()
}

func TestHover(t *testing.T) {
	e := start(t, unpack(t, []byte(counter)), Options{})
	e.change(func() { e.settings = map[string]any{"inlayHints": true, "possible": true} })
	e.check(e.server.DidChangeConfiguration(t.Context(), &protocol.DidChangeConfigurationParams{Settings: []byte("null")}))
	e.open("count/count.go")
	e.expect("count/count.go", "IL1001")
	src := e.disk("count/count.go")
	hover := func(text, at string) string {
		lines := strings.Split(text[:strings.Index(text, at)+len(at)-1], "\n")
		p := new(protocol.HoverParams)
		p.TextDocument.URI = e.uri("count/count.go")
		p.Position = protocol.Position{Line: uint32(len(lines) - 1), Character: uint32(len(lines[len(lines)-1]))}
		h, err := e.server.Hover(t.Context(), p)
		e.check(err)
		if h == nil {
			return ""
		}
		return h.Contents.(*protocol.MarkupContent).Value
	}
	field := "Interlock: `Counter.n` is guarded by `c.mu`, held in 2 of 3 accesses."
	for _, at := range []string{"\tn", "return c.n", "c.n++"[:3]} {
		if got := hover(src, at); got != field {
			t.Errorf("at %q: %q", at, got)
		}
	}
	if got, want := hover(src, "\tmu"), "Interlock: `Counter.mu` guards `Counter.n` (2 of 3 accesses)."; got != want {
		t.Errorf("the lock: %q", got)
	}
	if got := hover(src, "func Run"); got != "" {
		t.Errorf("a function: %q", got)
	}
	// Lines that are put in above move the notes along before anything is saved.
	edited := strings.Replace(src, "import", "// 𝒲ide\n\nimport", 1)
	e.edit("count/count.go", edited)
	if got := hover(edited, "return c.n"); got != field {
		t.Errorf("after an edit above: %q", got)
	}
	hints, err := e.server.InlayHint(t.Context(), &protocol.InlayHintParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: e.uri("count/count.go")},
		Range:        protocol.Range{End: protocol.Position{Line: 100}}})
	e.check(err)
	if len(hints) != 1 || hints[0].Label != protocol.InlayHintLabel(protocol.String("guarded by mu (2 of 3)")) {
		t.Errorf("hints %+v", hints)
	}
	e.stop()
}

// What another command has found is shown until its code changes.
func TestFrom(t *testing.T) {
	for _, place := range []string{"found.jsonl", auditFindings} {
		t.Run(filepath.Base(filepath.Dir(place)), func(t *testing.T) { testFrom(t, place) })
	}
}

// withEnd returns one finding as a command writes it to a file.
func withEnd(line []byte) []byte {
	return append(line, "\n{\"version\":1,\"end\":true,\"findings\":1}\n"...)
}

// A file of findings that was cut is reported, whichever byte it ends at.
func TestReadFindingsCut(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "they were cut",
		"{\"version\":1,\"end\":tr":            "reading findings: unexpected EOF",
		"{\"version\":1,\"end\":true}\n":       "",
		"{\"version\":1,\"findings\":[]}\n":    "",
		"{\"version\":1,\"findings\":[null,\n": "reading findings: ",
	} {
		_, err := readFindings([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// testFrom has the findings in the file shown, which the server is to find by itself if it is that of an audit.
func testFrom(t *testing.T, place string) {
	dir := unpack(t, []byte(counter))
	f := &finding.Finding{
		Version: finding.SchemaVersion, Code: finding.CaughtInTheAct, Status: finding.Confirmed, Title: "race on Top.m",
		Variable: finding.Variable{Package: "example.com/m/high", Type: "Top", Name: "m", Kind: "field"},
		Evidence: &finding.Evidence{Engine: "watch", Run: 1, Runs: 1, Hits: 1},
	}
	for range 2 {
		f.Accesses = append(f.Accesses, finding.Access{
			Position: finding.Position{File: "high/high.go", Line: 18, Column: 2, EndLine: 18, EndColumn: 5},
			Package:  "example.com/m/high", Function: "(*Top).Set", Expr: "t.m", Source: `t.m["a"]++`, Mode: finding.Write,
		})
	}
	f.ID = f.ComputeID()
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, place)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, withEnd(data), 0o644)); err != nil {
		t.Fatal(err)
	}
	var o Options
	if place != auditFindings {
		o.From = []string{place}
	}
	e := start(t, dir, o)
	e.open("high/high.go")
	d := e.expect("high/high.go", "IL1000")[0]
	src := e.disk("high/high.go")
	if got := marked(t, src, d.Range); got != "t.m" || d.Severity != protocol.DiagnosticSeverityError {
		t.Errorf("it marks %q, severity %v", got, d.Severity)
	}
	src = strings.Replace(src, "type Top", "// Top is\n\ntype Top", 1)
	e.save("high/high.go", src)
	e.wait("the finding two lines lower", func() bool {
		list := e.shown["high/high.go"]
		return len(list) == 1 && list[0].Range.Start.Line == d.Range.Start.Line+2
	})
	e.save("high/high.go", strings.Replace(src, "\tlow.Do", "\tprintln()\n\tlow.Do", 1))
	e.expect("high/high.go")
	e.stop()
}

// Places are those of the client's text, whatever stands before them in a line.
func TestColumns(t *testing.T) {
	e := start(t, unpack(t, []byte(counter)), Options{})
	src := e.disk("count/count.go")
	for name, change := range map[string]func(string) string{
		"wide":    func(s string) string { return strings.Replace(s, "return c.n", `_ = "𝒲é世"; return c.n`, 1) },
		"tabs":    func(s string) string { return strings.Replace(s, "return c.n", "\t\t return\tc.n", 1) },
		"returns": func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"mark":    func(s string) string { return "\ufeff" + s },
	} {
		text := change(src)
		if err := os.WriteFile(filepath.Join(e.root, "count", "count.go"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		e.mu.Lock()
		e.times["count/count.go"] = 0
		e.mu.Unlock()
		if e.versions["count/count.go"] == 0 {
			e.open("count/count.go")
		} else {
			e.save("count/count.go", text)
		}
		d := e.expect("count/count.go", "IL1001")[0]
		if got := marked(t, strings.ReplaceAll(text, "\r", ""), d.Range); got != "c.n" {
			t.Errorf("%s: it marks %q", name, got)
		}
		for _, r := range d.RelatedInformation {
			if got := marked(t, strings.ReplaceAll(text, "\r", ""), r.Location.Range); got != "c.n" {
				t.Errorf("%s: a related place is %q", name, got)
			}
		}
	}
	e.stop()
}

// A module that does not load is reported once, until it does.
func TestNothingToAnalyse(t *testing.T) {
	dir := unpack(t, []byte("-- go.mod --\nmodule example.com/m\n\ngo 1.26.0\n\nbad line\n-- m.go --\npackage m\n"))
	e := start(t, dir, Options{})
	e.open("m.go")
	for range 2 {
		e.save("m.go", "package m\n\n")
	}
	e.wait("a message", func() bool { return len(e.messages) > 0 })
	e.check(os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/m\n\ngo 1.26.0\n"), 0o644))
	_, src, _ := strings.Cut(counter, "-- count/count.go --\n")
	src, _, _ = strings.Cut(src, "-- count")
	e.save("m.go", strings.Replace(src, "package count", "package m", 1))
	e.expect("m.go", "IL1001")
	e.stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	said := slices.DeleteFunc(e.messages, func(m string) bool { return strings.HasPrefix(m, "log: ") })
	if len(said) != 1 || !strings.Contains(said[0], "go.mod:5: unknown directive: bad") {
		t.Errorf("messages %q", said)
	}
}

// A file outside of any module is analysed once there is one; until then the log says why it is not, once.
func TestNoModule(t *testing.T) {
	_, src, _ := strings.Cut(counter, "-- count/count.go --\n")
	src, _, _ = strings.Cut(src, "-- count")
	outside := t.TempDir()
	name := filepath.Join(outside, "x.go")
	if err := os.WriteFile(name, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	e := start(t, outside, Options{})
	e.open("x.go")
	e.wait("a line in the log", func() bool { return len(e.messages) > 0 })
	e.save("x.go", src)
	e.check(os.WriteFile(filepath.Join(outside, "go.mod"), []byte("module example.com/count\n\ngo 1.26.0\n"), 0o644))
	e.save("x.go", src)
	e.expect("x.go", "IL1001")
	e.stop()
	said := strings.Join(e.messages, "\n")
	if strings.Count(said, "it is in no module") != 1 || !strings.Contains(said, "log: nothing is analysed in "+outside) {
		t.Errorf("messages %q", e.messages)
	}
}

// Of the patches for several findings in a range, one is preferred.
func TestOnePreferred(t *testing.T) {
	both := strings.NewReplacer("	n  int\n", "	n  int\n	m  int\n", "c.n++", "c.n++; c.m++", "c.n--", "c.n--; c.m--",
		"return c.n }", "return c.n }\n\nfunc (c *Counter) Other() int { return c.m }").Replace(counter)
	e := start(t, unpack(t, []byte(both)), Options{})
	e.open("count/count.go")
	ds := e.expect("count/count.go", "IL1001", "IL1001")
	whole := ds[0]
	whole.Range.End = ds[1].Range.End
	preferred := 0
	for _, a := range e.actions("count/count.go", whole) {
		if isTrue(a.IsPreferred) {
			preferred++
		}
	}
	if preferred != 1 {
		t.Errorf("%d patches are preferred", preferred)
	}
	e.stop()
}

// What was typed into a file that is closed without saving leaves no diagnostic beside its place.
func TestClosedUnsaved(t *testing.T) {
	e := start(t, unpack(t, []byte(counter)), Options{})
	e.open("count/count.go")
	was := e.expect("count/count.go", "IL1001")[0].Range
	e.open("count/count_test.go")
	e.edit("count/count.go", strings.Replace(e.disk("count/count.go"), "package count\n", "package count\n\n\n\n", 1))
	e.save("count/count_test.go", e.disk("count/count_test.go"))
	at := func(line uint32) func() bool {
		return func() bool {
			d := e.shown["count/count.go"]
			return len(d) == 1 && d[0].Range.Start.Line == line
		}
	}
	e.wait("the diagnostic to follow what was typed", at(was.Start.Line+3))
	e.check(e.server.DidClose(t.Context(), &protocol.DidCloseTextDocumentParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: e.uri("count/count.go")}}))
	e.wait("the diagnostic to come back", at(was.Start.Line))
	e.stop()
}

// Each code that diagnostics link to has a heading on the page.
func TestPages(t *testing.T) {
	text, err := os.ReadFile("../../../docs/checks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range finding.Codes() {
		_, heading, _ := strings.Cut(code.Page(), "/docs/checks.md#")
		if !strings.Contains(strings.ToLower(string(text)), "\n## "+heading+"\n") || heading == "" {
			t.Errorf("%s leads to no heading", code.Page())
		}
	}
}

// spread is a package whose counter is atomic in one file, and plain in two others.
const spread = `-- go.mod --
module example.com/m

go 1.26.0
-- add.go --
package m

import "sync/atomic"
// Counter is safe for concurrent use.
type Counter struct{ n int64 }

func (c *Counter) Add() { atomic.AddInt64(&c.n, 1) }

func Run(c *Counter) {
	go c.Add()
	println(c.Get(), c.More())
}
-- get.go --
package m

func (c *Counter) Get() int64 { return c.n }
-- more.go --
package m

func (c *Counter) More() bool { return c.n > 0 }
`

// A possible finding is shown to those who have asked for such findings alone.
func TestPossible(t *testing.T) {
	e := start(t, unpack(t, []byte(spread)), Options{})
	configure := func(settings map[string]any) {
		e.change(func() { e.settings = settings })
		e.check(e.server.DidChangeConfiguration(t.Context(),
			&protocol.DidChangeConfigurationParams{Settings: []byte("null")}))
	}
	e.open("add.go")
	e.open("get.go")
	e.expect("get.go", "IL1003")
	configure(map[string]any{"possible": false})
	e.expect("get.go")
	configure(map[string]any{"possible": true})
	e.expect("get.go", "IL1003")
	e.stop()
}

// A patch of several files is one edit, for the versions of those that are open.
func TestSeveralFiles(t *testing.T) {
	e := start(t, unpack(t, []byte(spread)), Options{})
	e.open("add.go")
	e.open("get.go")
	e.save("get.go", e.disk("get.go")) // is at another version than the rest
	d := e.expect("get.go", "IL1003")[0]
	fixed, err := e.server.CodeActionResolve(t.Context(), e.actions("get.go", d)[0])
	e.check(err)
	versions := map[string]*int32{}
	for _, c := range fixed.Edit.DocumentChanges {
		doc := c.(*protocol.TextDocumentEdit).TextDocument
		versions[e.relative(doc.URI)] = doc.Version
	}
	after := e.apply(fixed.Edit)
	if v := versions["get.go"]; len(after) < 2 || v == nil || *v != 2 || versions["more.go"] != nil {
		t.Errorf("versions %v of %q", versions, after)
	}
	for name, text := range after {
		e.check(os.WriteFile(filepath.Join(e.root, name), []byte(text), 0o644))
	}
	if _, errors := run(t, e.root, "go", "vet", "./..."); errors != "" {
		t.Errorf("the patched files do not compile: %s", errors)
	}
	for _, name := range []string{"add.go", "get.go"} {
		e.save(name, e.disk(name))
	}
	e.expect("get.go")
	e.expect("add.go")
	e.stop()
}

// A save ends the analysis of the one before it, of which nothing is shown.
func TestCancel(t *testing.T) {
	e := start(t, unpack(t, []byte(counter)), Options{})
	src := e.disk("count/count.go")
	e.open("count/count.go")
	e.expect("count/count.go", "IL1001")
	e.wait("the tests", func() bool {
		return slices.ContainsFunc(e.messages, func(m string) bool { return strings.HasPrefix(m, "log: tests: types") })
	})
	locked := strings.Replace(src, "Get() int {", "Get() int {\n\tc.mu.Lock()\n\tdefer c.mu.Unlock()\n", 1)
	e.mu.Lock()
	e.messages, e.times["count/count.go"] = nil, 0
	e.onBegin = func() { e.save("count/count.go", locked) } // the server is about to analyse what was saved before
	e.mu.Unlock()
	e.save("count/count.go", src+"\nfunc (c *Counter) Other() int { return c.n }\n")
	e.expect("count/count.go")
	e.stop()
	analyses := 0
	for _, m := range e.messages {
		if strings.HasPrefix(m, "log: types") {
			analyses++
		}
	}
	if analyses != 1 || e.times["count/count.go"] != 1 {
		t.Errorf("%d analyses were finished, shown %d times: %q", analyses, e.times["count/count.go"], e.messages)
	}
}

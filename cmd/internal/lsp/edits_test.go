package lsp

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"
)

var editCount = flag.Int("edits", 400, "random edits of TestRandomEdits")

// pieces are what the random edits put in: what people type, whole and half, and what
// makes columns hard.
var pieces = []string{
	"\n", "\r\n", "\t", "{", "}", "(", ")", "\"", "`", "//", "/*", "*/", "𝒲", "é", "世界", "c.n", "c.n++",
	"c.mu.Lock()\n", "c.mu.Unlock()\n", "\nfunc (c *Counter) More() { c.n = 3 }\n", "\nfunc half(",
	"go ", "func() {", "import ", "package ",
	"\nfunc (c *Counter) Less() int { _ = \"𝒲\"; return c.n }\n", "\x00", "\ufeff",
}

// typist edits one file at random, and keeps its text by itself: as UTF-16, line by line.
type typist struct {
	*editor
	file  string
	rand  *rand.Rand
	units []uint16
	texts map[int32]string // by version, in which diagnostics may come
}

// place returns the position of a code unit.
func (y *typist) place(at int) protocol.Position {
	p := protocol.Position{}
	for _, u := range y.units[:at] {
		if p.Character++; u == '\n' {
			p.Line, p.Character = p.Line+1, 0
		}
	}
	return p
}

// cut returns a place that is neither within a rune nor within the end of a line.
func (y *typist) cut(at int) int {
	for at > 0 && at < len(y.units) && (y.units[at]&0xfc00 == 0xdc00 || y.units[at] == '\n' && y.units[at-1] == '\r') {
		at--
	}
	return at
}

// edit1 replaces a random piece of the text.
func (y *typist) edit1() {
	from := y.cut(y.rand.IntN(len(y.units) + 1))
	to := from
	if y.rand.IntN(2) == 0 {
		to = max(from, y.cut(min(len(y.units), from+y.rand.IntN(12))))
	}
	put := pieces[y.rand.IntN(len(pieces))]
	change := &protocol.TextDocumentContentChangePartial{
		Range: protocol.Range{Start: y.place(from), End: y.place(to)}, Text: put,
	}
	y.units = append(append(append([]uint16{}, y.units[:from]...), utf16s(put)...), y.units[to:]...)
	y.send(change)
}

func (y *typist) send(change protocol.TextDocumentContentChangeEvent) {
	y.mu.Lock()
	y.versions[y.file]++
	version := y.versions[y.file]
	y.texts[version] = string(decode(y.units))
	y.mu.Unlock()
	p := &protocol.DidChangeTextDocumentParams{ContentChanges: []protocol.TextDocumentContentChangeEvent{change}}
	p.TextDocument.URI, p.TextDocument.Version = y.uri(y.file), version
	y.check(y.server.DidChange(y.t.Context(), p))
}

// replace puts a whole text in place.
func (y *typist) replace(text string) {
	y.units = utf16s(text)
	y.send(&protocol.TextDocumentContentChangeWholeDocument{Text: text})
}

func (y *typist) saved() {
	y.check(os.WriteFile(filepath.Join(y.root, filepath.FromSlash(y.file)), []byte(string(decode(y.units))), 0o644))
	p := new(protocol.DidSaveTextDocumentParams)
	p.TextDocument.URI = y.uri(y.file)
	y.check(y.server.DidSave(y.t.Context(), p))
}

// TestRandomEdits types at random, and asks and saves in between: all that is shown lies
// at the expression that it speaks of in the text that the client has, and what is shown
// in the end is what the last text deserves.
func TestRandomEdits(t *testing.T) {
	const file = "count/count.go"
	e := start(t, unpack(t, []byte(counter)), Options{})
	src := e.disk(file)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	y := &typist{e, file, rand.New(rand.NewPCG(seed, 1)), utf16s(src), map[int32]string{1: src}}
	e.onShown = func(name string, version int32, list []protocol.Diagnostic) {
		for _, d := range list {
			ranges := []protocol.Range{d.Range}
			for _, r := range d.RelatedInformation {
				ranges = append(ranges, r.Location.Range)
			}
			race := d.Code == protocol.ProgressToken(protocol.String("IL1001"))
			for _, r := range ranges {
				if got := marked(t, y.texts[version], r); name == file && race && got != "c.n" {
					t.Errorf("version %d: %q is marked in\n%s", version, got, y.texts[version])
				}
			}
		}
	}
	e.open(file)
	for range *editCount {
		switch y.rand.IntN(20) {
		case 0:
			y.saved()
		case 1:
			y.replace(src)           // so that most texts are nearly right
			if y.rand.IntN(4) == 0 { // let the server answer what it has
				e.mu.Lock()
				e.times[file] = 0
				e.mu.Unlock()
				y.saved()
				e.expect(file, "IL1001")
			}
		case 2:
			p := new(protocol.HoverParams)
			p.TextDocument.URI, p.Position = e.uri(file), y.place(y.rand.IntN(len(y.units)+1))
			_, err := e.server.Hover(t.Context(), p)
			e.check(err)
		case 3:
			all := protocol.Range{End: protocol.Position{Line: 1000}}
			_, err := e.server.CodeAction(t.Context(), &protocol.CodeActionParams{Range: all,
				TextDocument: protocol.TextDocumentIdentifier{URI: e.uri(file)}})
			e.check(err)
		default:
			y.edit1()
		}
	}
	// What is left shown must be what the last text deserves.
	y.replace(strings.ReplaceAll(src, "return c.n", "c.mu.Lock()\n\tdefer c.mu.Unlock()\n\treturn c.n"))
	y.saved()
	e.expect(file)
	y.replace(src)
	y.saved()
	e.expect(file, "IL1001")
	e.stop()
}

// FuzzMessages feeds the server bytes: the session ends, with an error, and nothing hangs.
func FuzzMessages(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}`, `{"id":{},"method":3}`, `[]`, `[{}]`, `null`, `{`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a.go","version":1e99}}}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}`,
	} {
		f.Add(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(body), body))
		f.Add([]byte(body))
	}
	f.Add([]byte("Congth8\n")) // a header without a value
	f.Fuzz(func(t *testing.T, data []byte) {
		ended := make(chan error, 1)
		go func() { ended <- Serve(t.Context(), strings.NewReader(string(data)), io.Discard, Options{}) }()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%q ends the session well", data)
			}
		case <-time.After(deadline):
			t.Errorf("%q hangs", data)
		}
	})
}

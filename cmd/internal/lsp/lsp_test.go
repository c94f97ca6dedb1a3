package lsp

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"go.lsp.dev/protocol"
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

func TestEnds(t *testing.T) {
	for name, in := range map[string]string{
		"no header":  "hello\r\n\r\n",
		"no number":  "Content-Length: x\r\n\r\n{}",
		"cut off":    "Content-Length: 100\r\n\r\n{}",
		"no JSON":    "Content-Length: 3\r\n\r\n{x}",
		"empty":      "",
		"exit first": "Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}",
	} {
		t.Run(name, func(t *testing.T) {
			r, w := io.Pipe()
			ended := make(chan error)
			go func() { ended <- Serve(t.Context(), r, io.Discard, Options{}) }()
			io.WriteString(w, in)
			if name != "no JSON" && name != "no header" && name != "no number" {
				w.Close()
			}
			select {
			case err := <-ended:
				if err == nil || name == "exit first" && !errors.Is(err, ErrNoShutdown) {
					t.Errorf("it ends with %v", err)
				}
			case <-time.After(deadline):
				t.Error("it hangs")
			}
		})
	}
}

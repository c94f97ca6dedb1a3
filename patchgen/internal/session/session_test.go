package session_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// module is two packages, of which one calls the other under a lock.
const module = `
-- go.mod --
module example.com/m

go 1.26.0
-- low/low.go --
package low

type Box struct{ n int }

func (b *Box) Add() { b.n++ }
-- low/low_test.go --
package low

func help(b *Box) { b.Add() }
-- high/high.go --
package high

import (
	"sync"

	"example.com/m/low"
)

type Top struct {
	mu  sync.Mutex
	box low.Box
}

func (t *Top) Add() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.box.Add()
}
`

const locked = `package low

import "sync"

type Box struct {
	mu sync.Mutex
	n  int
}

func (b *Box) Add() {
	b.mu.Lock()
	b.n++
	b.mu.Unlock()
}
`

func open(t *testing.T) *session.Session {
	t.Helper()
	root := t.TempDir()
	for _, f := range txtar.Parse([]byte(module)).Files {
		name := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := packages.Load(&packages.Config{Mode: session.LoadMode, Dir: root, Tests: true,
		Env: append(os.Environ(), "GOWORK=off", "GOFLAGS=")}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(root, loaded)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// takes lists the locks that a call of the method Top.Add may acquire.
func takes(t *testing.T, snap *session.Snapshot) []string {
	t.Helper()
	p := snap.Package("example.com/m/high")
	for _, f := range p.IR.Funcs {
		if p.IR.FuncName(f) == "(*Top).Add" {
			return p.Locks.Takes(f)
		}
	}
	t.Fatal("no Top.Add")
	return nil
}

// TestWith demands that a package sees what a patch of another one changes, and
// that one whose facts stay the same costs nothing.
func TestWith(t *testing.T) {
	s := open(t)
	before, err := s.Original()
	if err != nil {
		t.Fatal(err)
	}
	after, err := s.With(map[string][]byte{"low/low.go": []byte(locked)})
	if err != nil {
		t.Fatal(err)
	}
	if got := takes(t, before); slices.Contains(got, "example.com/m/low.Box.mu") {
		t.Errorf("before, Top.Add takes %q", got)
	}
	if got := takes(t, after); !slices.Contains(got, "example.com/m/low.Box.mu") {
		t.Errorf("after, Top.Add takes %q: the fact of the patched package is lost", got)
	}
	if before.Package("example.com/m/high").Types != after.Package("example.com/m/high").Types {
		t.Error("a package that the patch does not change is typed again")
	}
	moved := "package low\n\n\ntype Box struct{ n int }\n\nfunc (b *Box) Add() { b.n += 1 }\n"
	same, err := s.With(map[string][]byte{"low/low.go": []byte(moved)})
	if err != nil {
		t.Fatal(err)
	}
	if before.Package("example.com/m/high") != same.Package("example.com/m/high") {
		t.Error("a package is analysed again though nothing that it sees has changed")
	}
}

// TestWithTest demands that a patch of a test is typed with the tests.
func TestWithTest(t *testing.T) {
	s := open(t)
	snap, err := s.With(map[string][]byte{"low/low_test.go": []byte("package low\n\nfunc help(b *Box) { b.n = 0 }\n")})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(snap.Package("example.com/m/low").Files); n != 2 {
		t.Errorf("%d files, want the test too", n)
	}
}

// TestRefuses demands an error for what cannot be analysed.
func TestRefuses(t *testing.T) {
	s := open(t)
	for _, tt := range []struct{ file, src, want string }{
		{"low/low.go", "package low\n\nfunc (b *Box) Add() {", "expected"},
		{"low/low.go", "package low\n\nfunc f() { g() }", "undefined"},
		{"low/other.go", "package low", "is in no loaded package"},
	} {
		_, err := s.With(map[string][]byte{tt.file: []byte(tt.src)})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.src, err, tt.want)
		}
	}
}

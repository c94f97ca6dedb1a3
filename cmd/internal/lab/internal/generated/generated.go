// Package generated writes a module for the tools that measure: packages with types that have locks, goroutines
// and tests, and that import each other.
package generated

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Path is that of the module.
const Path = "example.com/generated"

// Types is how many types a package has unless the caller says else, in about 430 lines.
const Types = 8

// Write writes a module of so many packages, p0000 and on, into dir; the last has so many types.
func Write(dir string, packages, last int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	errs := []error{os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+Path+"\n\ngo 1.21\n"), 0o644)}
	for i := range packages {
		types := Types
		if i == packages-1 {
			types = last
		}
		at := filepath.Join(dir, Package(i))
		errs = append(errs, os.MkdirAll(at, 0o755),
			os.WriteFile(filepath.Join(at, "p.go"), []byte(source(i, types)), 0o644),
			os.WriteFile(filepath.Join(at, "p_test.go"), []byte(testSource(i)), 0o644))
	}
	return errors.Join(errs...)
}

// Package returns the name of the i-th package, which is its folder too.
func Package(i int) string { return fmt.Sprintf("p%04d", i) }

// source returns the source of the i-th package, which imports those of
// half and a third of its number.
func source(i, types int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\t\"errors\"\n\t\"sync\"\n", Package(i))
	var calls string
	if i > 2 {
		for j, of := range []int{i / 2, i / 3} {
			if j == 1 && of == i/2 {
				continue
			}
			fmt.Fprintf(&b, "\t%q\n", Path+"/"+Package(of))
			calls += fmt.Sprintf("\tn += %s.Sum(n)\n", Package(of))
		}
	}
	b.WriteString(")\n\nvar errMissing = errors.New(\"missing\")\n")
	for t := range types {
		b.WriteString(strings.NewReplacer("#", fmt.Sprint(t)).Replace(typeSource))
	}
	fmt.Fprintf(&b, "\nfunc Sum(n int) int {\n%s\tt := NewT0()\n\tt.Put(\"n\", n)\n\treturn t.Len()\n}\n", calls)
	return b.String()
}

const typeSource = `
// T# keeps numbers by name.
type T# struct {
	mu     sync.Mutex
	byName map[string]int
	order  []string
	hits   int
	done   chan struct{}
}

func NewT#() *T# { return &T#{byName: map[string]int{}, done: make(chan struct{})} }

func (t *T#) Put(name string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.byName[name]; !ok {
		t.order = append(t.order, name)
	}
	t.byName[name] = n
}

func (t *T#) Get(name string) (n int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, ok := t.byName[name]
	if !ok {
		return 0, errMissing
	}
	t.hits++
	return n, nil
}

func (t *T#) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.order)
}

func (t *T#) Run(names <-chan string) {
	go func() {
		defer close(t.done)
		for name := range names {
			if n, err := t.Get(name); err == nil {
				t.Put(name, n+1)
			}
		}
	}()
}

func (t *T#) Wait() { <-t.done }
`

func testSource(i int) string {
	return fmt.Sprintf(`package %s

import "testing"

func TestRun(t *testing.T) {
	x, names := NewT0(), make(chan string)
	x.Put("a", 1)
	x.Run(names)
	names <- "a"
	close(names)
	x.Wait()
	if n, err := x.Get("a"); n != 2 || err != nil {
		t.Error(n, err)
	}
}
`, Package(i))
}

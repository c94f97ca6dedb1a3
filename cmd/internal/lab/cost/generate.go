package cost

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// generated is the path of a module of generatedPackages packages, which is
// written anew for each run.
const (
	generated         = "example.com/generated"
	generatedPackages = 2000
	generatedTypes    = 8 // of a package
)

// generate writes the module into dir.
func generate(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	errs := []error{os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+generated+"\n\ngo 1.21\n"), 0o644)}
	for i := range generatedPackages {
		at := filepath.Join(dir, packageName(i))
		errs = append(errs, os.MkdirAll(at, 0o755),
			os.WriteFile(filepath.Join(at, "p.go"), []byte(generatedPackage(i)), 0o644),
			os.WriteFile(filepath.Join(at, "p_test.go"), []byte(generatedTest(i)), 0o644))
	}
	return errors.Join(errs...)
}

func packageName(i int) string { return fmt.Sprintf("p%04d", i) }

// generatedPackage is the source of the i-th package, which imports those of
// half and a third of its number.
func generatedPackage(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\t\"errors\"\n\t\"sync\"\n", packageName(i))
	var calls string
	if i > 2 {
		for j, of := range []int{i / 2, i / 3} {
			if j == 1 && of == i/2 {
				continue
			}
			fmt.Fprintf(&b, "\t%q\n", generated+"/"+packageName(of))
			calls += fmt.Sprintf("\tn += %s.Sum(n)\n", packageName(of))
		}
	}
	b.WriteString(")\n\nvar errMissing = errors.New(\"missing\")\n")
	for t := range generatedTypes {
		b.WriteString(strings.NewReplacer("#", fmt.Sprint(t)).Replace(generatedType))
	}
	fmt.Fprintf(&b, "\nfunc Sum(n int) int {\n%s\tt := NewT0()\n\tt.Put(\"n\", n)\n\treturn t.Len()\n}\n", calls)
	return b.String()
}

const generatedType = `
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

func generatedTest(i int) string {
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
`, packageName(i))
}

//go:build unix

package driver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/cmd/internal/driver"
)

// counting returns a vet tool that notes the packages that it is run for, and a function that lists those whose path
// begins with prefix, without it, and forgets.
func counting(t *testing.T, prefix string) (counter string, ran func() []string) {
	t.Helper()
	dir := t.TempDir()
	counter, log := filepath.Join(dir, "counter"), filepath.Join(dir, "log")
	script := fmt.Sprintf(`#!/bin/sh
for last; do :; done
case "$last" in
*.cfg) grep '"ImportPath":' "$last" >>'%s' ;;
esac
exec '%s' "$@"
`, log, tool)
	if err := os.WriteFile(counter, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return counter, func() []string {
		text, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.WriteFile(log, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		var paths []string
		for line := range strings.Lines(string(text)) {
			if _, path, ok := strings.Cut(line, `: "`+prefix); ok {
				path, _, _ = strings.Cut(path, `"`)
				path, _, _ = strings.Cut(path, " ") // "mid [mid.test]" is mid with its tests
				paths = append(paths, path)
			}
		}
		slices.Sort(paths)
		return slices.Compact(paths)
	}
}

// After an edit the package and those that depend on it are analysed anew, and
// no other; the results of the others are there all the same.
func TestOnlyDependentsAreAnalysedAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	dir := unpack(t, "chain")
	counter, ran := counting(t, "example.com/chain/")
	check := func() *driver.Result {
		t.Helper()
		r, err := driver.Vet(t.Context(), driver.Options{Dir: dir, Patterns: []string{"./..."}, Tool: counter,
			Env: []string{"GOFLAGS=", "GOWORK=off"}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	edit := func(file, old, new string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(file))
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), old) {
			t.Fatalf("editing %s: %v", file, err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const stale = "IL1001 aside/aside.go (*S).Get: S.n is read without s.mu"
	for _, step := range []struct {
		file, old, new string
		ran, told      []string
	}{
		{ran: []string{"aside", "low", "mid", "top"}, told: []string{stale}},
		{told: []string{stale}},
		{"low/low.go", "t.N++", "t.N += 2", []string{"low", "mid", "top"}, []string{stale}},
		// The join sees what is new in top beside what is old in low and mid.
		{"top/top.go", "return 0", "return t.N", []string{"top"}, []string{stale,
			"IL1001 top/top.go Run: T.N is read without t.Mu"}},
		{"mid/mid_test.go", "Sub(nil)", "", []string{"mid"}, []string{stale,
			"IL1001 top/top.go Run: T.N is read without t.Mu"}},
		{"aside/aside.go", "return s.n", "return 0", []string{"aside"},
			[]string{"IL1001 top/top.go Run: T.N is read without t.Mu"}},
	} {
		name := "nothing"
		if step.file != "" {
			name = step.file
			edit(step.file, step.old, step.new)
		}
		r := check()
		if got := ran(); !slices.Equal(got, step.ran) {
			t.Errorf("after an edit of %s: analysed %q, want %q", name, got, step.ran)
		}
		if got := told(t, r); !slices.Equal(got, step.told) || len(r.Problems) > 0 {
			t.Errorf("after an edit of %s: findings %q, want %q; problems %q", name, got, step.told, r.Problems)
		}
	}
}

// A package that was analysed for who imports it has a result of its own later.
func TestImportersFirst(t *testing.T) {
	dir := unpack(t, "chain")
	for _, pattern := range []string{"./top", "./low", "./mid"} {
		r, err := vet(t, dir, pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Problems) > 0 || len(r.Packages) != 1 {
			t.Errorf("%s: packages %q, problems %q", pattern, r.Packages, r.Problems)
		}
	}
}

// racy is a package with one finding.
const racy = `package p

import "sync"

type S struct {
	mu sync.Mutex
	n  int
}

func (s *S) Set(n int) { s.mu.Lock(); s.n = n; s.mu.Unlock() }
func (s *S) Add()      { s.mu.Lock(); s.n++; s.mu.Unlock() }
func (s *S) Get() int  { return s.n }
`

// The results for the standard library serve all modules, and a module that another one takes from its folder has
// results of its own, whichever of them is checked first.
func TestModulesShareResults(t *testing.T) {
	counter, ran := counting(t, "")
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"one", "two", "both", "last"} {
		write(name+"/p.go", racy)
		write(name+"/go.mod", "module example.com/"+name+"\n\ngo 1.21\n")
	}
	for _, name := range []string{"both", "last"} {
		of := map[string]string{"both": "one", "last": "two"}[name]
		write(name+"/go.mod", "module example.com/"+name+"\n\ngo 1.21\n\nrequire example.com/"+of+
			" v1.0.0\n\nreplace example.com/"+of+" => ../"+of+"\n")
		write(name+"/q.go", "package p\n\nimport _ \"example.com/"+of+"\"\n")
	}
	// "last" comes before the module that it takes, "both" behind it.
	for _, name := range []string{"one", "both", "last", "two"} {
		ran()
		r, err := driver.Vet(t.Context(), driver.Options{Dir: filepath.Join(dir, name), Tool: counter,
			Env: []string{"GOFLAGS=", "GOWORK=off"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := told(t, r); len(got) != 1 || len(r.Problems) > 0 {
			t.Errorf("%s: findings %q, want one; problems %q", name, got, r.Problems)
		}
		if got := ran(); name == "two" && !slices.Equal(got, []string{"example.com/two"}) {
			t.Errorf("two: the tool was run for %q, want the package alone", got)
		}
	}
}

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

// counting returns a vet tool that notes the packages of the module which it is
// run for, and a function that lists them and forgets.
func counting(t *testing.T) (counter string, ran func() []string) {
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
			if _, path, ok := strings.Cut(line, `"example.com/chain/`); ok {
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
	counter, ran := counting(t)
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

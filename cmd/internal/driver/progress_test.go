package driver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/cmd/internal/driver"
)

// Each package of the request is counted once, external tests by themselves.
func TestProgress(t *testing.T) {
	var got []string
	_, err := driver.Vet(t.Context(), driver.Options{
		Dir: unpack(t, "module"), Patterns: []string{"./..."}, Tool: tool, Env: []string{"GOFLAGS=", "GOWORK=off"},
		Progress: func(done, total int, what string) { got = append(got, fmt.Sprintf("%d of %d %s", done, total, what)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 4 || got[0] != "0 of 3 packages checked" || got[3] != "3 of 3 packages checked" {
		t.Fatalf("got %q", got)
	}
	// Few packages that are left are named.
	two := regexp.MustCompile(`^1 of 3 packages checked, left: example.com/m\S*, example.com/m\S*$`)
	one := regexp.MustCompile(`^2 of 3 packages checked, left: example.com/m\S*$`)
	if !two.MatchString(got[1]) || !one.MatchString(got[2]) {
		t.Errorf("got %q", got)
	}
}

// What a pass has left for its size is said, and the package is analysed.
func TestGaveUp(t *testing.T) {
	dir := unpack(t, "module")
	var table strings.Builder
	table.WriteString("package m\n\ntype entry struct{ name string }\n\nvar table = map[string]*entry{\n")
	for i := range 15_000 {
		fmt.Fprintf(&table, "\t\"%d\": {name: \"%d\"},\n", i, i)
	}
	table.WriteString("}\n")
	if err := os.WriteFile(filepath.Join(dir, "table.go"), []byte(table.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := vet(t, dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	want := "example.com/m: init is not searched to its end for objects that no other goroutine reaches: it is too large"
	if !slices.Equal(r.GaveUp, []string{want}) {
		t.Errorf("gave up: %q, want %q", r.GaveUp, want)
	}
	if len(r.Findings) != 1 {
		t.Errorf("%d findings, want the one of the other file", len(r.Findings))
	}
}

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

// Each package of the request is counted once, external tests by themselves.
func TestProgress(t *testing.T) {
	var got []string
	_, err := driver.Vet(t.Context(), driver.Options{
		Dir: unpack(t, "module"), Patterns: []string{"./..."}, Tool: tool, Env: []string{"GOFLAGS=", "GOWORK=off"},
		Progress: func(done, total int) { got = append(got, fmt.Sprintf("%d of %d", done, total)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"0 of 3", "1 of 3", "2 of 3", "3 of 3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
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
	if want := []string{"example.com/m: interlockownership gave up on init for its size"}; !slices.Equal(r.GaveUp, want) {
		t.Errorf("gave up: %q, want %q", r.GaveUp, want)
	}
	if len(r.Findings) != 1 {
		t.Errorf("%d findings, want the one of the other file", len(r.Findings))
	}
}

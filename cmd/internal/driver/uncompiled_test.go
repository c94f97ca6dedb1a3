package driver_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/cmd/internal/driver"
)

// A package that does not compile takes those with it that import it, and no
// other.
func TestOnePackageDoesNotCompile(t *testing.T) {
	r, err := vet(t, unpack(t, "partly"), "./...")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.Uncompiled, "bad/bad.go:3:29: undefined: nowhere") {
		t.Errorf("the compiler said %q", r.Uncompiled)
	}
	if len(r.Findings) != 1 || r.Findings[0].Accesses[0].File != "good/good.go" {
		t.Errorf("findings %+v", r.Findings)
	}
	want := []string{
		"example.com/partly/bad: not analysed: it, or what it imports, does not compile; `go vet " +
			"example.com/partly/bad` shows why",
		"example.com/partly/uses: not analysed: it, or what it imports, does not compile; `go vet " +
			"example.com/partly/uses` shows why",
	}
	if !slices.Equal(r.Problems, want) {
		t.Errorf("problems %q, want %q", r.Problems, want)
	}
}

// Tests that do not compile are left out, and their package is analysed.
func TestTestsDoNotCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	r, err := vet(t, unpack(t, "tests"), "./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"inside/export_test.go:3:", "outside/outside_test.go:5:", "syntax/syntax_test.go:3:"} {
		if !strings.Contains(r.Uncompiled, want) {
			t.Errorf("the compiler's %s is not among:\n%s", want, r.Uncompiled)
		}
	}
	if len(r.Findings) != 1 || r.Findings[0].Accesses[0].File != "inside/inside.go" {
		t.Errorf("findings %+v", r.Findings)
	}
	want := []string{
		"example.com/tests/inside: analysed without its tests, which do not compile; `go vet example.com/tests/inside` " +
			"shows why",
		"example.com/tests/outside_test: not analysed: it does not compile; `go vet example.com/tests/outside` shows why",
		"example.com/tests/syntax: analysed without its tests, which do not compile; `go vet example.com/tests/syntax` " +
			"shows why",
	}
	if !slices.Equal(r.Problems, want) {
		t.Errorf("problems %q, want %q", r.Problems, want)
	}
	if want := []string{"example.com/tests/good", "example.com/tests/good_test", "example.com/tests/inside",
		"example.com/tests/outside", "example.com/tests/syntax"}; !slices.Equal(r.Packages, want) {
		t.Errorf("packages %q, want %q", r.Packages, want)
	}
}

// What Vet lays out lies in the folder that its caller removes, so that nothing stays
// behind a process that is killed.
func TestTemporaryFilesLieInTheFolder(t *testing.T) {
	dir := unpack(t, "tests")
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	o := driver.Options{
		Dir: dir, Patterns: []string{"./..."}, Tool: tool, Env: []string{"GOFLAGS=", "GOWORK=off"}, Temp: t.TempDir(),
	}
	r, err := driver.Vet(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.Uncompiled, "inside/export_test.go:3:") || len(r.Packages) < 3 {
		t.Errorf("packages %q; the compiler said:\n%s", r.Packages, r.Uncompiled)
	}
}

// Tests that import what no required module provides are left out, and nothing is wrong.
func TestTestsNeedOtherModules(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	r, err := vet(t, unpack(t, "needing"), "./...")
	if err != nil {
		t.Fatal(err)
	}
	if r.Uncompiled != "" || len(r.Problems) > 0 {
		t.Errorf("the compiler said:\n%s\nproblems: %q", r.Uncompiled, r.Problems)
	}
	if len(r.Findings) != 1 || r.Findings[0].Accesses[0].File != "inside/inside.go" {
		t.Errorf("findings %+v", r.Findings)
	}
	const why = "tests were left out: they import example.org/assert, which no required module provides"
	want := []string{"example.com/needing/inside: " + why, "example.com/needing/only: " + why,
		"example.com/needing/onlyoutside: tests were left out: they import example.org/other/part, which no required " +
			"module provides",
		"example.com/needing/other: " + why, "example.com/needing/outside: " + why}
	if slices.Sort(r.LeftOut); !slices.Equal(r.LeftOut, want) {
		t.Errorf("left out %q, want %q", r.LeftOut, want)
	}
	if want := []string{"example.com/needing/inside", "example.com/needing/outside"}; !slices.Equal(r.Packages, want) {
		t.Errorf("packages %q, want %q", r.Packages, want)
	}
}

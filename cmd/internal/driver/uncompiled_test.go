package driver_test

import (
	"slices"
	"strings"
	"testing"
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
		"example.com/partly/bad: not analysed: go vet gave no result for it",
		"example.com/partly/uses: not analysed: go vet gave no result for it",
	}
	if !slices.Equal(r.Problems, want) {
		t.Errorf("problems %q, want %q", r.Problems, want)
	}
}

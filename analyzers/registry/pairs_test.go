package registry_test

import (
	"testing"

	"github.com/interlock-go/interlock/analyzers/registry"
	"github.com/interlock-go/interlock/analyzers/registry/pairs"
)

// foundShare is how many of a hundred bugs the checks have to find.
const foundShare = 90

// TestPairs runs all checks on small programs, each once with a bug and once
// without; package pairs describes them. In the clean programs nothing may be
// found. Leads do not count.
func TestPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds hundreds of programs")
	}
	skipUnderRace(t)
	root := t.TempDir()
	list, err := pairs.Write("testdata/pairs", root)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := pairs.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	findings, err := pairs.Check(loaded, registry.Analyzers(), false)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, p := range list {
		if p.IsFoundIn(findings[p.Folder(root, true)]) {
			found++
		} else {
			t.Logf("missed: %s", p.Name)
		}
		for _, f := range findings[p.Folder(root, false)] {
			t.Errorf("%s without the bug: %s %s (line %d)", p.Name, f.Code, f.Title, pairs.Lines(f)[0])
		}
	}
	share := 100 * found / len(list)
	t.Logf("%d of %d bugs found, %d %%", found, len(list), share)
	if share < foundShare {
		t.Errorf("%d %% of the bugs found, want %d", share, foundShare)
	}
}

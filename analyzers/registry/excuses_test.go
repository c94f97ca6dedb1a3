package registry_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/excuse"
	"github.com/interlock-go/interlock/analyzers/pass/guards"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/registry"
	"github.com/interlock-go/interlock/analyzers/registry/pairs"
	"github.com/interlock-go/interlock/dynamic/tree"
)

// unproven are excuses without a fixture: no pair and no fixture of a check needs one of them, or all of them. far-lock
// removes four findings of nats-server, under-holders one, reads-own one of badger. The list only gets shorter: an
// excuse gets a fixture, or goes.
var unproven = []string{"reads-own", "under-holders", "far-lock"}

// TestExcuses checks that more is found in the fixture of each excuse where the excuse is switched off. A fixture
// is the clean program of a pair, guards/shut_flag, or a package of a check's testdata, guardedby/testdata/src/owner.
func TestExcuses(t *testing.T) {
	if testing.Short() {
		t.Skip("analyses a program for each excuse")
	}
	skipUnderRace(t)
	root := t.TempDir()
	list, err := pairs.Write("testdata/pairs", root)
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{} // by fixture
	for _, p := range list {
		folders[p.Name] = p.Folder(root, false)
	}
	excuses := slices.Concat(order.Operations(), accesses.Orders(), guards.Excuses())
	var wanted []string
	for _, e := range excuses {
		if strings.Contains(e.Fixture, "/testdata/") && folders[e.Fixture] == "" {
			folders[e.Fixture] = filepath.Join(root, strings.ReplaceAll(e.Fixture, "testdata", "fixtures"))
			if err := tree.Copy(context.Background(), folders[e.Fixture], filepath.Join("..", e.Fixture), nil); err != nil {
				t.Fatal(err)
			}
		}
		if folders[e.Fixture] == "" {
			if !slices.Contains(unproven, e.Name) {
				t.Errorf("%s: no fixture %q", e.Name, e.Fixture)
			}
			continue
		}
		wanted = append(wanted, folders[e.Fixture])
	}
	loaded, err := pairs.Load(root, wanted...)
	if err != nil {
		t.Fatal(err)
	}
	byFolder := map[string][]*packages.Package{}
	for _, p := range loaded {
		dir := filepath.Dir(p.GoFiles[0])
		byFolder[dir] = append(byFolder[dir], p)
	}
	all, err := pairs.Check(loaded, registry.Analyzers(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range excuses {
		if e.Fixture == "" {
			continue
		}
		// sides counts those of all findings, as several variables of a function may be one finding, and twice where it
		// is no lead.
		sides := func(found map[string][]*finding.Finding) (n int) {
			for _, f := range found[folders[e.Fixture]] {
				n += len(f.Accesses)
				if f.Status != finding.Lead {
					n += len(f.Accesses)
				}
			}
			return n
		}
		var found map[string][]*finding.Finding
		excuse.Without(func() { found, err = pairs.Check(byFolder[folders[e.Fixture]], registry.Analyzers(), true) }, e.Name)
		if err != nil {
			t.Fatal(err)
		}
		if with, without := sides(all), sides(found); without <= with {
			t.Errorf("%s: findings of %s have %d sides with it, %d without it", e.Name, e.Fixture, with, without)
		}
	}
}

package bench

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"path/filepath"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/instrument"
	"github.com/interlock-go/interlock/dynamic/tree"
)

//go:embed held.go.txt
var held []byte

// heldVariant builds the programs with every site monitored and one atomic
// section that is open from before the first program to the end of the last.
func heldVariant(ctx context.Context, m *build.Module, whole *plan.Plan, dir, tmp string) (*variant, error) {
	// The copy requires the monitor as a module, since no overlay adds it.
	const rt = dynamic.MonitorPath
	copied := filepath.Join(tmp, "held")
	if err := copyRewritten(ctx, m, whole, dir, copied); err != nil {
		return nil, err
	}
	mod, err := os.ReadFile(filepath.Join(copied, "go.mod"))
	if err != nil {
		return nil, err
	}
	mod = append(mod, "\nrequire "+rt+" v0.0.0\n\nreplace "+rt+" => ./rt\n"...)
	table := filepath.Join(tmp, "held.sites")
	if err := errors.Join(
		dynamic.WriteMonitor(filepath.Join(copied, "rt")),
		os.WriteFile(filepath.Join(copied, "go.mod"), mod, 0o644),
		os.WriteFile(filepath.Join(copied, "zz_held_test.go"), held, 0o644),
		os.WriteFile(table, arm.SiteTable(whole, arm.Run{}), 0o644),
	); err != nil {
		return nil, err
	}
	// Nothing is noise here: the section alone is measured.
	v := &variant{
		name: "watch, section held", about: "every site, the monitor awake without noise, one atomic section held throughout",
		dir: copied, path: filepath.Join(tmp, "held.test"),
		env: []string{
			"INTERLOCK_OUT=" + filepath.Join(tmp, "held.evidence"), "INTERLOCK_SITES=" + table, "INTERLOCK_SECTIONS=1",
			"INTERLOCK_NOISE=prob=0",
		},
	}
	return v, goTest(ctx, v)
}

// copyRewritten copies the programs, with the rewritten files.
func copyRewritten(ctx context.Context, m *build.Module, p *plan.Plan, dir, copied string) error {
	if err := tree.Copy(ctx, copied, dir, nil); err != nil {
		return err
	}
	sites := map[plan.Key]*plan.Site{}
	for i := range p.Sites {
		sites[p.Sites[i].Key()] = &p.Sites[i]
	}
	for _, pkg := range m.Packages {
		siteOf := func(k plan.Key) *plan.Site { return sites[k] }
		res, err := instrument.Rewrite(pkg, siteOf, instrument.Options{RT: dynamic.MonitorPath})
		if err != nil {
			return err
		}
		for _, f := range res.Files {
			name, err := filepath.Rel(dir, f.Name)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(copied, name), f.Content, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testsource"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/schedule"
)

// ownFolder makes a folder of the name, or of one with a number behind it where there is something in that: processes
// append to files, so that campaigns which share a folder would read each other's evidence.
func ownFolder(name string) (dir string, err error) {
	if name, err = filepath.Abs(name); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		if dir = name; n > 1 {
			dir = fmt.Sprintf("%s-%d", name, n)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) == 0 {
			return dir, err
		}
	}
}

func start(cfg *settings) (*campaign, error) {
	cfg.Runs = max(cfg.Runs, 1)
	if cfg.Tests.Floor == 0 {
		cfg.Tests.Floor = child.Floor
	}
	if cfg.Tests.Dir == "" {
		cfg.Tests.Dir = filepath.Join(cfg.Workspace.Dir, "evidence")
	}
	// Evidence goes into a folder of its own.
	dir, err := ownFolder(cfg.Tests.Dir)
	if err != nil {
		return nil, fmt.Errorf("making the evidence folder: %w", err)
	}
	c := &campaign{
		cfg: cfg, seen: judge.NewTally(cfg.Plan, cfg.Workspace.Module.Packages),
		tests: &recorded.Runner{Workspace: cfg.Workspace, Record: cfg.Tests.Record},
	}
	timeout := child.Stretch(run.PlainTimeout(cfg.Tests.Timeout), cfg.Noise.Budget)
	c.result = &Result{ByEngine: ByEngine{Engine: "watch"}, Seed: cfg.Seed, Dir: dir, Timeout: timeout}
	for _, b := range cfg.Tests.Binaries {
		c.result.Packages = append(c.result.Packages, run.Package{
			Package: b.Package, NoTests: b.Path == "", State: c.newState(b.Package),
		})
	}
	if cfg.Noise.Where.Functions > 0 {
		locks := arm.LockNames(cfg.Workspace.Module.Packages)
		for i := range c.result.Packages {
			c.result.Packages[i].DrFinder = schedule.NewDrFinder(locks)
		}
	}
	// The evidence of earlier campaigns is known from the beginning.
	for _, before := range cfg.Before {
		c.remember(before)
	}
	return c, nil
}

// newState returns the state of a package before its first run.
func (c *campaign) newState(pkg string) run.State {
	source := c.cfg.Workspace.Module.Packages
	return run.State{
		Plan: run.Plan{Auto: c.newSchedule()},
		InSource: run.InSource{
			AllTests:   testsource.TestNames(source, pkg),
			Bearable:   testsource.Bearable(source, pkg, slices.Max(ladder[:])),
			ClockTests: testsource.ClockTests(source, pkg),
		},
	}
}

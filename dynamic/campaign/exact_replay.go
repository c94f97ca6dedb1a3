package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
)

// replayOf is a run of the finding's test.
func (e *exact) replayOf(f *finding.Finding) replay {
	r := replay{pkg: f.Evidence.Test, exact: true}
	if e.cfg.Noise.Where.Text != "" {
		r.seed, r.runs = f.Evidence.Seed, 1
	}
	if e.cfg.Noise.Where.Functions > 0 && f.Evidence.Run > 1 { // DrFinder's relations are those of the run before
		r.seed, r.runs = r.seed-1, 2
	}
	if !strings.Contains(strings.Join(goFlags(&e.cfg.Settings), " "), "-run=") {
		r.test = testOf(f)
	}
	return r
}

// replayOnce makes the run that the command of r makes, and returns its evidence.
func (e *exact) replayOnce(ctx context.Context, r replay) (*tally, error) {
	i := slices.IndexFunc(e.cfg.First, func(b build.Binary) bool { return b.Package == r.pkg && b.Path != "" })
	if i < 0 {
		return nil, fmt.Errorf("no tests of %s", r.pkg)
	}
	job := e.replayJob(&r)
	job.Evidence = filepath.Join(e.result.Dir, "replay-exact.jsonl")
	if err := os.Remove(job.Evidence); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// A run of its own, which takes nothing from the campaign's.
	cfg := *e.cfg
	cfg.Engine.Predict = false
	seen := newTally(cfg.Plan, cfg.Workspace.Module.Packages)
	seen.begin(1, 0, nil, nil)
	again := newExact(&campaign{cfg: &cfg, result: &Result{Dir: e.result.Dir}, seen: seen, tests: e.tests})
	// Where all tests run, those that hang are left out.
	timeout := child.Stretch(PlainTimeout(cfg.Tests.Timeout), exactCost)
	o := testproc.Options{Timeout: timeout, Flags: cfg.Tests.Flags, Test: r.test}
	for _, pkg := range e.result.Packages {
		if pkg.Package == r.pkg {
			o.Limit = child.Stretch(pkg.PlainTime, exactCost) + cfg.Tests.Floor
		}
		if pkg.Package == r.pkg && r.test == "" {
			o.Flags = e.without(pkg.LeftOut)
		}
	}
	if _, _, err := again.once(ctx, cfg.First[i], job, o); err != nil {
		return nil, err
	}
	for key := range again.races {
		seen.unordered[key] = true
	}
	return seen, nil
}

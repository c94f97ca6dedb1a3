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

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// replayOnce makes the run that the command of r makes, and returns its evidence.
func (e *exact) replayOnce(ctx context.Context, r run.Replay) (*judge.Tally, error) {
	i := slices.IndexFunc(e.cfg.First, func(b build.Binary) bool { return b.Package == r.Pkg && b.Path != "" })
	if i < 0 {
		return nil, fmt.Errorf("no tests of %s", r.Pkg)
	}
	job := e.replayJob(&r)
	job.Evidence = filepath.Join(e.result.Dir, "replay-exact.jsonl")
	if err := os.Remove(job.Evidence); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// A run of its own, which takes nothing from the campaign's.
	cfg := *e.cfg
	cfg.Engine.Predict = false
	seen := judge.NewTally(cfg.Plan, cfg.Workspace.Module.Packages)
	seen.Begin(1, 0, nil, nil)
	again := newExact(&campaign{cfg: &cfg, result: &Result{Dir: e.result.Dir}, seen: seen, tests: e.tests})
	// Where all tests run, those that hang are left out.
	timeout := child.Stretch(run.PlainTimeout(cfg.Tests.Timeout), exactCost)
	o := testproc.Options{Timeout: timeout, Flags: cfg.Tests.Flags, Test: r.Test}
	for _, pkg := range e.result.Packages {
		if pkg.Package == r.Pkg {
			o.Limit = child.Stretch(pkg.PlainTime, exactCost) + cfg.Tests.Floor
		}
		if pkg.Package == r.Pkg && r.Test == "" {
			o.Flags = e.without(pkg.LeftOut)
		}
	}
	if _, _, err := again.once(ctx, cfg.First[i], job, o); err != nil {
		return nil, err
	}
	for key := range again.found.Races {
		seen.Unordered[key] = true
	}
	return seen, nil
}

// replayOnce makes the run that the command of r makes, and returns its evidence.
func (c *campaign) replayOnce(ctx context.Context, r run.Replay) (*judge.Tally, error) {
	if r.Exact {
		return c.exact.replayOnce(ctx, r)
	}
	i := slices.IndexFunc(c.cfg.Tests.Binaries, func(b build.Binary) bool { return b.Package == r.Pkg })
	if i < 0 || c.cfg.Tests.Binaries[i].Path == "" {
		return nil, fmt.Errorf("no tests of %s", r.Pkg)
	}
	only, windows := c.cfg.Noise.Only, c.cfg.Noise.Windows
	if r.Only != "" {
		var err error
		at := func(place string) ([]uint32, error) { return arm.SitesAt(c.cfg.Plan, place) }
		if only, windows, err = arm.WindowsAt(r.Only, at); err != nil {
			return nil, err
		}
	}
	hold := c.cfg.Noise.Hold
	if r.Hold != "" {
		ids, err := arm.LocksAt(c.cfg.Workspace.Module.Packages, r.Hold)
		if err != nil {
			return nil, err
		}
		hold = ids
	}
	pauses, err := c.pausesOf(r.Pause)
	if err != nil {
		return nil, err
	}
	prefix := filepath.Join(c.result.Dir, "replay")
	file, leaks := prefix+".jsonl", run.LeaksFile(prefix)
	for _, name := range []string{file, leaks} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	seen := judge.NewTally(c.cfg.Plan, c.cfg.Workspace.Module.Packages)
	seen.Begin(1, r.Seed, nil, nil)
	pkg := &c.result.Packages[i]
	o := run.Delays{Strength: r.Strength, Plain: pkg.PlainTime, Locks: arm.HoldsAmong(hold), Full: r.Quiet}
	o.Holds.At = windows
	vars, err := o.Environment(&c.cfg.Settings, seen.Number(), prefix, only)
	if err != nil {
		return nil, err
	}
	if len(pauses) > 0 {
		vars = append(vars, "INTERLOCK_ISOLATE="+arm.PauseList(pauses))
	}
	// That a test hangs may be the finding.
	leaveOut := slices.DeleteFunc(slices.Clone(pkg.LeftOut), func(t string) bool {
		return r.Test != "" || slices.Contains(strings.Split(r.Hangs, "|"), t)
	})
	job := c.replayJob(&r)
	job.Engine, job.Evidence = "watch", file
	p := c.runTests(ctx, job, c.cfg.Tests.Binaries[i], pkg, testproc.Options{
		Env:   append(vars, "INTERLOCK_SECTIONS="+arm.SectionList(c.cfg.Plan, arm.Sections(c.cfg.Plan, only), nil)),
		Leaks: leaks, Timeout: c.result.Timeout, Limit: pkg.Limit, Flags: c.without(leaveOut), Test: r.Test,
	})
	if p.Err != nil {
		return nil, p.Err
	}
	records, err := run.ReadRecords(file)
	if err != nil {
		return nil, err
	}
	seen.Add(r.Pkg, r.Strength, records, p, func(string, ...any) {})
	seen.Deadlocks.Add(deadlock.Run{N: 1, Seed: r.Seed, Strength: r.Strength, Package: r.Pkg}, records)
	if records, err = run.ReadRecords(leaks); err != nil {
		return nil, err
	}
	seen.Leaked(&c.cfg.Settings, r.Pkg, r.Strength, records)
	seen.Asleep(&c.cfg.Settings, r.Pkg, r.Strength, p.Asleep())
	return seen, nil
}

// pausesOf returns the pauses of a replay's text.
func (c *campaign) pausesOf(text string) ([]arm.Pause, error) {
	if text == "" {
		return nil, nil
	}
	locks := func(place string) ([]uint64, error) { return arm.LocksAt(c.cfg.Workspace.Module.Packages, place) }
	at := func(place string) ([]uint32, error) { return arm.SitesAt(c.cfg.Plan, place) }
	_, pauses, err := arm.SplitPauses(text, locks, at)
	return pauses, err
}

// replayJob returns the next run of r.
func (c *campaign) replayJob(r *run.Replay) recorded.Job {
	command := r.Command(&c.cfg.Settings)
	return recorded.Job{Name: fmt.Sprintf("replay-%02d %s", len(c.replayed[*r])+1, command), Schedule: command}
}

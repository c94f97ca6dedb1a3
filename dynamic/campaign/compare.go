package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/fisher"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// If a test fails in each run that splits a section, there is nothing to compare with: any noise may make it fail.
// So further runs are made of that test, in pairs that have the same noise, at this section alone. In one of each pair
// goroutines take turns at the section, so that it stays whole. The other sections that were split are whole in both:
// their effect must not be blamed on this one.

const (
	// hopeless is how many pairs are made with one strength of noise where the test fails in no run that splits the
	// section: the next are made with one of wide, in microseconds.
	hopeless = 3
	wide     = 1000
)

// compare makes the runs for the sections that may be why tests failed, as far as its time goes.
func (c *campaign) compare(ctx context.Context) {
	var ids []uint32
	for _, id := range c.seen.SectionsSplit() {
		if what := c.seen.ToCompare(id); what != nil {
			if strings.Contains(strings.Join(run.GoFlags(&c.cfg.Settings), " "), "-run=") {
				what.Test = ""
			}
			c.seen.Compared[id] = what
			ids = append(ids, id)
		}
	}
	end := time.Now().Add(c.replayTime(len(ids)) / 2)
	for i, id := range ids {
		c.progress(Event{Kind: Comparing, Run: i + 1, Runs: len(ids), Package: c.seen.Compared[id].Pkg})
		share := time.Now().Add(time.Until(end) / time.Duration(len(ids)-i))
		if err := c.compareSection(ctx, id, share); err != nil {
			return
		}
	}
}

// compareSection makes the runs for one section, until they decide or its time is over.
func (c *campaign) compareSection(ctx context.Context, id uint32, end time.Time) error {
	what := c.seen.Compared[id]
	err := c.comparePairs(ctx, id, end)
	if err == nil && what.Table.FailedSplit == 0 && what.Strength < wide {
		what.Strength, what.Table, what.Apart = wide, fisher.Table{}, 0
		err = c.comparePairs(ctx, id, end)
	}
	return err
}

// comparePairs makes the runs with one strength of noise.
func (c *campaign) comparePairs(ctx context.Context, id uint32, end time.Time) error {
	what := c.seen.Compared[id]
	for n := range judge.Looks[len(judge.Looks)-1] {
		for _, apart := range []bool{false, true} {
			if ctx.Err() != nil || time.Now().After(end) {
				return ctx.Err()
			}
			if err := c.compareOnce(ctx, id, n, apart); err != nil {
				return err
			}
		}
		if n+1 >= hopeless && what.Table.FailedSplit == 0 {
			return nil
		}
		h := c.seen.HarmOf(c.seen.Section(id), c.seen.Splits[id], nil)
		if slices.Contains(judge.Looks[:], n+1) && h.Significant() {
			return nil
		}
	}
	return nil
}

// compareOnce makes one run of pair n, in which goroutines take turns at the section or not.
func (c *campaign) compareOnce(ctx context.Context, id uint32, n int, apart bool) error {
	what := c.seen.Compared[id]
	i := slices.IndexFunc(c.cfg.Tests.Binaries, func(b build.Binary) bool { return b.Package == what.Pkg })
	name := fmt.Sprintf("compare-%d-%d-%d", id, what.Strength, n+1)
	if apart {
		name += "-apart"
	}
	prefix := filepath.Join(c.result.Dir, name)
	seen := judge.NewTally(c.cfg.Plan, c.cfg.Workspace.Module.Packages)
	seen.Begin(1, what.Seed+uint64(n), nil, nil)
	pkg := &c.result.Packages[i]
	o := run.Delays{Strength: what.Strength, Plain: pkg.PlainTime, Quiet: true}
	vars, err := o.Environment(&c.cfg.Settings, seen.Number(), prefix, c.seen.Places(id))
	if err != nil {
		return err
	}
	job := recorded.Job{Name: name, Engine: "watch", Evidence: prefix + ".jsonl"}
	p := c.runTests(ctx, job, c.cfg.Tests.Binaries[i], pkg,
		testproc.Options{
			Env: append(vars, "INTERLOCK_SECTIONS="+arm.SectionList(c.cfg.Plan, []uint32{id}, nil),
				"INTERLOCK_TURNS="+c.seen.Turns(id, apart)),
			Timeout: c.result.Timeout, Limit: pkg.Limit, Flags: c.without(pkg.LeftOut), Test: what.Test,
		})
	if p.Err != nil {
		return p.Err
	}
	// The record keeps the files of the process, if the user wants that.
	records, err := run.ReadRecords(prefix + ".jsonl")
	if err != nil {
		return err
	}
	p.CountsOnTime = pkg.CountsOnTime(p.FailedTests())
	seen.Add(what.Pkg, what.Strength, records, p, func(string, ...any) {})
	what.Count(id, seen, judge.TestRun{Pkg: what.Pkg, Run: 1}, apart)
	for _, file := range []string{prefix + ".jsonl", prefix + "-sites.txt"} {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

package campaign

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/join"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// ended takes up why the runs have ended: that a process is not in the record of a campaign of the past is its end.
func (c *campaign) ended(ctx context.Context, err error) error {
	c.result.Interrupted = ctx.Err() != nil
	if ctx.Err() != nil || errors.Is(err, recorded.ErrNotRecorded) {
		return nil
	}
	return err
}

// finish makes the result of the evidence so far.
func (c *campaign) finish() {
	r := c.result
	c.seen.Shown = nil // of an earlier call
	var claims map[string]string
	r.Findings, claims = c.seen.Findings(&c.cfg.Settings, r.Packages, c.unordered())
	r.Coverage, r.near = c.seen.Coverage(), c.seen.Near
	r.caught = c.caughtSoFar()
	r.Known = join.Known{Lines: map[join.Line]bool{}, Claims: claims, Whole: map[string]int{},
		Sides: judge.FirstSides(c.cfg.Plan, r.Findings), Waited: c.seen.WaitedAt()}
	for _, id := range r.Coverage.Reached {
		s := c.cfg.Plan.Site(id)
		r.Known.Lines[join.Line{File: s.File, Line: s.Line}] = true
	}
	r.Known.Met = c.met()
	for i := range r.Packages {
		r.Known.LeftOut = append(r.Known.LeftOut, r.Packages[i].LeftOut...)
	}
	reachedBlocked(r)
	r.Sections, r.Ended = len(arm.Sections(c.cfg.Plan, c.cfg.Noise.Only)), slices.Sorted(maps.Keys(c.seen.Ended))
	for id, times := range c.seen.Ended {
		if s := c.seen.Section(id); s != nil && s.Finding != "" {
			r.Known.Whole[s.Finding] += times
		}
	}
	r.Counters = c.seen.Counters
}

// met lists the pairs of lines at which two goroutines came to one address, one after the other.
func (c *campaign) met() (all []join.Met) {
	for i := range c.result.Packages {
		gaps := c.result.Packages[i].Learned.Gaps
		for _, pair := range slices.SortedFunc(maps.Keys(gaps), run.ComparePairs) {
			first, then := c.cfg.Plan.Site(pair[0]), c.cfg.Plan.Site(pair[1])
			all = append(all, join.Met{LeastNS: gaps[pair].LeastNS, Lines: [2]join.Line{
				{File: first.File, Line: first.Line}, {File: then.File, Line: then.Line},
			}})
		}
	}
	return all
}

// reachedBlocked adds to the lines that were reached those at which the goroutines of findings wait for ever, and those
// at which these were called: a test that hangs without noise runs in no monitored run.
func reachedBlocked(r *Result) {
	for _, f := range r.Findings {
		if f.Evidence.Blocked == "" {
			continue
		}
		for _, a := range f.Accesses {
			if a.Goroutine == nil {
				continue
			}
			for _, frame := range slices.Concat(a.Goroutine.Stack, a.Goroutine.Created) {
				r.Known.Lines[join.Line{File: frame.File, Line: frame.Line}] = true
			}
		}
		for _, h := range f.Evidence.Holders {
			r.Known.Lines[join.Line{File: h.File, Line: h.Line}] = true
		}
	}
}

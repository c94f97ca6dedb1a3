package campaign

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/schedule"
)

// fewRuns is how many runs a campaign has at least for one of them to measure only.
const fewRuns = 4

// auto reports whether runs are made by the gaps that earlier ones have shown: where
// the user does not say where to make noise, and runs need not be alike.
func (cfg *settings) auto() bool {
	return cfg.Noise.Where.Text == "" && len(cfg.Noise.Only) == 0 && !cfg.Noise.Repeat
}

// purpose returns that of run n, from 1: of an auto schedule, the first run measures,
// and every fourth looks around, since accesses that no run has reached have no gaps.
func (cfg *settings) purpose(n int) run.Purpose {
	switch {
	case !cfg.auto() || n%4 == 0:
		return run.Guided
	case n > 1 || len(cfg.Before) > 0:
		return run.Planned
	case cfg.Runs < fewRuns:
		return run.Guided
	}
	return run.Measuring
}

// noiseOf returns the noise of run n of a package.
func (c *campaign) noiseOf(n int, pkg *run.Package) run.Delays {
	o := run.Delays{
		Purpose: c.cfg.purpose(n), Strength: c.strength(n, pkg), Plain: pkg.PlainTime,
		Known: c.knownIn(n), Locks: arm.HoldsAmong(c.cfg.Noise.Hold), Events: pkg.Size.Events,
	}
	if pkg.Strength > 0 && o.Purpose == run.Planned { // windows of milliseconds are too much for these tests
		o.Purpose = run.Guided
	}
	if o.Purpose == run.Planned {
		c.seen.Seed = schedule.SeedOf(c.seen.Seed, pkg.Auto.Turn(c.seen.Seed))
		o.Holds, o.Full = pkg.Auto.Plan(c.noiseBudget(pkg), schedule.TurnOf(c.seen.Seed))
		o.Locks = pkg.Locks.Plan(c.noiseBudget(pkg))
		c.seen.Hold(n, o.Holds.At)
	}
	if pkg.DrFinder != nil {
		o.Triggers = pkg.DrFinder.File(c.cfg.Noise.Where.Functions)
	}
	if len(c.cfg.Noise.Windows) > 0 {
		o.Holds.At = c.cfg.Noise.Windows
	}
	return o
}

// knownIn returns the pairs that run n is not to arm.
func (c *campaign) knownIn(n int) []run.Pair {
	all := c.cfg.purpose(n) == run.Guided
	if !c.cfg.auto() {
		all = n%2 == 1 || c.cfg.Noise.Repeat
	}
	if all {
		return nil
	}
	return c.caughtSoFar()
}

// caughtSoFar returns the pairs that runs have shown, those of earlier campaigns included.
func (c *campaign) caughtSoFar() []run.Pair {
	all := slices.Concat(c.seen.Pairs(), c.unordered().Pairs(), c.before)
	slices.SortFunc(all, run.ComparePairs)
	return slices.Compact(all)
}

// noiseBudget is how long windows may take in a run of the package, as the monitor
// reckons it.
func (c *campaign) noiseBudget(pkg *run.Package) time.Duration {
	const floor = 200 * time.Millisecond
	percent := c.cfg.Noise.Budget
	if percent <= 0 {
		percent = child.NoiseBudget
	}
	return floor + pkg.PlainTime/100*time.Duration(percent)
}

// learn has the schedule of a package take up the evidence of a run.
func (c *campaign) learn(pkg *run.Package, o *run.Delays, records []evidence.Record) {
	var armed []uint32
	turn := schedule.TurnOf(c.seen.Seed)
	if o.Purpose == run.Measuring || o.Full {
		turn = schedule.AnyTurn
	}
	last := map[int]*evidence.Record{} // the latest counters of each process
	for i := range records {
		switch r := &records[i]; r.Kind {
		case evidence.Gaps:
			gaps := slices.DeleteFunc(r.Gaps, func(g evidence.Gap) bool {
				return c.cfg.Plan.Site(g.First) == nil || c.cfg.Plan.Site(g.Then) == nil
			})
			pkg.Auto.Observe(gaps, turn)
			pkg.Learned.Observe(gaps)
		case evidence.Stats:
			last[r.PID] = r
		case evidence.Race:
			if c.cfg.Plan.Site(r.A.Site) != nil && c.cfg.Plan.Site(r.B.Site) != nil {
				pkg.Auto.Caught(r.A.Site, r.B.Site)
			}
		}
	}
	if pkg.DrFinder != nil {
		pkg.DrFinder.Observe(records)
	}
	over := uint64(0)
	for _, r := range last {
		pkg.Size.Add(r.Counters)
		armed = append(armed, r.Armed...)
		for _, e := range r.Ended {
			if s := c.seen.Section(e.Section); s != nil {
				armed = append(armed, s.Entry)
			}
		}
		over += r.Counters.OverBudget
	}
	if o.Purpose == run.Planned {
		pkg.Auto.Ran(armed, over)
	}
}

// newSchedule returns the schedule of a package.
func (c *campaign) newSchedule() *schedule.Auto {
	groups, entries := arm.Groups(c.cfg.Plan), map[uint32]uint32{}
	for _, id := range arm.Sections(c.cfg.Plan, c.cfg.Noise.Only) {
		s := c.seen.Section(id)
		for _, e := range s.Ends {
			entries[e.Site] = s.Entry
		}
		entries[s.Entry] = s.Entry
	}
	return schedule.NewAuto(c.cfg.Seed, func(id uint32) schedule.Site {
		s := c.cfg.Plan.Site(id)
		function, _, _ := strings.Cut(s.Function, ".func")
		return schedule.Site{
			Variable: groups[s.Variable], Function: s.Package + "." + function, Suspicious: s.Suspicious, Section: entries[id],
		}
	})
}

// remember has the runs of this campaign planned by the evidence of an earlier one.
func (c *campaign) remember(before *Result) {
	c.before = append(c.before, before.caught...)
	maps.Copy(c.seen.Near, before.near)
	for _, from := range before.Packages {
		i := slices.IndexFunc(c.result.Packages, func(p run.Package) bool { return p.Package == from.Package })
		if i < 0 {
			continue
		}
		pkg := &c.result.Packages[i]
		pkg.KnewExact = pkg.KnewExact || from.Learned.Exact
		for _, at := range slices.SortedFunc(maps.Keys(from.Learned.Gaps), run.ComparePairs) {
			pkg.Auto.Observe([]evidence.Gap{from.Learned.Gaps[at]}, schedule.AnyTurn)
		}
		for j := range from.Learned.Orders {
			pkg.Locks.Observe(&from.Learned.Orders[j])
		}
		for _, p := range before.caught {
			pkg.Auto.Caught(p[0], p[1])
		}
	}
}

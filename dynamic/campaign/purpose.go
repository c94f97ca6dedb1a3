package campaign

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/child"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/schedule"
)

// purpose is the purpose of a run.
type purpose int

const (
	// guided runs make noise where near misses and static findings point, with any
	// heuristic of the user's. They arm pairs that are caught already, too.
	guided purpose = iota
	// measuring runs make none: how far apart goroutines come is as without the monitor.
	measuring
	// planned runs hold goroutines where the schedule says.
	planned
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
func (cfg *settings) purpose(n int) purpose {
	switch {
	case !cfg.auto() || n%4 == 0:
		return guided
	case n > 1 || len(cfg.Before) > 0:
		return planned
	case cfg.Runs < fewRuns:
		return guided
	}
	return measuring
}

// noise is that of one run of a test binary.
type noise struct {
	purpose  purpose
	strength int           // microseconds
	plain    time.Duration // that the tests take without noise, or 0 where nobody knows
	known    []pair        // not to be armed
	holds    schedule.Holds
	full     bool // they take the budget up
	quiet    bool // a schedule holds goroutines elsewhere than at accesses
	// events are those that earlier runs had, at which a schedule decides that counts them.
	events uint64
	// locks are acquisitions between which goroutines are held, for so long at most.
	locks map[schedule.Acquisitions]time.Duration
	// triggers is DrFinder's may-trigger relation, as the monitor reads it; nil for other schedules.
	triggers []byte
}

// noiseOf returns the noise of run n of a package.
func (c *campaign) noiseOf(n int, pkg *PackageResult) noise {
	o := noise{
		purpose: c.cfg.purpose(n), strength: c.strength(n, pkg), plain: pkg.PlainTime,
		known: c.knownIn(n), locks: arm.HoldsAmong(c.cfg.Noise.Hold), events: pkg.size.Events,
	}
	if pkg.Strength > 0 && o.purpose == planned { // windows of milliseconds are too much for these tests
		o.purpose = guided
	}
	if o.purpose == planned {
		c.seen.seed = schedule.SeedOf(c.seen.seed, pkg.auto.Turn(c.seen.seed))
		o.holds, o.full = pkg.auto.Plan(c.noiseBudget(pkg), schedule.TurnOf(c.seen.seed))
		o.locks = pkg.locks.Plan(c.noiseBudget(pkg))
		c.seen.hold(n, o.holds.At)
	}
	if pkg.drFinder != nil {
		o.triggers = pkg.drFinder.File(c.cfg.Noise.Where.Functions)
	}
	if len(c.cfg.Noise.Windows) > 0 {
		o.holds.At = c.cfg.Noise.Windows
	}
	return o
}

// knownIn returns the pairs that run n is not to arm.
func (c *campaign) knownIn(n int) []pair {
	all := c.cfg.purpose(n) == guided
	if !c.cfg.auto() {
		all = n%2 == 1 || c.cfg.Noise.Repeat
	}
	if all {
		return nil
	}
	return c.caughtSoFar()
}

// caughtSoFar returns the pairs that runs have shown, those of earlier campaigns included.
func (c *campaign) caughtSoFar() []pair {
	all := slices.Concat(c.seen.pairs(), c.exact.pairs(), c.before)
	slices.SortFunc(all, comparePairs)
	return slices.Compact(all)
}

// noiseBudget is how long windows may take in a run of the package, as the monitor
// reckons it.
func (c *campaign) noiseBudget(pkg *PackageResult) time.Duration {
	const floor = 200 * time.Millisecond
	percent := c.cfg.Noise.Budget
	if percent <= 0 {
		percent = child.NoiseBudget
	}
	return floor + pkg.PlainTime/100*time.Duration(percent)
}

// environment returns the variables that have the monitor make the noise in run n. It
// writes the site table to a file beside prefix.
func (o *noise) environment(cfg *Settings, seen *tally, prefix string, only []uint32) ([]string, error) {
	sites := prefix + "-sites.txt"
	run := arm.Run{Only: only, Near: seen.near, Holds: o.holds.At}
	if err := os.WriteFile(sites, arm.SiteTable(cfg.Plan, run), 0o644); err != nil {
		return nil, fmt.Errorf("writing the site table: %w", err)
	}
	vars := []string{
		"INTERLOCK_OUT=" + prefix + ".jsonl",
		"INTERLOCK_SITES=" + sites,
		fmt.Sprintf("INTERLOCK_RUN=%d", seen.runs),
		fmt.Sprintf("INTERLOCK_SEED=%d", seen.seed),
		"INTERLOCK_NOISE=" + strings.Join(o.parts(cfg), ","),
	}
	// The inputs of the schedule.
	if len(o.locks) > 0 {
		vars = append(vars, "INTERLOCK_HOLD="+arm.HoldList(o.locks))
	}
	if o.triggers != nil {
		file := prefix + "-triggers.txt"
		if err := os.WriteFile(file, o.triggers, 0o644); err != nil {
			return nil, fmt.Errorf("writing what leads to locks: %w", err)
		}
		vars = append(vars, "INTERLOCK_DRFINDER="+file)
	}
	if len(o.known) > 0 {
		var list []string
		for _, p := range o.known {
			list = append(list, fmt.Sprintf("%d-%d", p[0], p[1]))
		}
		vars = append(vars, "INTERLOCK_KNOWN="+strings.Join(list, ","))
	}
	return vars, nil
}

// parts are those of INTERLOCK_NOISE.
func (o *noise) parts(cfg *Settings) []string {
	var parts []string
	if cfg.Noise.Where.Noise != "" {
		parts = append(parts, cfg.Noise.Where.Noise)
	}
	if cfg.Noise.Where.Depth > 0 {
		const unknown = 1000
		parts = append(parts, fmt.Sprintf("events=%d", cmp.Or(o.events, unknown)))
	}
	parts = append(parts, fmt.Sprintf("strength=%d", o.strength))
	if cfg.Noise.Budget > 0 {
		parts = append(parts, fmt.Sprintf("budget=%d", cfg.Noise.Budget))
	}
	if o.plain > 0 {
		parts = append(parts, fmt.Sprintf("plain=%d", o.plain.Microseconds()))
	}
	switch {
	case o.purpose == measuring || o.full || o.quiet || cfg.Noise.Prob < 0:
		parts = append(parts, "prob=0")
	case cfg.Noise.Prob > 0:
		parts = append(parts, fmt.Sprintf("prob=%d", cfg.Noise.Prob))
	}
	return parts
}

// learn has the schedule of a package take up the evidence of a run.
func (c *campaign) learn(pkg *PackageResult, o *noise, records []evidence.Record) {
	var armed []uint32
	turn := schedule.TurnOf(c.seen.seed)
	if o.purpose == measuring || o.full {
		turn = schedule.AnyTurn
	}
	last := map[int]*evidence.Record{} // the latest counters of each process
	for i := range records {
		switch r := &records[i]; r.Kind {
		case evidence.Gaps:
			gaps := slices.DeleteFunc(r.Gaps, func(g evidence.Gap) bool {
				return c.cfg.Plan.Site(g.First) == nil || c.cfg.Plan.Site(g.Then) == nil
			})
			pkg.auto.Observe(gaps, turn)
			pkg.learned.observe(gaps)
		case evidence.Stats:
			last[r.PID] = r
		case evidence.Race:
			if c.cfg.Plan.Site(r.A.Site) != nil && c.cfg.Plan.Site(r.B.Site) != nil {
				pkg.auto.Caught(r.A.Site, r.B.Site)
			}
		}
	}
	if pkg.drFinder != nil {
		pkg.drFinder.Observe(records)
	}
	over := uint64(0)
	for _, r := range last {
		pkg.size.Add(r.Counters)
		armed = append(armed, r.Armed...)
		for _, e := range r.Ended {
			if s := c.seen.section(e.Section); s != nil {
				armed = append(armed, s.Entry)
			}
		}
		over += r.Counters.OverBudget
	}
	if o.purpose == planned {
		pkg.auto.Ran(armed, over)
	}
}

// newSchedule returns the schedule of a package.
func (c *campaign) newSchedule() *schedule.Auto {
	groups, entries := arm.Groups(c.cfg.Plan), map[uint32]uint32{}
	for _, id := range arm.Sections(c.cfg.Plan, c.cfg.Noise.Only) {
		s := c.seen.section(id)
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

// lessons has the evidence of a campaign on a package that plans the runs of later ones.
type lessons struct {
	gaps   map[pair]evidence.Gap // by the sites, in their order
	orders []evidence.Record     // of locks
	exact  bool                  // its tests have run under the happens-before engine
}

// observe adds gaps.
func (l *lessons) observe(gaps []evidence.Gap) {
	if l.gaps == nil {
		l.gaps = map[pair]evidence.Gap{}
	}
	for _, g := range gaps {
		at := pair{g.First, g.Then}
		if known, ok := l.gaps[at]; ok {
			g.LeastNS, g.MostNS = min(g.LeastNS, known.LeastNS), max(g.MostNS, known.MostNS)
		}
		l.gaps[at] = g
	}
}

// remember has the runs of this campaign planned by the evidence of an earlier one.
func (c *campaign) remember(before *Result) {
	c.before = append(c.before, before.caught...)
	maps.Copy(c.seen.near, before.near)
	for _, from := range before.Packages {
		i := slices.IndexFunc(c.result.Packages, func(p PackageResult) bool { return p.Package == from.Package })
		if i < 0 {
			continue
		}
		pkg := &c.result.Packages[i]
		pkg.knewExact = pkg.knewExact || from.learned.exact
		for _, at := range slices.SortedFunc(maps.Keys(from.learned.gaps), comparePairs) {
			pkg.auto.Observe([]evidence.Gap{from.learned.gaps[at]}, schedule.AnyTurn)
		}
		for j := range from.learned.orders {
			pkg.locks.Observe(&from.learned.orders[j])
		}
		for _, p := range before.caught {
			pkg.auto.Caught(p[0], p[1])
		}
	}
}

package run

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/schedule"
)

// Purpose is the purpose of a run.
type Purpose int

const (
	// Guided runs make noise where near misses and static findings point, with any
	// heuristic of the user's. They arm pairs that are caught already, too.
	Guided Purpose = iota
	// Measuring runs make none: how far apart goroutines come is as without the monitor.
	Measuring
	// Planned runs hold goroutines where the schedule says.
	Planned
)

// Delays is the noise of one run of a test binary.
type Delays struct {
	Purpose  Purpose
	Strength int           // microseconds
	Plain    time.Duration // that the tests take without noise, or 0 where nobody knows
	Known    []Pair        // not to be armed
	Holds    schedule.Holds
	Full     bool // they take the budget up
	Quiet    bool // a schedule holds goroutines elsewhere than at accesses
	// Events are those that earlier runs had, at which a schedule decides that counts them.
	Events uint64
	// Locks are acquisitions between which goroutines are held, for so long at most.
	Locks map[schedule.Acquisitions]time.Duration
	// Triggers is DrFinder's may-trigger relation, as the monitor reads it; nil for other schedules.
	Triggers []byte
}

// Number is the number of a run, its seed, and the sites of the near misses so far.
type Number struct {
	Run  int
	Seed uint64
	Near map[uint32]bool
}

// Environment returns the variables that have the monitor make the noise in a run. It
// writes the site table to a file beside prefix.
func (o *Delays) Environment(cfg *Settings, of Number, prefix string, only []uint32) ([]string, error) {
	sites := prefix + "-sites.txt"
	run := arm.Run{Only: only, Near: of.Near, Holds: o.Holds.At}
	if err := os.WriteFile(sites, arm.SiteTable(cfg.Plan, run), 0o644); err != nil {
		return nil, fmt.Errorf("writing the site table: %w", err)
	}
	vars := []string{
		"INTERLOCK_OUT=" + prefix + ".jsonl",
		"INTERLOCK_SITES=" + sites,
		fmt.Sprintf("INTERLOCK_RUN=%d", of.Run),
		fmt.Sprintf("INTERLOCK_SEED=%d", of.Seed),
		"INTERLOCK_NOISE=" + strings.Join(o.parts(cfg), ","),
	}
	// The inputs of the schedule.
	if len(o.Locks) > 0 {
		vars = append(vars, "INTERLOCK_HOLD="+arm.HoldList(o.Locks))
	}
	if o.Triggers != nil {
		file := prefix + "-triggers.txt"
		if err := os.WriteFile(file, o.Triggers, 0o644); err != nil {
			return nil, fmt.Errorf("writing what leads to locks: %w", err)
		}
		vars = append(vars, "INTERLOCK_DRFINDER="+file)
	}
	if len(o.Known) > 0 {
		var list []string
		for _, p := range o.Known {
			list = append(list, fmt.Sprintf("%d-%d", p[0], p[1]))
		}
		vars = append(vars, "INTERLOCK_KNOWN="+strings.Join(list, ","))
	}
	return vars, nil
}

// parts are those of INTERLOCK_NOISE.
func (o *Delays) parts(cfg *Settings) []string {
	var parts []string
	if cfg.Noise.Where.Noise != "" {
		parts = append(parts, cfg.Noise.Where.Noise)
	}
	if cfg.Noise.Where.Depth > 0 {
		const unknown = 1000
		parts = append(parts, fmt.Sprintf("events=%d", cmp.Or(o.Events, unknown)))
	}
	parts = append(parts, fmt.Sprintf("strength=%d", o.Strength))
	if cfg.Noise.Budget > 0 {
		parts = append(parts, fmt.Sprintf("budget=%d", cfg.Noise.Budget))
	}
	if o.Plain > 0 {
		parts = append(parts, fmt.Sprintf("plain=%d", o.Plain.Microseconds()))
	}
	switch {
	case o.Purpose == Measuring || o.Full || o.Quiet || cfg.Noise.Prob < 0:
		parts = append(parts, "prob=0")
	case cfg.Noise.Prob > 0:
		parts = append(parts, fmt.Sprintf("prob=%d", cfg.Noise.Prob))
	}
	return parts
}

// lessons has the evidence of a campaign on a package that plans the runs of later ones.
type lessons struct {
	Gaps   map[Pair]evidence.Gap // by the sites, in their order
	Orders []evidence.Record     // of locks
	Exact  bool                  // its tests have run under the happens-before engine
}

// Observe adds gaps.
func (l *lessons) Observe(gaps []evidence.Gap) {
	if l.Gaps == nil {
		l.Gaps = map[Pair]evidence.Gap{}
	}
	for _, g := range gaps {
		at := Pair{g.First, g.Then}
		if known, ok := l.Gaps[at]; ok {
			g.LeastNS, g.MostNS = min(g.LeastNS, known.LeastNS), max(g.MostNS, known.MostNS)
		}
		l.Gaps[at] = g
	}
}

// Pair is an unordered pair of sites, the lower id first.
type Pair [2]uint32

func MakePair(a, b uint32) Pair { return Pair{min(a, b), max(a, b)} }

func ComparePairs(a, b Pair) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

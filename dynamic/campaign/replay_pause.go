package campaign

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// A goroutine that tests a condition and then waits misses a wake-up that comes in between. Noise at random seldom
// makes this order twice, and a pause in the right place makes it each time: so a hang that is not seen again by the
// noise of its run is replayed with one pause, as failures are isolated (isolate.go).

// mostPauses is at how many places a replay tries a pause.
const mostPauses = 48

// pausePlace is a place at which a replay may hold goroutines.
type pausePlace struct {
	at        string
	isNear    bool // in a function that a goroutine of the finding was in
	isOfTests bool
}

// waysToReplay lists the replays to try for a finding, see [run.Replay.Ways]. Pauses in the functions of the goroutines
// that wait come directly behind the run as it was: a run that does not hang takes no longer than the test. Pauses
// elsewhere come last.
func (c *campaign) waysToReplay(s *judge.Shown) []run.Replay {
	ways := s.Replay.Ways()
	if !s.Replay.Held || !c.cfg.auto() || c.cfg.Replay.HoldFlag == "" || !c.isMonitored(s.Replay.Pkg) {
		return ways
	}
	var near, far []run.Replay
	for _, p := range c.placesToPause(s.Finding) {
		for order := range uint64(orders) {
			paused := s.Replay
			paused.Strength, paused.Only, paused.Hold = 0, "", ""
			paused.Seed, paused.Pause = orders*s.Replay.Seed+order, fmt.Sprintf("%s@%v", p.at, run.PauseLength)
			if p.isNear {
				near = append(near, paused)
			} else {
				far = append(far, paused)
			}
		}
	}
	return slices.Concat(ways[:1], near, ways[1:], far)
}

// isMonitored reports whether the tests of a package run with the monitor.
func (c *campaign) isMonitored(pkg string) bool {
	return slices.ContainsFunc(c.cfg.Tests.Binaries, func(b build.Binary) bool { return b.Package == pkg && b.Monitored })
}

// placesToPause lists the acquisitions of locks and the monitored accesses in the packages of the goroutines that a
// finding is about, those in their functions first.
func (c *campaign) placesToPause(f *finding.Finding) (all []pausePlace) {
	functions, packages := map[[2]string]bool{}, map[string]bool{}
	for _, a := range f.Accesses {
		if a.Goroutine == nil {
			continue
		}
		for _, frame := range slices.Concat(a.Goroutine.Stack, a.Goroutine.Created) {
			pkg, function := stacktext.SplitName(frame.Function)
			functions[[2]string{pkg, function}], packages[pkg] = true, true
		}
	}
	add := func(pkg, function string, at finding.Position) {
		if packages[pkg] {
			all = append(all, pausePlace{at.String(), functions[[2]string{pkg, function}], isTestFile(at.File)})
		}
	}
	for _, u := range LockUses(c.seen.Pkgs) {
		if u.Method == "Lock" || u.Method == "RLock" {
			add(u.Package, u.Function, u.Position)
		}
	}
	for i := range c.cfg.Plan.Sites {
		if s := &c.cfg.Plan.Sites[i]; s.Decision == plan.Monitor {
			add(s.Package, s.Function, finding.Position{File: s.File, Line: s.Line, Column: s.Column})
		}
	}
	// Tests start goroutines and wait for them: a pause in a test itself seldom changes the order of others.
	slices.SortFunc(all, func(a, b pausePlace) int {
		return cmp.Or(firstTrue(a.isNear, b.isNear), firstTrue(b.isOfTests, a.isOfTests), strings.Compare(a.at, b.at))
	})
	all = slices.Compact(all)
	return all[:min(len(all), mostPauses)]
}

// isTooLate reports whether a way to replay a finding is left out, as the time for its replays is over. Pauses are
// many, so that they end with that time in any campaign.
func (c *campaign) isTooLate(r *run.Replay) bool {
	return c.isLate() || r.Pause != "" && time.Now().After(c.time.share)
}

// firstTrue compares two values for an order in which true comes before false.
func firstTrue(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

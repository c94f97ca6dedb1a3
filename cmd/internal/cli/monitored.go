package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/testflags"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// monitored is a campaign as a command line asks for it.
type monitored struct {
	campaignFlags
	flags       testflags.Flags
	engine      string   // "" is that of the monitor alone
	memory      int      // of the happens-before engine, in megabytes
	only        string   // places, with commas between
	hold        string   // the same
	replays     int      // of each finding
	replayFlags []string // that a replay needs to have the same plan
}

// testFlagsOf returns the flags of go test, those of GOFLAGS included. With an exit
// code other than exitClean, what is wrong has been reported.
func (c *call) testFlagsOf() (testflags.Flags, int) {
	still, err := c.still()
	if err != nil {
		return testflags.Flags{}, c.failed(err)
	}
	flags, err := testflags.Split(still.Flags, c.testFlags)
	if err != nil {
		return flags, c.usage("%v", err)
	}
	return flags, exitClean
}

// run plans, builds and runs; the tests' own output goes to out. What was prepared
// is returned even with an error, to be closed.
func (m *monitored) run(c *call, p planner.Options, out io.Writer) (*testrun.Done, error) {
	p.Tests, p.Turn = true, m.seed
	p.BuildFlags = append(p.BuildFlags, m.flags.Build...)
	pl, err := c.makePlan(p)
	if err != nil {
		return nil, err
	}
	for _, s := range pl.Stale {
		c.progress.Line("%s", s)
	}
	cfg := campaign.Config{
		TestFlags: m.flags.Binary, Timeout: m.flags.Timeout,
		OnlyFlag: "-only", HoldFlag: "-hold", ReplayFlags: m.replayFlags, Replays: m.replays,
		ExactMemory: m.memory,
	}
	if m.engine == engineHB {
		return testrun.Exact(c.ctx, c.progress, pl, m.settings(c), cfg, out)
	}
	if m.only != "" {
		if cfg.Only, err = sitesAt(pl, m.only); err != nil {
			return nil, gocmd.Refuse("-only: "+err.Error(), "`interlock plan` shows the places")
		}
	}
	if m.hold != "" {
		if cfg.Hold, err = locksAt(pl, m.hold); err != nil {
			return nil, gocmd.Refuse("-hold: "+err.Error(), "name where locks are acquired, as findings do")
		}
	}
	// The places of a schedule mean the same as those of -only.
	place := func(place string) ([]uint32, error) { return sitesAt(pl, place) }
	if cfg.Where, err = arm.ParseHeuristic(pl.Plan, m.schedule, place); err != nil {
		return nil, gocmd.Refuse("-schedule: "+err.Error(), "`interlock plan` shows variables and places")
	}
	settings := m.settings(c)
	settings.Vet, settings.Exact = m.flags.Vet, m.engine == engineAuto && m.only == "" && m.hold == ""
	return testrun.Run(c.ctx, c.progress, pl, settings, cfg, out)
}

// sitesAt returns the sites at places, with commas between: relative to the root,
// as plan and replay commands have them, or to this folder, as findings show them.
func sitesAt(pl *planner.Planned, places string) ([]uint32, error) {
	var all []uint32
	for place := range strings.SplitSeq(places, ",") {
		ids, err := arm.SitesAt(pl.Plan, place)
		if err != nil {
			ids, err = arm.SitesAt(pl.Plan, rebased(place, pl.Module.Root))
		}
		if err != nil {
			return nil, fmt.Errorf("no monitored access at %q", place)
		}
		all = append(all, ids...)
	}
	return all, nil
}

// locksAt is sitesAt for uses of locks.
func locksAt(pl *planner.Planned, places string) ([]uint64, error) {
	var all []uint64
	for place := range strings.SplitSeq(places, ",") {
		ids, err := arm.LocksAt(pl.Module.Packages, place)
		if err != nil {
			ids, err = arm.LocksAt(pl.Module.Packages, rebased(place, pl.Module.Root))
		}
		if err != nil {
			return nil, fmt.Errorf("no lock is acquired at %q", place)
		}
		all = append(all, ids...)
	}
	return all, nil
}

// rebased returns a place named from this folder as one named from root.
func rebased(place, root string) string {
	file, position, _ := strings.Cut(place, ":")
	abs, err := filepath.Abs(filepath.FromSlash(file))
	if err != nil {
		return place
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil {
		return place
	}
	return filepath.ToSlash(rel) + ":" + position
}

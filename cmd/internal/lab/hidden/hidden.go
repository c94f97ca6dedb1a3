// Package hidden measures how soon campaigns show bugs of corpora: small programs with one bug each, and correct
// twins. It makes a campaign of each program with each schedule, runs it under the race detector of the Go
// distribution for comparison, and prints tables. `make hidden`, `make detect` and `make sections` keep the figures
// of the three corpora beside this file.
//
// A finding in a correct program makes the command fail.
package hidden

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/testbin"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
)

type options struct {
	dir, match, keep string
	runs, clean      int
	schedules        []string
	depth            int
}

const (
	// plain is the race detector of the Go distribution, without a schedule.
	plain = "-race"
	// beside may stand before a schedule: with busyProcesses that compute beside the campaign, up to the first report
	// or busyRuns.
	beside        = "busy:"
	busyProcesses = 4
	busyRuns      = 20
	// timeout is that of one run; no program takes a second.
	timeout = 3 * time.Second
)

// behind lists the engines that may stand before the name of a schedule.
var behind = map[string]testbin.Detector{"hb:": testbin.HB, "race:": testbin.Shipped}

// Run runs the tool. It reports whether nothing was found in correct programs.
func Run(ctx context.Context, args []string) (held bool, err error) {
	t := matrix.New("hidden")
	var o options
	t.Flags.StringVar(&o.dir, "dir", filepath.Join("testdata", "hidden"),
		"module with the programs; testdata/detect and testdata/sections are others")
	t.Flags.IntVar(&o.runs, "runs", 50, "runs of each program with each schedule")
	t.Flags.IntVar(&o.clean, "clean", 0, "runs of each correct program; 0 is as many as of the others")
	list := t.Flags.String("schedules", "-race,contest,pct,drfinder,hb:drfinder,auto,busy:auto",
		"schedules, as of interlock test, with commas between, behind hb: or race: with that engine, "+
			"behind busy: beside processes that compute, up to the first report; "+
			"-race is the race detector of the Go distribution")
	t.Flags.IntVar(&o.depth, "depth", arm.DefaultFunctions, "of drfinder")
	t.Flags.StringVar(&o.match, "match", "", "take programs whose name contains this `text` only")
	t.Flags.StringVar(&o.keep, "keep", "", "add what is measured to this `file`, and measure nothing again that it has; "+
		"several commands may share one; remove it when the programs or the monitor have changed")
	return t.Run(args, func(tmp string) (string, bool, error) {
		o.schedules = strings.Split(*list, ",")
		return compare(ctx, t, o, tmp)
	})
}

// compare runs each program with each schedule, except those that were measured before.
func compare(ctx context.Context, t *matrix.Tool, o options, tmp string) (markdown string, held bool, err error) {
	programs, err := findPrograms(o.dir, o.match)
	if err != nil {
		return "", false, err
	}
	k, err := openKept(o.keep)
	if err != nil {
		return "", false, err
	}
	defer k.close()
	b := newBuilds(o.dir, tmp, programs)
	defer b.close()
	// One program after the other, so that their binaries are built once.
	held = true
	for i, p := range programs {
		t.Say("%s, %d of %d", p, i+1, len(programs))
		for _, schedule := range o.schedules {
			m := measure{Test: p.String(), Schedule: schedule, Runs: o.runsOf(p), Depth: o.depth}
			s, known := k.of[m]
			if !known {
				if s, err = p.measure(ctx, b, schedule, o); err != nil {
					return "", false, err
				}
				if err := k.addResult(m, s); err != nil {
					return "", false, err
				}
			}
			p.shown = append(p.shown, s)
			held = held && s.Alarms == 0
		}
	}
	return document(programs, o), held, nil
}

// runsOf returns how many runs of a program are made.
func (o options) runsOf(p *program) int {
	if p.isClean() {
		return cmp.Or(o.clean, o.runs)
	}
	return o.runs
}

// splitSchedule returns the engine that a schedule has behind it, and its name.
func splitSchedule(schedule string) (testbin.Detector, string) {
	for prefix, d := range behind {
		if name, ok := strings.CutPrefix(schedule, prefix); ok {
			return d, name
		}
	}
	return testbin.Watch, schedule
}

// measure runs the program with a schedule.
func (p *program) measure(ctx context.Context, b *builds, schedule string, o options) (s shown, err error) {
	defer func() { s.Load = machineLoad() }()
	if schedule == plain {
		if p.isClean() {
			return s, nil // its reports are no false alarms of ours
		}
		race, err := b.withRace(ctx, p.folder)
		if err != nil {
			return s, err
		}
		s.Shown, s.First = race.Failures(ctx, p.function, o.runs, timeout)
		return s, ctx.Err()
	}
	name, busy := strings.CutPrefix(schedule, beside)
	d, name := splitSchedule(name)
	tests, err := b.binaryWith(ctx, d)
	if err != nil {
		return s, err
	}
	where, err := arm.ParseHeuristic(tests.Plan, name, nil)
	if err != nil {
		return s, err
	}
	if where.Functions > 0 {
		where.Functions = o.depth
	}
	q := testbin.Request{
		Folder: p.folder, Function: p.function, Runs: o.runsOf(p), Seed: 1, Timeout: timeout,
		Auto: where.Text == "", Where: where,
	}
	if busy {
		q.FirstHit, q.Runs = true, min(o.runs, busyRuns)
		defer compute(ctx)()
	}
	r, _, err := tests.Run(ctx, q)
	if err != nil {
		return s, err
	}
	s.addFindings(p, schedule, r.Findings)
	return s, ctx.Err()
}

// addFindings counts the findings of a campaign. One in a correct program is false.
func (s *shown) addFindings(p *program, schedule string, findings []*finding.Finding) {
	for _, f := range findings {
		switch {
		case p.isClean():
			s.Alarms++
			fmt.Fprintf(os.Stderr, "hidden: false alarm by %s: %s %s: %s\n", schedule, f.Status, f.Code, f.Title)
		case p.isBug(f):
			s.Shown = max(s.Shown, f.Evidence.Hits, 1)
			if s.First == 0 || f.Evidence.Run < s.First {
				s.First = f.Evidence.Run
			}
		case f.Status == finding.Confirmed:
			fmt.Fprintf(os.Stderr, "hidden: found besides by %s: %s: %s\n", schedule, f.Code, f.Title)
		}
	}
}

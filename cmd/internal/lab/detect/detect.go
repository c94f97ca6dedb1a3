// Package detect measures how much the watch engine catches: each program of
// testdata/detect has a data race of one class and a clean twin. It runs the
// racy ones under the watch engine and under the race detector of the Go
// distribution, the clean ones under the watch engine only, and prints a
// table. `make detect` keeps the figures in figures.json.
//
// The runs under the watch engine are those of a campaign, as `interlock test`
// makes it, without help from the static side. A confirmed race in a clean twin
// makes the command fail.
package detect

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/testbin"
)

type options struct {
	dir, match  string
	runs, clean int
}

// Run runs the tool. It reports whether no race was confirmed in a clean twin.
func Run(ctx context.Context, args []string) (held bool, err error) {
	t := matrix.New("detect")
	var o options
	t.Flags.StringVar(&o.dir, "dir", filepath.Join("testdata", "detect"), "module with the programs")
	t.Flags.IntVar(&o.runs, "runs", 20, "runs of each racy program, with each detector")
	t.Flags.IntVar(&o.clean, "clean", 200, "runs of each clean twin")
	t.Flags.StringVar(&o.match, "match", "", "take classes whose name contains this `text` only")
	return t.Run(args, func(tmp string) (string, bool, error) {
		// Build the programs with each detector.
		classes, err := findClasses(o.dir, o.match)
		if err != nil {
			return "", false, err
		}
		watch, err := testbin.BuildMonitored(ctx, o.dir)
		if err != nil {
			return "", false, err
		}
		defer watch.Close()
		race, err := testbin.BuildRace(ctx, o.dir, tmp)
		if err != nil {
			return "", false, err
		}

		// Run them, class by class.
		held := true
		for i := range classes {
			c := &classes[i]
			t.Say("%s, %d of %d", c.name, i+1, len(classes))
			if err := c.measure(ctx, watch, race, o); err != nil {
				return "", false, err
			}
			held = held && c.alarms == 0
		}
		return classTable(classes, race, o), held, nil
	})
}

// timeout is that of one run; no program takes a tenth of a second.
const timeout = 10 * time.Second

// measure runs a class with each detector, and its clean twin.
func (c *class) measure(ctx context.Context, watch *testbin.Monitored, race *testbin.Race, o options) error {
	r, _, err := watch.Run(ctx, testbin.Request{Function: "TestRace" + c.name, Runs: o.runs, Seed: 1, Timeout: timeout})
	if err != nil {
		return err
	}
	if c.watch, err = testbin.Hits(r); err != nil {
		return err
	}
	c.race = race.Hits(ctx, "TestRace"+c.name, o.runs, timeout)
	r, _, err = watch.Run(ctx, testbin.Request{Function: "TestNoRace" + c.name, Runs: o.clean, Seed: 1, Timeout: timeout})
	if err != nil {
		return err
	}
	c.alarms = len(r.Findings)
	for _, f := range r.Findings {
		fmt.Fprintf(os.Stderr, "detect: false alarm: %s at %s and %s\n",
			f.Title, f.Accesses[0].Position, f.Accesses[1].Position)
	}
	return ctx.Err()
}

// Command detect measures what the watch engine catches: each program of
// testdata/detect has a data race of one class and a clean twin. It runs the
// racy ones under the watch engine and under the race detector of the Go
// distribution, the clean ones under the watch engine only, and prints a
// table. `make detect` keeps it in docs/detection.md.
//
// The runs under the watch engine are those of a campaign, as `interlock test`
// makes it, but for help from the static side. A confirmed race in a clean twin
// makes the command fail.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/suite"
)

type options struct {
	dir         string
	runs, clean int
	match, out  string
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", filepath.Join("testdata", "detect"), "module with the programs")
	flag.IntVar(&o.runs, "runs", 20, "runs of each racy program, with each detector")
	flag.IntVar(&o.clean, "clean", 200, "runs of each clean twin")
	flag.StringVar(&o.match, "match", "", "take classes whose name contains this `text` only")
	flag.StringVar(&o.out, "o", "", "write the table to this `file` instead of standard output")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	falseAlarms, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "detect:", err)
		os.Exit(3)
	}
	if falseAlarms > 0 {
		os.Exit(1)
	}
}

// run returns how many clean twins a race was confirmed in.
func run(ctx context.Context, o options) (falseAlarms int, err error) {
	classes, err := findClasses(o.dir, o.match)
	if err != nil {
		return 0, err
	}
	watch, err := suite.Build(ctx, o.dir)
	if err != nil {
		return 0, err
	}
	defer watch.Close()
	race, err := buildRace(ctx, o.dir)
	if err != nil {
		return 0, err
	}
	defer race.remove()
	for i := range classes {
		c := &classes[i]
		fmt.Fprintf(os.Stderr, "detect: %s, %d of %d\n", c.name, i+1, len(classes))
		if err := c.measure(ctx, watch, race, o); err != nil {
			return 0, err
		}
		if c.alarms > 0 {
			falseAlarms++
		}
	}
	text := table(classes, race, o)
	if o.out == "" {
		_, err = os.Stdout.WriteString(text)
	} else {
		err = os.WriteFile(o.out, []byte(text), 0o644)
	}
	return falseAlarms, err
}

// timeout is that of one run; no program takes a tenth of a second.
const timeout = 10 * time.Second

// measure runs a class in all ways.
func (c *class) measure(ctx context.Context, watch *suite.Suite, race *raceBinary, o options) error {
	r, _, err := watch.Run(ctx, suite.Request{Function: "TestRace" + c.name, Runs: o.runs, Seed: 1, Timeout: timeout})
	if err != nil {
		return err
	}
	if c.watch, err = suite.Hits(r); err != nil {
		return err
	}
	for range o.runs {
		if race.missing == "" && race.hits(ctx, "TestRace"+c.name) {
			c.race++
		}
	}
	r, _, err = watch.Run(ctx, suite.Request{Function: "TestNoRace" + c.name, Runs: o.clean, Seed: 1, Timeout: timeout})
	if err != nil {
		return err
	}
	c.alarms = len(r.Findings)
	for _, f := range r.Findings {
		fmt.Fprintf(os.Stderr, "detect: false alarm: %s at %s and %s\n", f.Title, f.Accesses[0].Position, f.Accesses[1].Position)
	}
	return ctx.Err()
}

// raceBinary is the test binary with the race detector in it.
type raceBinary struct {
	tmp, path, dir string
	missing        string // why there is none
}

func buildRace(ctx context.Context, dir string) (*raceBinary, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "interlock-detect-")
	if err != nil {
		return nil, err
	}
	b := &raceBinary{tmp: tmp, path: filepath.Join(tmp, "race.test"), dir: dir}
	cmd := exec.CommandContext(ctx, "go", "test", "-race", "-c", "-o", b.path, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.missing = "the race detector cannot be built here, it needs cgo and a C compiler"
		os.Stderr.Write(out)
	}
	return b, nil
}

func (b *raceBinary) remove() { os.RemoveAll(b.tmp) }

// hits reports whether one run of a function shows a race.
func (b *raceBinary) hits(ctx context.Context, function string) bool {
	cmd := exec.CommandContext(ctx, b.path, "-test.run=^"+function+"$", "-test.timeout="+timeout.String())
	cmd.Dir = b.dir
	out, _ := cmd.CombinedOutput() // fails with a race
	return strings.Contains(string(out), "WARNING: DATA RACE")
}

// Package hidden measures how soon campaigns find bugs that hide: the programs of testdata/hidden,
// each with one bug, and correct twins. It makes campaigns of each as `interlock test` makes
// them, runs it under the race detector of the Go distribution for comparison, and prints a table.
// `make hidden` keeps it in docs/campaigns.md.
//
// A finding in a correct program makes the command fail.
package hidden

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/testbin"
)

type options struct {
	dir, match, out       string
	campaigns, runs, race int
}

// timeout is that of one run; no program takes a second.
const timeout = 3 * time.Second

// Run runs the tool. It reports whether nothing was found in correct programs.
func Run(ctx context.Context, args []string) (held bool, err error) {
	var o options
	flags := flag.NewFlagSet("lab hidden", flag.ExitOnError)
	flags.StringVar(&o.dir, "dir", filepath.Join("testdata", "hidden"), "module with the programs")
	flags.IntVar(&o.campaigns, "campaigns", 5, "campaigns of each program")
	flags.IntVar(&o.runs, "runs", 10, "runs of each campaign")
	flags.IntVar(&o.race, "race", 50, "runs of each program under the race detector")
	flags.StringVar(&o.match, "match", "", "take tests whose name contains this `text` only")
	flags.StringVar(&o.out, "o", "", "write the table to this `file` instead of standard output")
	flags.Parse(args)

	// Build the programs with each detector.
	programs, err := findPrograms(o.dir, o.match)
	if err != nil {
		return false, err
	}
	tmp, err := os.MkdirTemp("", "interlock-hidden-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	tool := filepath.Join(tmp, "interlock")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", tool, "./cmd/interlock").CombinedOutput(); err != nil {
		return false, fmt.Errorf("building Interlock: %w\n%s", err, out)
	}
	watch, err := testbin.BuildPlanned(ctx, o.dir, tool)
	if err != nil {
		return false, err
	}
	defer watch.Close()
	race, err := testbin.BuildRace(ctx, o.dir, tmp)
	if err != nil {
		return false, err
	}

	// Run them, one by one.
	held = true
	for i, p := range programs {
		fmt.Fprintf(os.Stderr, "hidden: %s, %d of %d\n", p.function(), i+1, len(programs))
		if err := p.measure(ctx, watch, o); err != nil {
			return false, err
		}
		if p.kind != clean {
			p.race = race.Failures(ctx, p.function(), o.race, timeout)
		}
		held = held && p.alarms == 0
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	return held, page.Write(o.out, table(programs, race, o))
}

// measure makes the campaigns of a program.
func (p *program) measure(ctx context.Context, watch *testbin.Monitored, o options) error {
	for n := range o.campaigns {
		r, _, err := watch.Run(ctx, testbin.Request{
			Function: p.function(), Runs: o.runs, Seed: uint64(1 + n*o.runs), Timeout: timeout, Auto: true,
		})
		if err != nil {
			return err
		}
		first := 0
		for _, f := range r.Findings {
			switch {
			case p.kind == clean:
				p.alarms++
				fmt.Fprintf(os.Stderr, "hidden: false alarm: %s %s: %s\n", f.Status, f.Code, f.Title)
			case p.isBug(f) && (first == 0 || f.Evidence.Run < first):
				first = f.Evidence.Run
			case f.Status == finding.Confirmed && !p.isBug(f):
				fmt.Fprintf(os.Stderr, "hidden: found besides: %s: %s\n", f.Code, f.Title)
			}
		}
		if first > 0 {
			p.found, p.first = p.found+1, append(p.first, first)
		}
	}
	return ctx.Err()
}

// table returns the document.
func table(programs []*program, race *testbin.Race, o options) string {
	var b strings.Builder
	b.WriteString(page.Head("Campaigns", "hidden", ". The programs are those of `testdata/hidden`: each hides one bug, "+
		"and those named Clean have none.\nCampaigns are as `interlock test` makes them by default."))
	fmt.Fprintf(&b, "- **found**: campaigns of %d runs, of %d, that confirm the bug; in clean ones, findings\n",
		o.runs, o.campaigns)
	b.WriteString("- **run**: the run that shows it first, in the median of these\n")
	raced := o.race > 0 && race.Missing == ""
	if raced {
		fmt.Fprintf(&b, "- **-race**: runs of %d under the race detector of the Go distribution that report something "+
			"or fail\n", o.race)
	} else {
		fmt.Fprintf(&b, "- **-race**: not measured: %s\n", cmp.Or(race.Missing, "no runs were asked for"))
	}
	bugs, all := 0, 0
	for _, p := range programs {
		if p.kind != clean {
			bugs++
			if p.found == o.campaigns {
				all++
			}
		}
	}
	fmt.Fprintf(&b, "\nOf %d bugs, %d are found by every campaign.\n\n", bugs, all)
	b.WriteString("| test | what happens | found | run | -race |\n|---|---|---|---|---|\n")
	for _, p := range programs {
		b.WriteString(p.row(raced))
	}
	return b.String()
}

// row returns the line of a program; raced reports whether it ran under the race detector.
func (p *program) row(raced bool) string {
	if p.kind == clean {
		return fmt.Sprintf("| %s | %s | %d | - | - |\n", p.function(), p.title, p.alarms)
	}
	run, plain := "-", "-"
	if len(p.first) > 0 {
		slices.Sort(p.first)
		run = fmt.Sprint(p.first[len(p.first)/2])
	}
	if raced {
		plain = fmt.Sprint(p.race)
	}
	return fmt.Sprintf("| %s | %s | %d | %s | %s |\n", p.function(), p.title, p.found, run, plain)
}

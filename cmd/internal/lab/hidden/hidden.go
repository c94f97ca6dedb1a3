// Package hidden compares schedules by how soon they bring bugs out that hide: the programs of testdata/hidden,
// each with one bug, and correct twins. It makes a campaign of each with each schedule, runs it under the race
// detector of the Go distribution for comparison, and prints tables and a plot. `make hidden` keeps it in
// docs/campaigns.md.
//
// A finding in a correct program makes the command fail.
package hidden

import (
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
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
)

type options struct {
	dir, match, out string
	runs            int
	schedules       []string
	depth           int
}

const (
	// plain is the race detector of the Go distribution, without a schedule.
	plain = "-race"
)

// behind is what may stand before the name of a schedule: the engine behind it.
var behind = map[string]testbin.Detector{"hb:": testbin.HB, "race:": testbin.Shipped}

// timeout is that of one run; no program takes a second.
const timeout = 3 * time.Second

// Run runs the tool. It reports whether nothing was found in correct programs.
func Run(ctx context.Context, args []string) (held bool, err error) {
	var o options
	flags := flag.NewFlagSet("lab hidden", flag.ExitOnError)
	flags.StringVar(&o.dir, "dir", filepath.Join("testdata", "hidden"), "module with the programs")
	flags.IntVar(&o.runs, "runs", 10, "runs of each program with each schedule")
	list := flags.String("schedules", "-race,contest,pct,drfinder,hb:drfinder,auto",
		"schedules, as of interlock test, with commas between, behind hb: or race: with that engine; "+
			"-race is the race detector of the Go distribution")
	depth := flags.Int("depth", arm.DefaultFunctions, "of drfinder")
	flags.StringVar(&o.match, "match", "", "take tests whose name contains this `text` only")
	flags.StringVar(&o.out, "o", "", "write the table to this `file` instead of standard output")
	flags.Parse(args)
	o.schedules, o.depth = strings.Split(*list, ","), *depth

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
	tool, err := buildTool(ctx, tmp)
	if err != nil {
		return false, err
	}
	tests := map[testbin.Detector]*testbin.Monitored{}
	for _, s := range o.schedules {
		d, _ := split(s)
		if s == plain || tests[d] != nil {
			continue
		}
		if tests[d], err = testbin.BuildPlanned(ctx, o.dir, tool, d); err != nil {
			return false, err
		}
		defer tests[d].Close()
	}
	race, err := testbin.BuildRace(ctx, o.dir, tmp)
	if err != nil {
		return false, err
	}

	// Run them, one by one.
	held = true
	for i, p := range programs {
		fmt.Fprintf(os.Stderr, "hidden: %s, %d of %d\n", p.function(), i+1, len(programs))
		for _, schedule := range o.schedules {
			var result shown
			if schedule == plain {
				result.runs, result.first = race.Failures(ctx, p.function(), o.runs, timeout)
			} else {
				d, name := split(schedule)
				result, err = p.measure(ctx, tests[d], name, o)
			}
			if err != nil {
				return false, err
			}
			p.shown = append(p.shown, result)
		}
		held = held && p.alarms == 0
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	if race.Missing != "" {
		fmt.Fprintf(os.Stderr, "hidden: %s was not measured: %s\n", plain, race.Missing)
	}
	return held, page.Write(o.out, document(programs, o))
}

// split returns the engine that a schedule has behind it, and its name.
func split(schedule string) (testbin.Detector, string) {
	for prefix, d := range behind {
		if name, ok := strings.CutPrefix(schedule, prefix); ok {
			return d, name
		}
	}
	return testbin.Watch, schedule
}

// buildTool builds Interlock into the folder tmp.
func buildTool(ctx context.Context, tmp string) (tool string, err error) {
	tool = filepath.Join(tmp, "interlock")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", tool, "./cmd/interlock").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building Interlock: %w\n%s", err, out)
	}
	return tool, nil
}

// measure makes a campaign of the program with a schedule.
func (p *program) measure(
	ctx context.Context, tests *testbin.Monitored, schedule string, o options,
) (result shown, err error) {
	where, err := arm.ParseHeuristic(tests.Plan, schedule, nil)
	if err != nil {
		return result, err
	}
	if where.Functions > 0 {
		where.Functions = o.depth
	}
	r, _, err := tests.Run(ctx, testbin.Request{
		Function: p.function(), Runs: o.runs, Seed: 1, Timeout: timeout, Auto: where.Text == "", Where: where,
	})
	if err != nil {
		return result, err
	}
	// What a correct program is reported for is false.
	for _, f := range r.Findings {
		switch {
		case p.kind == clean:
			p.alarms++
			fmt.Fprintf(os.Stderr, "hidden: false alarm by %s: %s %s: %s\n", schedule, f.Status, f.Code, f.Title)
		case p.isBug(f):
			result.runs = max(result.runs, f.Evidence.Hits, 1)
			if result.first == 0 || f.Evidence.Run < result.first {
				result.first = f.Evidence.Run
			}
		case f.Status == finding.Confirmed:
			fmt.Fprintf(os.Stderr, "hidden: found besides by %s: %s: %s\n", schedule, f.Code, f.Title)
		}
	}
	return result, ctx.Err()
}

const legend = `
The columns are schedules: in how many of %d runs of a program each shows the bug, and behind it the first of these.
%s is the race detector of the Go distribution, a run of which counts that reports something or fails: it sees
accesses that nothing orders, however far apart they are. hb:drfinder has the happens-before engine behind it, which
sees these as well. The others have the watch engine behind them, which sees what happens at one moment. The first run
of auto makes no noise: it measures, and plans the later ones, which look for other bugs once one is shown.
Every third run holds the same goroutines where they start and before locks. A clean program has the findings of all
schedules in its last column: what contest, pct and drfinder report there are predicted deadlocks, since they drive no
run into the circle that would rule it out.
`

// document returns the tables and the plot.
func document(programs []*program, o options) string {
	var b strings.Builder
	b.WriteString(page.Head("Campaigns", "hidden", ". The programs are those of `testdata/hidden`: each hides one bug, "+
		"and those named Clean have none.\nCampaigns are as `interlock test -engine=watch` makes them with `-schedule=`."))
	fmt.Fprintf(&b, legend, o.runs, plain)

	// How many bugs each has shown up to a run.
	columns, rule := strings.Join(o.schedules, " | "), strings.Repeat("|---", len(o.schedules))
	fmt.Fprintf(&b, "\n| up to run | %s |\n|---%s|\n", columns, rule)
	counts := cumulative(programs, o)
	for run := range o.runs {
		fmt.Fprintf(&b, "| %d", run+1)
		for s := range o.schedules {
			fmt.Fprintf(&b, " | %d", counts[s][run])
		}
		b.WriteString(" |\n")
	}
	b.WriteString(plot(counts, o.schedules))

	// Each program.
	fmt.Fprintf(&b, "\n| test | what happens | %s |\n|---|---%s|\n", columns, rule)
	for _, p := range programs {
		b.WriteString(p.row())
	}
	return b.String()
}

// cumulative returns, by schedule and run, how many bugs have been shown by then.
func cumulative(programs []*program, o options) [][]int {
	counts := make([][]int, len(o.schedules))
	for s := range counts {
		counts[s] = make([]int, o.runs)
		for _, p := range programs {
			if first := p.shown[s].first; p.kind != clean && first > 0 {
				for run := first; run <= o.runs; run++ {
					counts[s][run-1]++
				}
			}
		}
	}
	return counts
}

// plot draws the counts: a mark for each schedule in the column of each run. Where several have the same count, the
// mark is that of the first.
func plot(counts [][]int, schedules []string) string {
	const marks, step = "rcpdha*+", 3
	highest := 0
	for _, c := range counts {
		highest = max(highest, slices.Max(c))
	}
	// The columns, from above.
	var b strings.Builder
	b.WriteString("\n    bugs shown\n")
	for y := highest / step; y >= 0; y-- {
		line := fmt.Sprintf("    %3d |", y*step)
		for run := range counts[0] {
			mark := " "
			for s := len(counts) - 1; s >= 0; s-- {
				if counts[s][run]/step == y {
					mark = marks[s%len(marks) : s%len(marks)+1]
				}
			}
			line += "  " + mark + " "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	// The axis, and what the marks mean.
	b.WriteString("        +" + strings.Repeat("----", len(counts[0])) + "\n         ")
	for run := range counts[0] {
		fmt.Fprintf(&b, "%3d ", run+1)
	}
	b.WriteString("runs\n\n    ")
	for s, name := range schedules {
		fmt.Fprintf(&b, "%c %s   ", marks[s%len(marks)], name)
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

// row returns the line of a program.
func (p *program) row() string {
	var cells []string
	for _, s := range p.shown {
		switch {
		case p.kind == clean:
			cells = append(cells, "")
		case s.first == 0:
			cells = append(cells, "0")
		default:
			cells = append(cells, fmt.Sprintf("%d (%d)", s.runs, s.first))
		}
	}
	if p.kind == clean {
		cells[len(cells)-1] = fmt.Sprintf("%d findings", p.alarms)
	}
	return fmt.Sprintf("| %s | %s | %s |\n", p.function(), p.title, strings.Join(cells, " | "))
}

// Package hidden compares schedules by how soon they bring bugs out that hide: the programs of testdata/hidden,
// each with one bug, and correct twins. It makes a campaign of each with each schedule, runs it under the race
// detector of the Go distribution for comparison, and prints tables and a plot. `make hidden` keeps the
// figures in figures.json.
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
	keep            string
	runs            int
	schedules       []string
	depth           int
}

const (
	// plain is the race detector of the Go distribution, without a schedule.
	plain = "-race"
)

// behind lists the engines that may stand before the name of a schedule.
var behind = map[string]testbin.Detector{"hb:": testbin.HB, "race:": testbin.Shipped}

const (
	// beside may stand before all that: with busyProcesses which compute beside the campaign, up to the first report or
	// so many runs.
	beside        = "busy:"
	busyProcesses = 4
	busyRuns      = 20
)

// timeout is that of one run; no program takes a second.
const timeout = 3 * time.Second

// Run runs the tool. It reports whether nothing was found in correct programs.
func Run(ctx context.Context, args []string) (held bool, err error) {
	var o options
	flags := flag.NewFlagSet("lab hidden", flag.ExitOnError)
	flags.StringVar(&o.dir, "dir", filepath.Join("testdata", "hidden"), "module with the programs")
	flags.IntVar(&o.runs, "runs", 50, "runs of each program with each schedule")
	list := flags.String("schedules", "-race,contest,pct,drfinder,hb:drfinder,auto,busy:auto",
		"schedules, as of interlock test, with commas between, behind hb: or race: with that engine, "+
			"behind busy: beside processes that compute, up to the first report; "+
			"-race is the race detector of the Go distribution")
	depth := flags.Int("depth", arm.DefaultFunctions, "of drfinder")
	flags.StringVar(&o.match, "match", "", "take tests whose name contains this `text` only")
	flags.StringVar(&o.keep, "keep", "", "add what is measured to this `file`, and measure nothing again that it has; "+
		"several commands may share one; remove it when the programs or the monitor have changed")
	flags.StringVar(&o.out, "o", "", "write the figures to this `file` too, as JSON")
	flags.Parse(args)
	o.schedules, o.depth = strings.Split(*list, ","), *depth
	programs, err := findPrograms(o.dir, o.match)
	if err != nil {
		return false, err
	}
	k, err := openKept(o.keep)
	if err != nil {
		return false, err
	}
	defer k.close()
	b := &builds{dir: o.dir, tests: map[testbin.Detector]*testbin.Monitored{}}
	defer b.close()

	// Run them, one by one, except those that were measured before.
	held = true
	for i, p := range programs {
		fmt.Fprintf(os.Stderr, "hidden: %s, %d of %d\n", p.function(), i+1, len(programs))
		for _, schedule := range o.schedules {
			m := measure{Test: p.function(), Schedule: schedule, Runs: o.runs, Depth: o.depth}
			s, known := k.of[m]
			if !known {
				if s, err = p.measure(ctx, b, schedule, o); err != nil {
					return false, err
				}
				if schedule == plain && b.race.Missing != "" {
					fmt.Fprintf(os.Stderr, "hidden: %s was not measured: %s\n", plain, b.race.Missing)
				} else if err = k.addResult(m, s); err != nil {
					return false, err
				}
			}
			p.shown = append(p.shown, s)
			held = held && s.Alarms == 0
		}
	}
	return held, page.Write(o.out, document(programs, o))
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

// buildTool builds Interlock into the folder tmp.
func buildTool(ctx context.Context, tmp string) (tool string, err error) {
	tool = filepath.Join(tmp, "interlock")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", tool, "./cmd/interlock").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building Interlock: %w\n%s", err, out)
	}
	return tool, nil
}

// measure runs the program with a schedule.
func (p *program) measure(ctx context.Context, b *builds, schedule string, o options) (s shown, err error) {
	defer func() { s.Load = machineLoad() }()
	if schedule == plain {
		race, err := b.withRace(ctx)
		if err != nil {
			return s, err
		}
		s.Shown, s.First = race.Failures(ctx, p.function(), o.runs, timeout)
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
		Function: p.function(), Runs: o.runs, Seed: 1, Timeout: timeout, Auto: where.Text == "", Where: where,
	}
	if busy {
		q.FirstHit, q.Runs = true, min(o.runs, busyRuns)
		defer compute(ctx)()
	}
	r, _, err := tests.Run(ctx, q)
	if err != nil {
		return s, err
	}
	// A report on a correct program is false.
	for _, f := range r.Findings {
		switch {
		case p.kind == clean:
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
	return s, ctx.Err()
}

const legend = `
The columns are schedules: in how many of %d runs of a program each shows the bug, and behind it the first of these.
%s is the race detector of the Go distribution, a run of which counts that reports something or fails: it sees
accesses that nothing orders, however far apart they are. hb:drfinder has the happens-before engine behind it, which
sees these as well. The others have the watch engine behind them, which sees what happens at one moment. The first run
of auto makes no noise: it measures, and plans the later ones, which look for other bugs once one is shown.
Each of three runs in a row holds other goroutines where they start and before locks. busy:auto is auto beside %d
processes that compute, up to the first report, of %d runs at most. A clean program has the findings of all schedules
in its last column: what contest, pct and drfinder report there are predicted deadlocks, since they drive no run into
the circle that would rule it out.
`

// document returns the tables and the plot.
func document(programs []*program, o options) string {
	var b strings.Builder
	b.WriteString(page.Head("Campaigns", "hidden", ". The programs are those of `testdata/hidden`: each hides one bug, "+
		"and those named Clean have none.\nCampaigns are as `interlock test -engine=watch` makes them with `-schedule=`."))
	fmt.Fprintf(&b, legend, o.runs, plain, busyProcesses, busyRuns)

	b.WriteString(firsts(programs, o))

	// How many bugs each has shown up to a run.
	columns, rule := strings.Join(o.schedules, " | "), strings.Repeat("|---", len(o.schedules))
	fmt.Fprintf(&b, "\n| up to run | %s |\n|---%s|\n", columns, rule)
	counts := cumulative(programs, o)
	for i, run := range shownTicks(o.runs) {
		fmt.Fprintf(&b, "| %d", run)
		for s := range o.schedules {
			fmt.Fprintf(&b, " | %d", counts[s][i])
		}
		b.WriteString(" |\n")
	}
	b.WriteString(plotCounts(counts, o))

	// Each program.
	fmt.Fprintf(&b, "\n| test | what happens | %s |\n|---|---%s|\n", columns, rule)
	for _, p := range programs {
		b.WriteString(p.formatRow())
	}
	return b.String()
}

// shownTicks returns the runs that tables and plots show: each of the first ten, then every fifth.
func shownTicks(runs int) (shown []int) {
	for run := 1; run <= runs; run++ {
		if run <= 10 || run%5 == 0 {
			shown = append(shown, run)
		}
	}
	return shown
}

// loadRange returns the cell with the least and the greatest load of the machine after the programs of a schedule.
func loadRange(programs []*program, s int) string {
	low, high := programs[0].shown[s].Load, 0.
	for _, p := range programs {
		low, high = min(low, p.shown[s].Load), max(high, p.shown[s].Load)
	}
	return fmt.Sprintf("%.0f to %.0f", low, high)
}

// firsts returns how many bugs each schedule shows at all, and the median of its runs to the first: of all bugs, and of
// those that are rare under the race detector.
func firsts(programs []*program, o options) string {
	base := slices.Index(o.schedules, plain)
	if base < 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nRuns to the first that shows a bug, in the median, where more than %d stands for none:\n\n"+
		"| bugs | %s |\n|---%s|\n", o.runs, strings.Join(o.schedules, " | "), strings.Repeat("|---", len(o.schedules)))
	// All bugs, and those that take long to show without a schedule.
	for _, group := range []struct {
		name string
		has  func(*program) bool
	}{
		{"all", func(p *program) bool { return true }},
		{
			"shown by " + plain + " in at most one run in ten",
			func(p *program) bool { return 10*p.shown[base].Shown <= o.runs },
		},
	} {
		rows := slices.DeleteFunc(slices.Clone(programs), func(p *program) bool {
			return p.kind == clean || !group.has(p)
		})
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "| %s, %d", group.name, len(rows))
		for s := range o.schedules {
			fmt.Fprintf(&b, " | %s", medianFirst(rows, s, o.runs))
		}
		b.WriteString(" |\n")
	}
	b.WriteString("| load of the machine meanwhile")
	for s := range o.schedules {
		fmt.Fprintf(&b, " | %s", loadRange(programs, s))
	}
	b.WriteString(" |\n")
	return b.String()
}

// medianFirst returns the cell of a schedule.
func medianFirst(programs []*program, s, runs int) string {
	var firsts []int
	missed := 0
	for _, p := range programs {
		n := p.shown[s].First
		if n == 0 {
			n = runs + 1
			missed++
		}
		firsts = append(firsts, n)
	}
	slices.Sort(firsts)
	median := fmt.Sprint(firsts[len(firsts)/2])
	if firsts[len(firsts)/2] > runs {
		median = fmt.Sprintf("more than %d", runs)
	}
	return fmt.Sprintf("%s, %d not shown", median, missed)
}

// cumulative returns, by schedule and tick, how many bugs have been shown by then.
func cumulative(programs []*program, o options) [][]int {
	counts := make([][]int, len(o.schedules))
	for s := range counts {
		for _, run := range shownTicks(o.runs) {
			n := 0
			for _, p := range programs {
				if first := p.shown[s].First; p.kind != clean && 0 < first && first <= run {
					n++
				}
			}
			counts[s] = append(counts[s], n)
		}
	}
	return counts
}

// plotCounts draws the counts: a mark for each schedule in the column of each tick. Where several have the same
// count, the mark is that of the first.
func plotCounts(counts [][]int, o options) string {
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
		for i := range counts[0] {
			mark := " "
			for s := len(counts) - 1; s >= 0; s-- {
				if counts[s][i]/step == y {
					mark = marks[s%len(marks) : s%len(marks)+1]
				}
			}
			line += "  " + mark + " "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	// The axis, and the meaning of the marks.
	b.WriteString("        +" + strings.Repeat("----", len(counts[0])) + "\n         ")
	for _, run := range shownTicks(o.runs) {
		fmt.Fprintf(&b, "%3d ", run)
	}
	b.WriteString("runs\n\n    ")
	for s, name := range o.schedules {
		fmt.Fprintf(&b, "%c %s   ", marks[s%len(marks)], name)
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

// formatRow returns the line of a program.
func (p *program) formatRow() string {
	var cells []string
	alarms := 0
	for _, s := range p.shown {
		alarms += s.Alarms
		switch {
		case p.kind == clean:
			cells = append(cells, "")
		case s.First == 0:
			cells = append(cells, "0")
		default:
			cells = append(cells, fmt.Sprintf("%d (%d)", s.Shown, s.First))
		}
	}
	if p.kind == clean {
		cells[len(cells)-1] = fmt.Sprintf("%d findings", alarms)
	}
	return fmt.Sprintf("| %s | %s | %s |\n", p.function(), p.title, strings.Join(cells, " | "))
}

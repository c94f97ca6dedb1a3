package hidden

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

const legend = `
The columns are schedules: in how many of %d runs of a program each shows the bug, and behind it the first of these.
%s is the race detector of the Go distribution, a run of which counts if it reports something or fails: it sees
accesses that nothing orders, however far apart they are. A schedule behind hb: has the happens-before engine, which
sees these as well. The others have the watch engine, which sees accesses that meet. guided makes noise in every run
alike. The first run of auto makes no noise: it measures, and plans the later ones, which look for other bugs once
one is shown. busy:auto is auto beside %d processes that compute, up to the first report, of %d runs at most. A
correct program was run %d times; its last column counts the findings of all schedules. contest, pct and drfinder may
predict deadlocks there, since they drive no run into the circle that would rule it out.
`

// document returns the tables.
func document(programs []*program, o options) string {
	var b strings.Builder
	b.WriteString(page.Head("Campaigns", filepath.Base(o.dir), ". Each program has one bug, or is correct and its row "+
		"ends in findings.\nCampaigns are as `interlock test -engine=watch` makes them with `-schedule=`."))
	fmt.Fprintf(&b, legend, o.runs, plain, busyProcesses, busyRuns,
		cmp.Or(o.clean, o.runs))

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

	// Each program.
	fmt.Fprintf(&b, "\n| test | what happens | %s |\n|---|---%s|\n", columns, rule)
	for _, p := range programs {
		b.WriteString(p.formatRow())
	}
	return b.String()
}

// shownTicks returns the runs that the table shows: each of the first ten, then every fifth.
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
			return p.isClean() || !group.has(p)
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
				if first := p.shown[s].First; !p.isClean() && 0 < first && first <= run {
					n++
				}
			}
			counts[s] = append(counts[s], n)
		}
	}
	return counts
}

// formatRow returns the line of a program.
func (p *program) formatRow() string {
	var cells []string
	alarms := 0
	for _, s := range p.shown {
		alarms += s.Alarms
		switch {
		case p.isClean():
			cells = append(cells, "")
		case s.First == 0:
			cells = append(cells, "0")
		default:
			cells = append(cells, fmt.Sprintf("%d (%d)", s.Shown, s.First))
		}
	}
	if p.isClean() {
		cells[len(cells)-1] = fmt.Sprintf("%d findings", alarms)
	}
	return fmt.Sprintf("| %s | %s | %s |\n", p, p.title, strings.Join(cells, " | "))
}

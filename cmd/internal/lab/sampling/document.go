package sampling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/timing"
)

func meanOf(xs []float64) (sum float64) {
	for _, x := range xs {
		sum += x / float64(len(xs))
	}
	return sum
}

// overhead returns the time over the plain one, less one, at the median of the programs. The least time of each counts:
// other work of the machine only adds to it.
func (v *variant) overhead() float64 {
	var all []float64
	for program, times := range v.Times {
		all = append(all, slices.Min(times)/slices.Min(v.Plain[program])-1)
	}
	return timing.Median(all)
}

// rounds returns how many rounds of the programs there were.
func (v *variant) rounds() (n int) {
	for _, times := range v.Times {
		n = max(n, len(times))
	}
	return n
}

// budgets are shares of the overhead of the engine that records all accesses, in percent.
var budgets = []int{50, 70, 85, 100}

// within returns the variant of a detector with the highest rate of which the overhead is within a budget, and nil
// where that of none is.
func (all results) within(d, budget int) *variant {
	for _, v := range all[d] {
		if v.overhead() <= all[0][0].overhead()*float64(budget)/100 {
			return v
		}
	}
	return nil
}

func document(all results, benchtime string) string {
	var b strings.Builder
	first := all[0][0]
	b.WriteString(page.Head("Sampling under the happens-before engine", "sampling", fmt.Sprintf(`: what the engine
costs and finds where it records a part of the accesses, see [hb.md](hb.md). Overhead is the time over that of the plain
program, less one: the median over the programs of testdata/bench, each with the least of its times in %d paired rounds
of %s. The races are the racy functions of dynamic/hb/testdata/races, each of which races once or a few times: the
share that is reported, at the mean of %d runs, the least and the most. LIS counts the loops of these packages
alone. These are the tables and figures of Li's thesis (2012) for Go.`, first.rounds(), benchtime, len(first.Found))))
	columns := []string{"rate"}
	for _, d := range detectors {
		columns = append(columns, d.name)
	}
	overheads, races, wrong := all.tables()
	page.Table(&b, "Overhead", columns, overheads)
	b.WriteString("\nThat is Table 3.1 of the thesis, with a rate beside it. Pacer at 100 % records all accesses.\n")
	page.Table(&b, "Races found", columns, races)
	fmt.Fprintf(&b, "\nThat is Table 3.2. Clean functions that were reported, in all runs together: %d.\n", wrong)

	page.Table(&b, "Within a budget", append([]string{"budget"}, columns[1:]...), all.budgetTable())
	b.WriteString(`
A budget is a share of the overhead of the engine that records all accesses. The thesis has shares of the plain
program's time, which no rate is within here, as the calls that the compiler puts before accesses stay. The rate is the
highest of those above with an overhead within the budget (Table 3.3), and behind it stands which share of the races is
found at that rate (Figures 2.5 and 3.5).

![races found over overhead, and within budgets](sampling.svg)
`)
	return b.String()
}

// tables returns the rows of overheads and of races found, a row for each rate, and how many clean functions were
// reported.
func (all results) tables() (overheads, races [][]string, wrong int) {
	for k, rate := range rates {
		over, found := []string{fmt.Sprintf("%d %%", rate)}, []string{fmt.Sprintf("%d %%", rate)}
		for d := range all {
			v := all[d][k]
			over = append(over, fmt.Sprintf("%.1f", v.overhead()))
			found = append(found, fmt.Sprintf("%.0f %% (%.0f to %.0f)",
				100*meanOf(v.Found), 100*slices.Min(v.Found), 100*slices.Max(v.Found)))
			wrong += len(v.Wrong)
		}
		overheads, races = append(overheads, over), append(races, found)
	}
	return overheads, races, wrong
}

// budgetTable returns the rows of rates and races within budgets.
func (all results) budgetTable() (rows [][]string) {
	for _, budget := range budgets {
		row := []string{fmt.Sprintf("%d %%", budget)}
		for d := range all {
			cell := "none"
			if v := all.within(d, budget); v != nil {
				cell = fmt.Sprintf("%d %%: %.0f %%", rates[slices.Index(all[d], v)], 100*meanOf(v.Found))
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// colours are those of the detectors; people with colour blindness can tell them apart.
var colours = []string{"#000000", "#0072b2", "#e69f00", "#009e73", "#cc79a7"}

// drawCharts draws, side by side, the share of races over the overhead, a point for each rate, and over the budget, a
// line for each detector, as SVG.
func drawCharts(all results) string {
	const left, top, width, height, gap = 50, 20, 330, 220, 60
	most := 1.0
	for _, v := range all.variants() {
		most = max(most, v.overhead())
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" `, left+2*width+gap+110, top+height+40)
	b.WriteString(`font-family="sans-serif" font-size="11">` + "\n")
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	text := func(x, y float64, anchor, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, s)
	}

	// Both charts have the share of races upwards.
	upwards := func(share float64) float64 { return top + height*(1-share) }
	for panel := range 2 {
		x := float64(left + panel*(width+gap))
		for percent := 0; percent <= 100; percent += 25 {
			y := upwards(float64(percent) / 100)
			fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#ccc"/>`+"\n", x, x+width, y, y)
			text(x-6, y+4, "end", fmt.Sprintf("%d %%", percent))
		}
	}
	text(left, top+height+30, "start", fmt.Sprintf("races found over the overhead, from 0 to %.1f", most))
	second := float64(left + width + gap)
	text(second, top+height+34, "start", "races found within a budget")
	inBudget := func(k int) float64 { return second + width*float64(k)/float64(len(budgets)-1) }
	for k, budget := range budgets {
		text(inBudget(k), top+height+16, "middle", fmt.Sprintf("%d %%", budget))
	}

	// A detector has a line in each.
	for d := range all {
		var byRate, byBudget []string
		for _, v := range all[d] {
			x, y := left+width*max(v.overhead(), 0)/most, upwards(meanOf(v.Found))
			byRate = append(byRate, fmt.Sprintf("%.1f,%.1f", x, y))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x, y, colours[d])
		}
		for k, budget := range budgets {
			if v := all.within(d, budget); v != nil {
				byBudget = append(byBudget, fmt.Sprintf("%.1f,%.1f", inBudget(k), upwards(meanOf(v.Found))))
			}
		}
		for _, points := range [][]string{byRate, byBudget} {
			fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s"/>`+"\n", strings.Join(points, " "), colours[d])
		}
		y := float64(top + 16*d)
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="10" height="10" fill="%s"/>`+"\n", second+width+14, y, colours[d])
		text(second+width+28, y+9, "start", detectors[d].name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

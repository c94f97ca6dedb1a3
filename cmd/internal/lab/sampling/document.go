package sampling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	n := len(xs)
	if n == 0 {
		return 0
	}
	return (xs[(n-1)/2] + xs[n/2]) / 2
}

func mean(xs []float64) (sum float64) {
	for _, x := range xs {
		sum += x / float64(len(xs))
	}
	return sum
}

func document(all []*variant, rounds, runs int, benchtime string) string {
	var b strings.Builder
	b.WriteString(page.Head("Sampling under the happens-before engine", "sampling", fmt.Sprintf(`: what the engine
costs and finds where it records a part of the accesses, see [hb.md](hb.md). Overhead is the time over that of the plain
program, less one: the median over the programs of testdata/bench, %d paired rounds of %s each. The races are the racy
functions of dynamic/hb/testdata/races, each of which races once or a few times: the share that is reported, at the
mean of %d runs, the least and the most. LIS counts the loops of these packages alone. Clean are functions there that
are reported, in all runs together.`, rounds, benchtime, runs)))
	var rows [][]string
	for _, v := range all {
		rows = append(rows, []string{
			v.name, fmt.Sprintf("%.1f", median(v.overheads)),
			fmt.Sprintf("%.0f %% (%.0f to %.0f)", 100*mean(v.found), 100*slices.Min(v.found), 100*slices.Max(v.found)),
			fmt.Sprint(len(v.wrong)),
		})
	}
	page.Table(&b, "Overhead and races", []string{"recorded", "overhead", "races found", "clean, reported"}, rows)
	b.WriteString("\n![overhead and races found](sampling.svg)\n")
	return b.String()
}

// drawChart draws the share of races over the overhead, a point for each variant, as SVG.
func drawChart(all []*variant) string {
	const left, top, width, height = 50, 20, 420, 220
	most := 1.0
	for _, v := range all {
		most = max(most, median(v.overheads))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" `, left+width+90, top+height+40)
	b.WriteString(`font-family="sans-serif" font-size="11">` + "\n")
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	for percent := 0; percent <= 100; percent += 25 {
		y := top + height - height*percent/100
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="#ccc"/>`, left, left+width, y, y)
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%d %%</text>`+"\n", left-6, y+4, percent)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">overhead, from 0 to %.1f; upwards: races found</text>`+"\n",
		left, top+height+30, most)
	for _, v := range all {
		x, y := left+width*max(median(v.overheads), 0)/most, top+height*(1-mean(v.found))
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="4" fill="#0072b2"/><text x="%.1f" y="%.1f">%s</text>`+"\n",
			x, y, x+7, y+4, v.name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

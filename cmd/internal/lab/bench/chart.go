package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/timing"
)

// Measures of the chart, in its units.
const (
	chartLeft, chartWidth, chartTop = 90, 520, 30
	barHeight, rowGap               = 9, 10
)

// colours of the variants but plain, in order; distinct to colour-blind eyes.
var colours = []string{"#0072b2", "#56b4e9", "#009e73", "#8fd1b5", "#e69f00", "#cc79a7", "#999999", "#d55e00"}

// drawChart draws time over plain of each program and variant as bars, on a
// logarithmic scale, as SVG.
func (d *document) drawChart() string {
	names, others := slices.Sorted(maps.Keys(d.times)), d.variants[1:]
	// The scale goes from 1 to the largest ratio.
	most := 2.0
	for _, name := range names {
		for _, v := range others {
			most = max(most, 1+timing.Median(d.times[name][v.name]))
		}
	}
	x := func(ratio float64) float64 { return chartWidth * math.Log2(max(ratio, 1)) / math.Log2(most) }
	row := barHeight*len(others) + rowGap
	height := chartTop + row*len(names) + 20*((len(others)+2)/3) + 20

	var b strings.Builder
	fmt.Fprintf(
		&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n",
		chartLeft+chartWidth+50,
		height,
	)
	fmt.Fprintf(
		&b,
		`<rect width="100%%" height="100%%" fill="white"/><text x="%d" y="14">time / plain, logarithmic</text>`+"\n",
		chartLeft,
	)
	// Grid lines at powers of two.
	for tick := 1.0; tick <= most; tick *= 2 {
		fmt.Fprintf(
			&b,
			`<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#ccc"/><text x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n",
			chartLeft+x(tick),
			chartLeft+x(tick),
			chartTop,
			chartTop+row*len(names),
			chartLeft+x(tick),
			chartTop-3,
			tick,
		)
	}
	// A group of bars for each program.
	for i, name := range names {
		top := chartTop + i*row + rowGap/2
		fmt.Fprintf(
			&b,
			`<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n",
			chartLeft-6,
			top+barHeight*len(others)/2+4,
			name,
		)
		for j, v := range others {
			if xs := d.times[name][v.name]; len(xs) > 0 {
				fmt.Fprintf(
					&b,
					`<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"><title>%s, %s: %.2f</title></rect>`+"\n",
					chartLeft,
					top+j*barHeight,
					max(x(1+timing.Median(xs)), 1),
					barHeight-1,
					colours[j%len(colours)],
					name,
					v.name,
					1+timing.Median(xs),
				)
			}
		}
	}
	// The legend.
	for j, v := range others {
		left, top := chartLeft+j%3*180, chartTop+row*len(names)+14+20*(j/3)
		fmt.Fprintf(
			&b,
			`<rect x="%d" y="%d" width="10" height="10" fill="%s"/><text x="%d" y="%d">%s</text>`+"\n",
			left,
			top,
			colours[j%len(colours)],
			left+14,
			top+9,
			v.name,
		)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

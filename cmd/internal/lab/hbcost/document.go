package hbcost

import (
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/timing"
)

// slowdown returns how many times the plain processor time a build takes.
func (p *program) slowdown(b build) float64 {
	return timing.Median(p.time[b]) / timing.Median(p.time[plain])
}

// growth returns how many times the plain peak of memory a build takes.
func (p *program) growth(b build) float64 {
	return timing.Median(p.memory[b]) / timing.Median(p.memory[plain])
}

// overhead returns the engine's overhead as a share of the race detector's.
func (p *program) overhead() float64 { return (p.slowdown(engine) - 1) / (p.slowdown(race) - 1) }

// summary has the figures that the bars are about: shares of the race detector's cost.
type summary struct {
	overheads float64 // of the median overheads
	overhead  float64 // of the overhead, at the median
	worst     float64 // the same, at most
	memory    float64 // of the peak of memory, at the median
}

func summarise(all []*program) (s summary) {
	var slow [builds][]float64
	var overheads, memories []float64
	for _, p := range all {
		for b := range builds {
			slow[b] = append(slow[b], p.slowdown(b)-1)
		}
		overheads = append(overheads, p.overhead())
		memories = append(memories, p.growth(engine)/p.growth(race))
	}
	return summary{
		timing.Median(slow[engine]) / timing.Median(slow[race]), timing.Median(overheads), slices.Max(overheads),
		timing.Median(memories),
	}
}

func (s summary) held() bool {
	return s.overheads <= 0.5 && s.overhead <= 0.5 && s.worst <= 1 && s.memory <= 0.5
}

func document(all []*program, s summary, rounds int) string {
	var b strings.Builder
	b.WriteString(page.Head("What the happens-before engine costs", "hbcost", fmt.Sprintf(`: processor time and
peak memory of the programs of testdata/hbcost over those of the plain build, which are 1, under the engine and
under the race detector. Medians of %d rounds, in each of which every program runs once in each way. The
share is that of the race detector's overhead, which is its time less 1. See [hb.md](hb.md).`, rounds)))
	var rows [][]string
	for _, p := range all {
		rows = append(rows, []string{
			p.about, fmt.Sprintf("%.1f", p.slowdown(engine)), fmt.Sprintf("%.1f", p.slowdown(race)),
			fmt.Sprintf("%.2f", p.overhead()),
			fmt.Sprintf("%.1f", p.growth(engine)), fmt.Sprintf("%.1f", p.growth(race)),
		})
	}
	page.Table(&b, "Cost", []string{"", "time: engine", "`-race`", "share", "memory: engine", "`-race`"}, rows)
	fmt.Fprintf(&b, `
The engine's overhead is %.2f of the race detector's at the median of the programs, and at most %.2f. The median of its
overheads is %.2f of that of the race detector's. Its peak of memory is %.2f of the race detector's at the median.
`, s.overhead, s.worst, s.overheads, s.memory)
	return b.String()
}

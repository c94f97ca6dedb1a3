package hbcost

import (
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/timing"
)

// overhead returns the engine's overhead as a share of the race detector's.
func (m *measured) overhead(program string) float64 {
	return (m.time.Ratio(program, engine, plain) - 1) / (m.time.Ratio(program, race, plain) - 1)
}

// summary has the figures that the bars are about: shares of the race detector's cost.
type summary struct {
	overheads float64 // of the median overheads
	overhead  float64 // of the overhead, at the median
	worst     float64 // the same, at most
	memory    float64 // of the peak of memory, at the median
}

func (m *measured) summarise() summary {
	var engines, races, overheads, memories []float64
	for _, p := range m.programs {
		engines = append(engines, m.time.Ratio(p, engine, plain)-1)
		races = append(races, m.time.Ratio(p, race, plain)-1)
		overheads = append(overheads, m.overhead(p))
		memories = append(memories, m.memory.Ratio(p, engine, race))
	}
	return summary{
		timing.Median(engines) / timing.Median(races), timing.Median(overheads), slices.Max(overheads),
		timing.Median(memories),
	}
}

func (s summary) barsHeld() bool {
	return s.overheads <= 0.5 && s.overhead <= 0.5 && s.worst <= 1 && s.memory <= 0.5
}

func (m *measured) document(s summary, rounds int) string {
	var b strings.Builder
	b.WriteString(page.Head("What the happens-before engine costs", "hbcost", fmt.Sprintf(`: processor time and
peak memory of the programs of testdata/hbcost over those of the plain build, which are 1, under the engine and
under the race detector. Medians of %d rounds, in each of which every program runs once in each way. The
share is that of the race detector's overhead, which is its time less 1. See [hb.md](hb.md).`, rounds)))
	var rows [][]string
	for _, p := range m.programs {
		rows = append(rows, []string{
			m.about[p], fmt.Sprintf("%.1f", m.time.Ratio(p, engine, plain)), fmt.Sprintf("%.1f", m.time.Ratio(p, race, plain)),
			fmt.Sprintf("%.2f", m.overhead(p)), fmt.Sprintf("%.1f", m.memory.Ratio(p, engine, plain)),
			fmt.Sprintf("%.1f", m.memory.Ratio(p, race, plain)),
		})
	}
	page.Table(&b, "Cost", []string{"", "time: engine", "`-race`", "share", "memory: engine", "`-race`"}, rows)
	fmt.Fprintf(&b, `
The engine's overhead is %.2f of the race detector's at the median of the programs, and at most %.2f. The median of its
overheads is %.2f of that of the race detector's. Its peak of memory is %.2f of the race detector's at the median.
`, s.overhead, s.worst, s.overheads, s.memory)
	return b.String()
}

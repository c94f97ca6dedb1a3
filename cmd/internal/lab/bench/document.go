package bench

import (
	"fmt"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// document is all that was measured.
type document struct {
	variants  []*variant
	times     matrix.Figures // overheads; of the plain variant nanoseconds an operation
	memory    matrix.Figures // ratios of peaks; of the plain variant megabytes
	rounds    int
	benchtime string
}

// markdown returns the document.
func (d *document) markdown() string {
	var b strings.Builder
	b.WriteString(page.Head("What the monitor costs", "bench", ". The programs are those of `testdata/bench`.\n"+
		"Each figure is an overhead, time / plain - 1: the median over paired, interleaved rounds, with the least and "+
		"the greatest in brackets."))
	fmt.Fprintf(&b, "- %d rounds, %s a benchmark\n\n", d.rounds, d.benchtime)
	// The columns.
	for _, v := range d.variants {
		fmt.Fprintf(&b, "- **%s**: %s", v.name, v.about)
		if v.skipped != "" {
			fmt.Fprintf(&b, "; not measured: %s", v.skipped)
		}
		b.WriteString("\n")
	}
	// The figures.
	b.WriteString("\n## Time\n\n")
	b.WriteString(d.writeTable(d.times, "plain ns/op", "%.4g"))
	b.WriteString(
		"\n## Memory\n\nThe peak of the resident memory, over that of the plain program (median of three runs, " +
			"the least and the greatest in brackets).\n\n")
	b.WriteString(d.writeTable(d.memory, "plain MB", "%.1f"))
	return b.String()
}

// writeTable has a row a program, a column a variant, and a median of each column.
func (d *document) writeTable(f matrix.Figures, plainTitle, plainFormat string) string {
	var others []string
	for _, v := range d.variants[1:] {
		others = append(others, v.name)
	}
	return f.Table(d.variants[0].name, plainTitle, plainFormat, others)
}

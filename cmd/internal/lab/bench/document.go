package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/timing"
)

// document is all that was measured.
type document struct {
	variants  []*variant
	times     results // overheads; of the plain variant nanoseconds an operation
	memory    results // ratios of peaks; of the plain variant bytes
	pruning   *pruning
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
	b.WriteString(d.table(d.times, "plain ns/op", func(plain float64) string { return fmt.Sprintf("%.4g", plain) }))
	b.WriteString(
		"\n## Memory\n\nThe peak of the resident memory, over that of the plain program (median of three runs, " +
			"the least and the greatest in brackets).\n\n")
	b.WriteString(d.table(d.memory, "plain MB", func(plain float64) string { return fmt.Sprintf("%.1f", plain/1e6) }))
	fmt.Fprintf(&b, `
## What is pruned

Shares of the accesses that the static side leaves out, package by package and with the whole program: of the sites,
and of those that the programs make (counted in a run of %s a benchmark; without those that the rewriter leaves because
the same location is read immediately before).

| | sites | executed | sites, whole program | executed, whole program |
|---|---|---|---|---|
%s
`, d.pruning.benchtime, strings.Join(d.pruning.rows(), "\n"))
	return b.String()
}

// table has a row a program, a column a variant, and a median of each column.
func (d *document) table(r results, plainTitle string, plain func(float64) string) string {
	var b strings.Builder
	names, others := slices.Sorted(maps.Keys(r)), d.variants[1:]
	fmt.Fprintf(&b, "| program | %s |", plainTitle)
	for _, v := range others {
		fmt.Fprintf(&b, " %s |", v.name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(others)) + "\n")
	// The last row is the median over the programs.
	all := map[string][]float64{}
	for _, name := range names {
		fmt.Fprintf(&b, "| %s | %s |", name, plain(timing.Median(r[name][d.variants[0].name])))
		for _, v := range others {
			xs := r[name][v.name]
			if len(xs) == 0 {
				b.WriteString(" - |")
				continue
			}
			all[v.name] = append(all[v.name], timing.Median(xs))
			fmt.Fprintf(&b, " %.2f (%.2f to %.2f) |", timing.Median(xs), slices.Min(xs), slices.Max(xs))
		}
		b.WriteString("\n")
	}
	b.WriteString("| **median** | |")
	for _, v := range others {
		if len(all[v.name]) == 0 {
			b.WriteString(" - |")
			continue
		}
		fmt.Fprintf(&b, " **%.2f** |", timing.Median(all[v.name]))
	}
	b.WriteString("\n")
	return b.String()
}

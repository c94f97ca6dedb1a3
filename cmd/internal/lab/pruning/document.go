package pruning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// proofs are the reasons of analyses; the rewriter has others of its own, which
// depend on these: a monitored access reads the same place a moment before.
var proofs = []plan.Reason{
	plan.Fresh, plan.Stationary, plan.WholeLocal, plan.WholeNotParallel, plan.WholeStationary, plan.Guarded,
}

func document(rows []*row) string {
	var b strings.Builder
	b.WriteString(
		page.Head(
			"What is pruned",
			"pruning",
			": the accesses that `interlock plan` leaves unmonitored, package by package and\n"+
				"with `-whole`, and the static findings of `interlock check` with `-whole` and without. That no cause is lost "+
				"by pruning is a test of\n"+
				"`cmd/internal/lab/pruning`: all that the race detector finds in the programs here and in its own suite stays "+
				"monitored.",
		),
	)
	b.WriteString("- **sites**: static accesses in the packages' own module that their tests can run\n")
	b.WriteString(
		"- **s**, **CPU s**, **MB**: time, CPU time and largest process of `interlock plan`, after an earlier check has " +
			"compiled " +
			"and summed up all that the packages import\n",
	)
	b.WriteString("- **lines**: type-checked for the whole program, standard library and dependencies included\n\n")
	b.WriteString("## Sites, findings, cost\n\n")
	b.WriteString("| module | lines | sites | | monitored | pruned | findings | s | CPU s | MB |\n" +
		"|---|---:|---:|---|---:|---:|---:|---:|---:|---:|\n")
	// Two rows a module: by package, and with the whole program.
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s@%s %s | %d | %d | by package | %s |\n", r.module, r.version, r.packages, r.lines,
			r.modular.stats.Sites, r.modular.formatCells())
		fmt.Fprintf(&b, "| | | | whole program | %s |\n", r.whole.formatCells())
	}
	b.WriteString(
		"\n## Reasons\n\nShares of the sites, package by package and with the whole program. Of what is always guarded, " +
			"which is no proof, a tenth of the\nvariables stays monitored, another tenth with each seed.\n\n| reason |")
	for _, r := range rows {
		fmt.Fprintf(&b, " %s | -whole |", r.module[strings.LastIndex(strings.TrimSuffix(r.module, "/v2"), "/")+1:])
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|---:|", len(rows)) + "\n")
	for _, why := range proofs {
		fmt.Fprintf(&b, "| %s |", why)
		for _, r := range rows {
			fmt.Fprintf(&b, " %.1f %% | %.1f %% |", formatShare(r.modular.stats, why), formatShare(r.whole.stats, why))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (f *figures) formatCells() string {
	return fmt.Sprintf("%d | %.1f %% | %d | %.1f | %.1f | %.0f", f.stats.Monitored,
		formatShare(f.stats, proofs...), f.findings,
		f.used.Wall.Seconds(), f.used.CPU.Seconds(), f.used.Megabytes)
}

// formatShare returns the sites that the reasons skip, in percent of all.
func formatShare(s atomicsets.Stats, reasons ...plan.Reason) float64 {
	n := 0
	for _, skipped := range s.Skipped {
		if slices.Contains(reasons, skipped.Reason) {
			n += skipped.Sites
		}
	}
	return 100 * float64(n) / float64(max(s.Sites, 1))
}

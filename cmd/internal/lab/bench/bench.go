// Package bench measures the cost of the monitor: it runs the programs of
// testdata/bench plain, instrumented and under the race detector, paired and
// interleaved, and prints a document in Markdown. `make bench` keeps its
// figures in figures.json.
//
// Every figure is the median over rounds of the ratio of two runs that were
// made directly after each other; the machine's absolute speed cancels out.
// Overhead = time / plain - 1.
package bench

import (
	"context"
	"flag"
	"os"
	"path/filepath"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// Run runs the tool.
func Run(ctx context.Context, args []string) (held bool, err error) {
	flags := flag.NewFlagSet("lab bench", flag.ExitOnError)
	rounds := flags.Int("rounds", 9, "paired rounds")
	benchtime := flags.String("benchtime", "200ms", "time of one benchmark in one round, as go test takes it")
	pattern := flags.String("bench", ".", "benchmarks to run")
	dir := flags.String("dir", filepath.Join("testdata", "bench"), "module with the programs")
	out := flags.String("o", "", "write the figures to this `file` too, as JSON")
	chart := flags.String("chart", "", "write a chart to this `file`, as SVG")
	schedules := flags.Bool("schedules", false, "measure time under each schedule instead, over that of auto's first run")
	flags.Parse(args)
	tmp, err := os.MkdirTemp("", "interlock-bench-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)

	if *schedules {
		return true, measureSchedules(ctx, *dir, tmp, *pattern, *benchtime, *rounds, *out)
	}
	// Build the programs each way, and measure time and memory.
	variants, pr, done, err := buildVariants(ctx, *dir, tmp)
	if err != nil {
		return false, err
	}
	defer done()
	d := &document{variants: variants, pruning: pr, rounds: *rounds, benchtime: *benchtime}
	if d.times, err = measure(ctx, variants, *pattern, *benchtime, *rounds); err != nil {
		return false, err
	}
	if d.memory, err = measureMemory(ctx, variants, d.times); err != nil {
		return false, err
	}

	// Write the figures, and the chart.
	if *chart != "" {
		if err := os.WriteFile(*chart, []byte(d.chart()), 0o644); err != nil {
			return false, err
		}
	}
	return true, page.Write(*out, d.markdown())
}

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
	"path/filepath"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
)

// options are the flags of the tool.
type options struct {
	rounds             int
	benchtime, pattern string
	dir                string
}

// Run runs the tool.
func Run(ctx context.Context, args []string) (held bool, err error) {
	t := matrix.New("bench")
	var o options
	t.Flags.IntVar(&o.rounds, "rounds", 9, "paired rounds")
	t.Flags.StringVar(&o.benchtime, "benchtime", "200ms", "time of one benchmark in one round, as go test takes it")
	t.Flags.StringVar(&o.pattern, "bench", ".", "benchmarks to run")
	t.Flags.StringVar(&o.dir, "dir", filepath.Join("testdata", "bench"), "module with the programs")
	return t.Run(args, func(tmp string) (markdown string, held bool, err error) {
		markdown, err = measureMonitor(ctx, t, tmp, o)
		return markdown, true, err
	})
}

// measureMonitor builds the programs each way, and measures time and memory.
func measureMonitor(ctx context.Context, t *matrix.Tool, tmp string, o options) (string, error) {
	variants, done, err := buildVariants(ctx, o.dir, tmp)
	if err != nil {
		return "", err
	}
	defer done()
	d := &document{variants: variants, rounds: o.rounds, benchtime: o.benchtime}
	if d.times, err = measure(ctx, t, variants, o); err != nil {
		return "", err
	}
	if d.memory, err = measureMemory(ctx, t, variants, d.times); err != nil {
		return "", err
	}
	return d.markdown(), nil
}

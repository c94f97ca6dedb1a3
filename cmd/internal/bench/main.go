// Command bench measures what the monitor costs: it runs the programs of
// testdata/bench plain, instrumented and under the race detector, paired and
// interleaved, and prints a document in Markdown. `make bench` keeps it in
// docs/benchmarks.md, with a chart.
//
// Every figure is the median over rounds of the ratio of two runs that were
// made directly after each other; the machine's absolute speed cancels out.
// Overhead = time / plain - 1.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	rounds := flag.Int("rounds", 9, "paired rounds")
	benchtime := flag.String("benchtime", "200ms", "time of one benchmark in one round, as go test takes it")
	pattern := flag.String("bench", ".", "benchmarks to run")
	dir := flag.String("dir", filepath.Join("testdata", "bench"), "module with the programs")
	out := flag.String("o", "", "write the document to this file, and the chart beside it, instead of the document alone to standard output")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *dir, *pattern, *benchtime, *rounds, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir, pattern, benchtime string, rounds int, out string) error {
	tmp, err := os.MkdirTemp("", "interlock-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	variants, pr, done, err := buildVariants(ctx, dir, tmp)
	if err != nil {
		return err
	}
	defer done()
	d := &document{variants: variants, pruning: pr, rounds: rounds, benchtime: benchtime}
	if d.times, err = measure(ctx, variants, pattern, benchtime, rounds); err != nil {
		return err
	}
	if d.memory, err = measureMemory(ctx, variants, d.times); err != nil {
		return err
	}
	if out == "" {
		_, err = os.Stdout.WriteString(d.markdown(""))
		return err
	}
	chart := strings.TrimSuffix(out, filepath.Ext(out)) + ".svg"
	if err := os.WriteFile(chart, []byte(d.chart()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(out, []byte(d.markdown(filepath.Base(chart))), 0o644)
}

package main

import (
	"github.com/interlock-go/interlock/cmd/internal/machine"

	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// results holds, for each benchmark and variant name, the overhead in each
// round, and the plain nanoseconds an operation under the plain variant's name.
type results map[string]map[string][]float64

// measure runs all variants in turn, round by round; each is paired with the
// plain run of its own round.
func measure(ctx context.Context, variants []*variant, pattern, benchtime string, rounds int) (results, error) {
	all := results{}
	for round := range rounds {
		fmt.Fprintf(os.Stderr, "bench: round %d of %d\n", round+1, rounds)
		plain, err := variants[0].runOnce(ctx, pattern, benchtime)
		if err != nil {
			return nil, err
		}
		for name, ns := range plain {
			all.add(name, variants[0].name, ns)
		}
		for _, v := range variants[1:] {
			if v.skipped != "" {
				continue
			}
			got, err := v.runOnce(ctx, pattern, benchtime)
			if err != nil {
				return nil, err
			}
			for name, ns := range got {
				all.add(name, v.name, ns/plain[name]-1)
			}
		}
	}
	return all, nil
}

func (r results) add(benchmark, variant string, x float64) {
	if r[benchmark] == nil {
		r[benchmark] = map[string][]float64{}
	}
	r[benchmark][variant] = append(r[benchmark][variant], x)
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	n := len(xs)
	if n == 0 {
		return 0
	}
	return (xs[(n-1)/2] + xs[n/2]) / 2
}

// table writes the document.
func table(variants []*variant, r results, rounds int, benchtime string) string {
	var b strings.Builder
	b.WriteString("# What the monitor costs\n\n")
	b.WriteString("Made by `make bench`, which overwrites this file. The programs are those of `testdata/bench`.\n")
	b.WriteString("Each figure is an overhead, time / plain - 1: the median over paired, interleaved rounds, with the least and the greatest in brackets.\n\n")
	fmt.Fprintf(&b, "- %s\n- %d rounds, %s a benchmark\n- %s\n\n", machine.Describe(), rounds, benchtime, time.Now().UTC().Format("2006-01-02"))
	for _, v := range variants {
		fmt.Fprintf(&b, "- **%s**: %s", v.name, v.about)
		if v.skipped != "" {
			fmt.Fprintf(&b, "; not measured: %s", v.skipped)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| program | plain ns/op |")
	for _, v := range variants[1:] {
		fmt.Fprintf(&b, " %s |", v.name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(variants)-1) + "\n")
	all := map[string][]float64{}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		fmt.Fprintf(&b, "| %s | %.4g |", name, median(r[name][variants[0].name]))
		for _, v := range variants[1:] {
			xs := r[name][v.name]
			if len(xs) == 0 {
				b.WriteString(" - |")
				continue
			}
			all[v.name] = append(all[v.name], median(xs))
			fmt.Fprintf(&b, " %.2f (%.2f to %.2f) |", median(xs), slices.Min(xs), slices.Max(xs))
		}
		b.WriteString("\n")
	}
	b.WriteString("| **median** | |")
	for _, v := range variants[1:] {
		if len(all[v.name]) == 0 {
			b.WriteString(" - |")
			continue
		}
		fmt.Fprintf(&b, " **%.2f** |", median(all[v.name]))
	}
	b.WriteString("\n")
	return b.String()
}

// Package timing reads and summarises the times of benchmarks.
package timing

import (
	"slices"
	"strconv"
	"strings"
)

// Median returns the median of xs, 0 where there are none.
func Median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	n := len(xs)
	if n == 0 {
		return 0
	}
	return (xs[(n-1)/2] + xs[n/2]) / 2
}

// Benchmarks returns the nanoseconds an operation that benchmarks have printed, by
// their names as they are printed.
func Benchmarks(out string) map[string]float64 {
	all := map[string]float64{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") || f[3] != "ns/op" {
			continue
		}
		if ns, err := strconv.ParseFloat(f[2], 64); err == nil {
			all[f[0]] = ns
		}
	}
	return all
}

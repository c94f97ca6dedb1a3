package bench

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/timing"
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

// measureMemory returns the peak of the resident memory of each program under
// each variant, over that of the plain one (that one in bytes). Each runs
// alone, for as many iterations as take plainly a third of a second, so that all
// do the same work.
func measureMemory(ctx context.Context, variants []*variant, times results) (results, error) {
	const rounds, plainNS = 3, 3e8
	all := results{}
	for i, name := range slices.Sorted(maps.Keys(times)) {
		fmt.Fprintf(os.Stderr, "bench: memory, program %d of %d\n", i+1, len(times))
		n := strconv.Itoa(int(plainNS/timing.Median(times[name][variants[0].name]))+1) + "x"
		for range rounds {
			var plain float64
			for i, v := range variants {
				if v.skipped != "" {
					continue
				}
				peak, err := v.peak(ctx, "^Benchmark"+name+"$", n)
				switch {
				case err != nil:
					return nil, err
				case i == 0:
					plain = peak
					all.add(name, v.name, peak)
				default:
					all.add(name, v.name, peak/plain)
				}
			}
		}
	}
	return all, nil
}

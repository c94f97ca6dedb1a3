package bench

import (
	"context"
	"strconv"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
)

// measure runs all variants in turn, round by round, and returns the overhead of each in each round, paired with the
// plain run of its own round, and the plain nanoseconds an operation under the name of the plain variant.
func measure(ctx context.Context, t *matrix.Tool, variants []*variant, o options) (matrix.Figures, error) {
	all := matrix.Figures{}
	var plain map[string]float64
	return all, matrix.Rounds(ctx, t, o.rounds, variants, func(_ int, v *variant) error {
		if v.skipped != "" {
			return nil
		}
		got, err := v.runOnce(ctx, o.pattern, o.benchtime)
		if v == variants[0] {
			plain = got
		}
		for name, ns := range got {
			if v == variants[0] {
				all.Add(name, v.name, ns)
			} else {
				all.Add(name, v.name, ns/plain[name]-1)
			}
		}
		return err
	})
}

// measureMemory returns the peak of the resident memory of each program under
// each variant, over that of the plain one (that one in megabytes). Each runs
// alone, for as many iterations as take plainly a third of a second, so that all
// do the same work.
func measureMemory(ctx context.Context, t *matrix.Tool, variants []*variant, times matrix.Figures,
) (matrix.Figures, error) {
	const rounds, plainNS = 3, 3e8
	all := matrix.Figures{}
	for i, name := range times.Cases() {
		t.Say("memory, program %d of %d", i+1, len(times))
		n := strconv.Itoa(int(plainNS/times.Median(name, variants[0].name))+1) + "x"
		for range rounds {
			var plain float64
			for i, v := range variants {
				if v.skipped != "" {
					continue
				}
				peak, err := v.peakMemory(ctx, "^Benchmark"+name+"$", n)
				switch {
				case err != nil:
					return nil, err
				case i == 0:
					plain = peak
					all.Add(name, v.name, peak)
				default:
					all.Add(name, v.name, peak/plain)
				}
			}
		}
	}
	return all, nil
}

package patches

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/timing"
)

// result has the figures of a patch.
type result struct {
	name string
	// drives are how many of the driver's runs failed, before and after the patch.
	drives [2]int
	// fails are the tests that fail with the patch, and never without; failsAnyway those that do so without it too.
	fails, failsAnyway []string
	// runs are the monitored ones made of those asked for.
	runs, asked int
	// reported are findings that those show, and as many runs of the original do not; reportedAnyway those of both.
	reported, reportedAnyway []string
	benchmarks               []benchmark
	// unfinished reports that the benchmarks took longer than they may.
	unfinished bool
}

// benchmark is one of a package that the patch changes.
type benchmark struct {
	name   string
	ns     [2]float64 // median time of an operation, before and after
	ratios []float64  // after over before, of each round
}

func (b *benchmark) slowdown() float64 { return timing.Median(b.ratios) }

// most is the slow-down that the median of the benchmarks may show.
const most = 1.05

// slowdown returns the median over all benchmarks.
func (r *result) slowdown() float64 {
	var all []float64
	for _, b := range r.benchmarks {
		all = append(all, b.slowdown())
	}
	return timing.Median(all)
}

// isNoWorse reports whether the patch does no worse than the original, and all was measured.
func (r *result) isNoWorse() bool {
	return r.drives[after] == 0 && len(r.fails) == 0 && len(r.reported) == 0 && r.runs == r.asked && !r.unfinished &&
		r.slowdown() <= most
}

// markdown is the line of the bug in a table, with a line for each benchmark below.
func (r *result) markdown() string {
	var b strings.Builder
	bench := "none"
	if len(r.benchmarks) > 0 {
		bench = fmt.Sprintf("%.3f of %d", r.slowdown(), len(r.benchmarks))
	}
	if r.unfinished {
		bench += ", not finished"
	}
	fmt.Fprintf(&b, "| %s | %d of %d | %d of %d | %s | %d of %d | %s | %s |\n", r.name,
		driverRuns-r.drives[before], driverRuns, driverRuns-r.drives[after], driverRuns,
		outcome(r.fails, r.failsAnyway), r.runs, r.asked, outcome(r.reported, r.reportedAnyway), bench)
	for _, m := range r.benchmarks {
		fmt.Fprintf(&b, "- %s: %.4g to %.4g ns, %.3f (%.2f to %.2f)\n", m.name, m.ns[before], m.ns[after], m.slowdown(),
			slices.Min(m.ratios), slices.Max(m.ratios))
	}
	return b.String()
}

// outcome returns the text on findings that are new with the patch, and on those of the original too.
func outcome(fresh, anyway []string) string {
	text := "nothing new"
	if len(fresh) > 0 {
		text = "**" + strings.Join(fresh, ", ") + "**"
	}
	if len(anyway) > 0 {
		text += "; as before: " + strings.Join(anyway, ", ")
	}
	return text
}

// benchtime is that of a benchmark in a round.
const benchtime = "30ms"

// runBenchmark runs the benchmarks of the packages in both copies, in turns, which begin with either copy by turns too.
func (l *lab) runBenchmark(ctx context.Context, r *result) error {
	limited, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	for i, pkg := range l.packages {
		var binaries [2]string
		for _, s := range []side{before, after} {
			binaries[s] = filepath.Join(l.tmp, fmt.Sprintf("bench%d-%d.test", i, s))
			if _, err := command.Go(ctx, l.folderOf(s), l.env, "test", "-vet=off", "-c", "-o", binaries[s], pkg); err != nil {
				return err
			}
		}
		if _, err := os.Stat(binaries[after]); err != nil {
			continue // the package has no tests
		}
		var times [2]map[string][]float64
		for s := range times {
			times[s] = map[string][]float64{}
		}
		for round := range l.rounds {
			for turn := range binaries {
				s := side((round + turn) % len(binaries))
				out, err := l.output(limited, filepath.Join(l.folderOf(s), filepath.FromSlash(pkg)), binaries[s],
					"-test.run=^$", "-test.bench=.", "-test.benchtime="+benchtime)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				r.unfinished = r.unfinished || err != nil
				for name, ns := range timing.Benchmarks(out) {
					times[s][name] = append(times[s][name], ns)
				}
			}
		}
		r.addPairs(pkg, times)
	}
	return nil
}

// addPairs adds the benchmarks of a package that ran in both copies, round by round.
func (r *result) addPairs(pkg string, times [2]map[string][]float64) {
	for _, name := range slices.Sorted(maps.Keys(times[after])) {
		old, now := times[before][name], times[after][name]
		rounds := min(len(old), len(now))
		if rounds == 0 {
			continue
		}
		b := benchmark{name: path.Join(pkg, name), ns: [2]float64{timing.Median(old), timing.Median(now)}}
		for i := range rounds {
			b.ratios = append(b.ratios, now[i]/old[i])
		}
		r.benchmarks = append(r.benchmarks, b)
	}
}

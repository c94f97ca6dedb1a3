// Package sampling measures the cost of the happens-before engine, and which share of races it finds, where it records
// a part of the accesses: at rates, and by each rule of -sample. `make sampling` keeps the figures in figures.json, and
// a chart in docs. With -counts it counts the accesses that the rules leave out; these figures are in counts.json.
//
// A clean function that is reported makes the command fail.
package sampling

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/exact"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/timing"
	"github.com/interlock-go/interlock/dynamic/hb"
)

// detector is one way to leave accesses out, at all of the rates.
type detector struct {
	name string
	hb.Sampling
}

// detectors are those of Li's thesis (2012), Figure 3.5, and bursts beside them.
var detectors = []detector{
	{name: "Pacer"},
	{name: "SOS", Sampling: hb.Sampling{Stationary: true}},
	{name: "LIS", Sampling: hb.Sampling{Loops: true}},
	{name: "SOS and LIS", Sampling: hb.Sampling{Stationary: true, Loops: true}},
	{name: "bursts", Sampling: hb.Sampling{Bursts: true}},
}

// rates are in percent of the accesses that a detector's rule leaves.
var rates = []int{100, 30, 10, 3, 1}

// variant is a detector at a rate, with its figures.
type variant struct {
	hb.Sampling
	measured
}

// measured has the figures of a variant.
type measured struct {
	Times, Plain map[string][]float64 // by program, in nanoseconds, of each round
	Found        []float64            // share of the racy functions that were reported, of each run
	Wrong        []string             // clean functions that were reported
}

// addTime adds the time of a program in a round, and its plain time.
func (m *measured) addTime(program string, ns, plain float64) {
	if m.Times == nil {
		m.Times, m.Plain = map[string][]float64{}, map[string][]float64{}
	}
	m.Times[program] = append(m.Times[program], ns)
	m.Plain[program] = append(m.Plain[program], plain)
}

// results has the variants of all portions of the measurement, by detector and by rate.
type results [][]*variant

func newResults() results {
	all := make(results, len(detectors))
	for d := range detectors {
		for _, rate := range rates {
			v := &variant{Sampling: detectors[d].Sampling}
			if rate < 100 {
				v.Rate = float64(rate)
			}
			all[d] = append(all[d], v)
		}
	}
	return all
}

// readResults returns the results of earlier portions from a file, or none where there is no such file.
func readResults(file string) (results, error) {
	all := newResults()
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	var saved [][]measured
	if err == nil {
		err = json.Unmarshal(text, &saved)
	}
	if err == nil && len(saved) != len(all) {
		err = errors.New("it is of other detectors than these")
	}
	if err != nil {
		return nil, fmt.Errorf("reading what earlier portions have measured, delete %s to begin anew: %w", file, err)
	}
	for d := range all {
		for k := range all[d] {
			all[d][k].measured = saved[d][k]
		}
	}
	return all, nil
}

// writeResults leaves the results in a file, for the portions to come.
func (all results) writeResults(file string) error {
	saved := make([][]measured, len(all))
	for d := range all {
		for _, v := range all[d] {
			saved[d] = append(saved[d], v.measured)
		}
	}
	text, err := json.Marshal(saved)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// variants returns all variants.
func (all results) variants() []*variant { return slices.Concat(all...) }

// Run runs the tool. It reports whether no clean function was reported.
func Run(ctx context.Context, args []string) (held bool, err error) {
	flags := flag.NewFlagSet("lab sampling", flag.ExitOnError)
	rounds := flags.Int("rounds", 10, "paired rounds of the programs")
	runs := flags.Int("runs", 50, "runs of the functions with and without races")
	benchtime := flags.String("benchtime", "20ms", "time of one program in one round, as go test takes it")
	out := flags.String("o", "", "write the figures to this `file` too, as JSON")
	counted := flags.Bool("counts", false, "count which accesses SOS and LIS leave out, and measure nothing else")
	chart := flags.String("chart", "", "write a chart to this `file`, as SVG")
	state := flags.String("state", "", "add the runs to those that this `file` holds, and keep all of them there,\n"+
		"so that a long measurement is made in portions; a portion that lacks rounds or runs makes no document")
	flags.Parse(args)
	tmp, err := os.MkdirTemp("", "interlock-sampling-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	if *counted {
		return true, runCounts(ctx, tmp, *benchtime, *out)
	}
	if *state == "" {
		*state = filepath.Join(tmp, "results.json")
	}
	all, err := readResults(*state)
	if err != nil {
		return false, err
	}

	// Build both corpora, and measure each variant of each.
	if *rounds > 0 {
		programs, err := buildBinary(ctx, filepath.Join("testdata", "bench"), filepath.Join(tmp, "bench"))
		if err != nil {
			return false, err
		}
		if err := programs.measureCost(ctx, all.variants(), *rounds, *benchtime); err != nil {
			return false, err
		}
	}
	if *runs > 0 {
		functions, err := buildBinary(ctx, filepath.Join("dynamic", "hb", "testdata", "races"), filepath.Join(tmp, "races"))
		if err != nil {
			return false, err
		}
		if err := functions.measureRaces(ctx, all.variants(), *runs); err != nil {
			return false, err
		}
	}
	if err := all.writeResults(*state); err != nil {
		return false, err
	}

	// Write the figures, and the chart.
	held = !slices.ContainsFunc(all.variants(), func(v *variant) bool { return len(v.Wrong) > 0 })
	if first := all[0][0]; len(first.Times) == 0 || len(first.Found) == 0 {
		return held, nil
	}
	if *chart != "" {
		if err := os.WriteFile(*chart, []byte(drawCharts(all)), 0o644); err != nil {
			return false, err
		}
	}
	return held, page.Write(*out, document(all, *benchtime))
}

// corpus is the test binary of a package, plain, under the engine, and so with its loops counted.
type corpus struct{ dir, plain, exact, counted string }

func buildBinary(ctx context.Context, dir, tmp string) (c corpus, err error) {
	if c.dir, err = filepath.Abs(dir); err != nil {
		return c, err
	}
	fmt.Fprintf(os.Stderr, "sampling: building %s, and the standard library under the engine\n", dir)
	test := func(name string, flags ...string) (string, error) {
		binary := filepath.Join(tmp, name)
		_, err := command.Go(ctx, c.dir, []string{"CGO_ENABLED=0"},
			slices.Concat([]string{"test", "-c", "-vet=off", "-o", binary}, flags, []string{"."})...)
		return binary, err
	}
	if err := os.MkdirAll(filepath.Join(tmp, "counted"), 0o755); err != nil {
		return c, err
	}
	if c.plain, err = test("plain.test"); err != nil {
		return c, err
	}
	// The overlay of the second build is another than that of the first.
	flags, err := exact.Flags(ctx, tmp, nil)
	if err != nil {
		return c, err
	}
	if c.exact, err = test("exact.test", flags...); err != nil {
		return c, err
	}
	counted, err := exact.CountLoops(c.dir, filepath.Join(tmp, "counted"))
	if err != nil {
		return c, err
	}
	if flags, err = exact.Flags(ctx, tmp, counted); err != nil {
		return c, err
	}
	c.counted, err = test("counted.test", flags...)
	return c, err
}

// runBinary runs a binary and returns its output. That tests fail is no error.
func (c corpus) runBinary(ctx context.Context, binary string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = c.dir, append(append(os.Environ(), "INTERLOCK_OUT="), env...)
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() != 3 {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("running %s: %w\n%.2000s", filepath.Base(binary), err, out)
	}
	return string(out), err
}

// sampled runs the binary that a variant needs, in the run with a number from 1.
func (c corpus) sampled(ctx context.Context, v *variant, run int, args ...string) (string, error) {
	binary := c.exact
	if v.Loops {
		binary = c.counted
	}
	env := append(v.Env(), "INTERLOCK_HB=repeats", fmt.Sprintf("INTERLOCK_SEED=%d", run))
	return c.runBinary(ctx, binary, env, args...)
}

// measureCost runs the programs of c plain and in each variant, round by round.
func (c corpus) measureCost(ctx context.Context, all []*variant, rounds int, benchtime string) error {
	args := []string{"-test.run=^$", "-test.bench=.", "-test.benchtime=" + benchtime}
	for round := 1; round <= rounds; round++ {
		fmt.Fprintf(os.Stderr, "sampling: round %d of %d\n", round, rounds)
		out, err := c.runBinary(ctx, c.plain, nil, args...)
		if err != nil {
			return err
		}
		plain := timing.Benchmarks(out)
		for _, v := range all {
			if out, err = c.sampled(ctx, v, round, args...); err != nil {
				return err
			}
			for name, ns := range timing.Benchmarks(out) {
				v.addTime(name, ns, plain[name])
			}
		}
	}
	return nil
}

// measureRaces runs the functions of c in each variant. They mostly wait, so that all variants run at the same time.
func (c corpus) measureRaces(ctx context.Context, all []*variant, runs int) error {
	for run := 1; run <= runs; run++ {
		fmt.Fprintf(os.Stderr, "sampling: run %d of %d\n", run, runs)
		errs := make([]error, len(all))
		command.Parallel(len(all), len(all), func(i int) {
			v := all[i]
			out, err := c.sampled(ctx, v, len(v.Found)+1, "-test.v")
			if errs[i] = err; err != nil {
				return
			}
			share, wrong := rateVerdicts(out)
			v.Found = append(v.Found, share)
			v.Wrong = append(v.Wrong, wrong...)
		})
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// rateVerdicts returns the share of the racy functions, named TestRace…, that is reported, and the clean ones
// that are.
func rateVerdicts(out string) (share float64, wrong []string) {
	racy, reported := 0.0, 0.0
	for _, part := range strings.Split(out, "=== RUN   ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		is := strings.Contains(text, "WARNING: DATA RACE\n")
		switch {
		case strings.HasPrefix(name, "TestRace"):
			if racy++; is {
				reported++
			}
		case is:
			wrong = append(wrong, name)
		}
	}
	return reported / max(racy, 1), wrong
}

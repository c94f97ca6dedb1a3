// Package sampling measures what the happens-before engine costs, and which share of races it finds, where it records
// a part of the accesses: at rates, and by each rule of -sample. `make sampling` keeps the table in docs/sampling.md,
// with a chart.
//
// A clean function that is reported makes the command fail.
package sampling

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/exact"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/dynamic/hb"
)

// variant is one way to sample, and what was measured of it.
type variant struct {
	name string
	hb.Sampling
	overheads []float64 // time over plain, less one, of each program and round
	found     []float64 // share of the racy functions that were reported, of each run
	wrong     []string  // clean functions that were reported
}

func variants() []*variant {
	return []*variant{
		{name: "all accesses"},
		{name: "30 %", Sampling: hb.Sampling{Rate: 30}},
		{name: "10 %", Sampling: hb.Sampling{Rate: 10}},
		{name: "3 %", Sampling: hb.Sampling{Rate: 3}},
		{name: "1 %", Sampling: hb.Sampling{Rate: 1}},
		{name: "SOS", Sampling: hb.Sampling{Stationary: true}},
		{name: "LIS", Sampling: hb.Sampling{Loops: true}},
		{name: "SOS and LIS", Sampling: hb.Sampling{Stationary: true, Loops: true}},
		{name: "bursts", Sampling: hb.Sampling{Bursts: true}},
	}
}

// Run runs the tool. It reports whether no clean function was reported.
func Run(ctx context.Context, args []string) (held bool, err error) {
	flags := flag.NewFlagSet("lab sampling", flag.ExitOnError)
	rounds := flags.Int("rounds", 10, "paired rounds of the programs")
	runs := flags.Int("runs", 50, "runs of the functions with and without races")
	benchtime := flags.String("benchtime", "50ms", "time of one program in one round, as go test takes it")
	out := flags.String("o", "", "write the document to this `file`, and the chart beside it,\n"+
		"instead of the document alone to standard output")
	flags.Parse(args)
	tmp, err := os.MkdirTemp("", "interlock-sampling-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)

	// Build both corpora, and measure each variant of each.
	programs, err := build(ctx, filepath.Join("testdata", "bench"), filepath.Join(tmp, "bench"))
	if err != nil {
		return false, err
	}
	functions, err := build(ctx, filepath.Join("dynamic", "hb", "testdata", "races"), filepath.Join(tmp, "races"))
	if err != nil {
		return false, err
	}
	all := variants()
	if err := programs.measureCost(ctx, all, *rounds, *benchtime); err != nil {
		return false, err
	}
	if err := functions.measureRaces(ctx, all, *runs); err != nil {
		return false, err
	}

	// Write the document, and the chart beside it.
	if *out != "" {
		chart := strings.TrimSuffix(*out, filepath.Ext(*out)) + ".svg"
		if err := os.WriteFile(chart, []byte(drawChart(all)), 0o644); err != nil {
			return false, err
		}
	}
	held = !slices.ContainsFunc(all, func(v *variant) bool { return len(v.wrong) > 0 })
	return held, page.Write(*out, document(all, *rounds, *runs, *benchtime))
}

// corpus is the test binary of a package, plain, under the engine, and so with its loops counted.
type corpus struct{ dir, plain, exact, counted string }

func build(ctx context.Context, dir, tmp string) (c corpus, err error) {
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

// run runs a binary and returns what it prints. That tests fail is no error.
func (c corpus) run(ctx context.Context, binary string, env []string, args ...string) (string, error) {
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
	return c.run(ctx, binary, env, args...)
}

// measureCost runs the programs of c plain and in each variant, round by round.
func (c corpus) measureCost(ctx context.Context, all []*variant, rounds int, benchtime string) error {
	args := []string{"-test.run=^$", "-test.bench=.", "-test.benchtime=" + benchtime}
	for round := 1; round <= rounds; round++ {
		fmt.Fprintf(os.Stderr, "sampling: round %d of %d\n", round, rounds)
		out, err := c.run(ctx, c.plain, nil, args...)
		if err != nil {
			return err
		}
		plain := times(out)
		for _, v := range all {
			if out, err = c.sampled(ctx, v, round, args...); err != nil {
				return err
			}
			for name, ns := range times(out) {
				v.overheads = append(v.overheads, ns/plain[name]-1)
			}
		}
	}
	return nil
}

// times returns the nanoseconds an operation that benchmarks have printed.
func times(out string) map[string]float64 {
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

// measureRaces runs the functions of c in each variant. They mostly wait, so that all variants run at the same time.
func (c corpus) measureRaces(ctx context.Context, all []*variant, runs int) error {
	for run := 1; run <= runs; run++ {
		fmt.Fprintf(os.Stderr, "sampling: run %d of %d\n", run, runs)
		errs := make([]error, len(all))
		command.Parallel(len(all), len(all), func(i int) {
			v := all[i]
			out, err := c.sampled(ctx, v, run, "-test.v")
			if errs[i] = err; err != nil {
				return
			}
			share, wrong := judge(out)
			v.found = append(v.found, share) //interlock:ignore IL2001 each call has a variant of its own
			v.wrong = append(v.wrong, wrong...)
		})
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// judge returns which share of the racy functions, whose names begin with TestRace, is reported, and the clean ones
// that are.
func judge(out string) (share float64, wrong []string) {
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

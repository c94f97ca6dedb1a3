// Package racesuite runs the race detector's own suite, the TestRace and
// TestNoRace functions of runtime/race/testdata in the Go distribution, under
// the watch engine: how many of the racy functions it confirms in up to so
// many runs, and that it confirms none of the clean ones. `make racesuite`
// keeps the figures in watch.json, and `make hbsuite` those of the
// happens-before engine in hb.json.
//
// The suite is copied to a temporary module, built once with every site
// monitored, and each function runs alone in processes of its own. A confirmed
// race in a clean function breaks the first promise of the project, and makes
// the command fail.
package racesuite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/testbin"
	"github.com/interlock-go/interlock/dynamic/hb"
)

type options struct {
	engine   string
	runs     int
	match    string
	parallel int
	strength int
	sampling hb.Sampling
	subsets  int
	first    uint64 // seed of the first subset
}

// Run runs the tool. It reports whether no race was confirmed in a clean function.
func Run(ctx context.Context, args []string) (held bool, err error) {
	t := matrix.New("racesuite")
	var o options
	t.Flags.StringVar(&o.engine, "engine", "watch", "`watch`, or hb for the happens-before engine with -race beside it")
	t.Flags.IntVar(&o.runs, "runs", 20, "runs of each function, each with another seed; a racy one stops at its first hit")
	t.Flags.StringVar(&o.match, "match", "", "take functions whose name contains this `text` only")
	t.Flags.IntVar(&o.parallel, "parallel", 1, "functions at the same time")
	t.Flags.IntVar(&o.strength, "strength", 1000, "strength of the noise in `microseconds`; with 0 campaigns choose it,\n"+
		"faint noise for tests that sleep")
	rate := t.Flags.String("rate", "100", "percent of the accesses that engine hb records")
	sample := t.Flags.String("sample", "", "`rules` by which engine hb leaves accesses out: sos, burst, or sos,burst")
	t.Flags.IntVar(&o.subsets, "subsets", 0, "with -engine=hb: run so many random `subsets` as users run tests, on one "+
		"processor and on two")
	t.Flags.Uint64Var(&o.first, "first", 1, "with -subsets: the `seed` of the first one")
	return t.Run(args, func(tmp string) (string, bool, error) {
		if o.sampling, err = hb.ParseSampling(*rate, *sample); err != nil {
			return "", false, fmt.Errorf("-rate and -sample: %w", err)
		}
		switch {
		case o.engine != "hb" && (o.sampling != (hb.Sampling{}) || o.subsets > 0):
			return "", false, errors.New("-rate, -sample and -subsets are for -engine=hb")
		case o.sampling.Loops:
			return "", false, errors.New("-sample=lis: the loops of the suite are not counted; want sos or burst")
		}

		// Copy the suite from the Go distribution.
		testdata, err := suiteFolder(ctx)
		if err != nil {
			return "", false, err
		}
		files, err := copySuite(testdata, filepath.Join(tmp, "racesuite"))
		if err != nil {
			return "", false, err
		}
		switch {
		case o.subsets > 0:
			return runAsUsers(ctx, testdata, tmp, files, o)
		case o.engine == "hb":
			return runExact(ctx, testdata, tmp, files, o)
		}
		return runWatch(ctx, files, o)
	})
}

// runWatch builds the suite once, and runs its functions one by one.
func runWatch(ctx context.Context, files *files, o options) (text string, held bool, err error) {
	fmt.Fprintln(os.Stderr, "racesuite: building the suite")
	s, err := testbin.BuildMonitored(ctx, files.dir)
	if err != nil {
		return "", false, err
	}
	defer s.Close()
	silenced, err := s.Quiet(ctx, o.runs)
	if err != nil {
		return "", false, err
	}
	outcomes, err := runAll(ctx, s, matching(files.functions, o.match), o)
	if err != nil {
		return "", false, err
	}
	text, falseAlarms := report(outcomes, files.leftOut, silenced, o)
	return text, falseAlarms == 0, nil
}

// suiteFolder returns where the Go distribution has the suite.
func suiteFolder(ctx context.Context) (string, error) {
	goroot, err := command.GoEnv(ctx, "GOROOT")
	if err != nil {
		return "", fmt.Errorf("finding the Go distribution: %w", err)
	}
	return filepath.Join(goroot, "src", "runtime", "race", "testdata"), nil
}

// matching returns the functions with match in their name.
func matching(functions []function, match string) []function {
	return slices.DeleteFunc(functions, func(f function) bool { return !strings.Contains(f.name, match) })
}

// Command racesuite runs the race detector's own suite, the TestRace and
// TestNoRace functions of runtime/race/testdata in the Go distribution, under
// the watch engine: how many of the racy functions it confirms in up to so
// many runs, and that it confirms none of the clean ones. `make racesuite`
// keeps the result in docs/racesuite.md.
//
// The suite is copied to a temporary module, built once with every site
// monitored, and each function runs alone in processes of its own. A confirmed
// race in a clean function breaks the first promise of the project, and makes
// the command fail.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/suite"
)

type options struct {
	runs     int
	match    string
	parallel int
	strength int
	out      string
}

func main() {
	var o options
	flag.IntVar(&o.runs, "runs", 20, "runs of each function, each with another seed; a racy one stops at its first hit")
	flag.StringVar(&o.match, "match", "", "take functions whose name contains this `text` only")
	flag.IntVar(&o.parallel, "parallel", 1, "functions at the same time")
	flag.IntVar(&o.strength, "strength", 1000, "strength of the noise in `microseconds`; 0 has campaigns choose it, faint noise for tests that sleep")
	flag.StringVar(&o.out, "o", "", "write the report to this `file` instead of standard output")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	falseAlarms, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "racesuite:", err)
		os.Exit(3)
	}
	if falseAlarms > 0 {
		os.Exit(1)
	}
}

// run returns how many clean functions a race was confirmed in.
func run(ctx context.Context, o options) (falseAlarms int, err error) {
	testdata, err := suiteFolder(ctx)
	if err != nil {
		return 0, err
	}
	tmp, err := os.MkdirTemp("", "interlock-racesuite-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	files, err := copySuite(testdata, filepath.Join(tmp, "racesuite"))
	if err != nil {
		return 0, err
	}
	fmt.Fprintln(os.Stderr, "racesuite: building the suite")
	s, err := suite.Build(ctx, files.dir)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	silenced, err := s.Quiet(ctx, o.runs)
	if err != nil {
		return 0, err
	}
	outcomes, err := runAll(ctx, s, matching(files.functions, o.match), o)
	if err != nil {
		return 0, err
	}
	text, falseAlarms := report(outcomes, files.leftOut, silenced, o)
	if o.out == "" {
		_, err = os.Stdout.WriteString(text)
	} else {
		err = os.WriteFile(o.out, []byte(text), 0o644)
	}
	return falseAlarms, err
}

// suiteFolder is where the Go distribution has the suite.
func suiteFolder(ctx context.Context) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("finding the Go distribution: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(root)), "src", "runtime", "race", "testdata"), nil
}

// matching returns the functions whose name contains match.
func matching(functions []function, match string) []function {
	return slices.DeleteFunc(functions, func(f function) bool { return !strings.Contains(f.name, match) })
}

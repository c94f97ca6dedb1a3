package racesuite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/testbin"
	"github.com/interlock-go/interlock/dynamic/campaign"
)

// timeout is that of one run; no function of the suite takes a second.
const timeout = 10 * time.Second

// outcome is that of the runs of one function.
type outcome struct {
	function
	runs     int // made, up to the first hit of a racy function
	findings []*finding.Finding
	ended    string // how the first process ended that did not pass
}

// runAll runs the functions, o.parallel at a time.
func runAll(ctx context.Context, s *testbin.Monitored, functions []function, o options) ([]outcome, error) {
	outcomes := make([]outcome, len(functions))
	errs := make([]error, len(functions))
	command.Parallel(o.parallel, len(functions), func(i int) {
		if i%20 == 0 {
			fmt.Fprintf(os.Stderr, "racesuite: %d of %d functions\n", i, len(functions))
		}
		outcomes[i], errs[i] = runFunction(ctx, s, functions[i], o)
	})
	return outcomes, errors.Join(append(errs, ctx.Err())...)
}

// runFunction makes all runs of a clean function, and those of a racy one up to
// its first finding.
func runFunction(ctx context.Context, s *testbin.Monitored, f function, opts options) (outcome, error) {
	o := outcome{function: f}
	r, made, err := s.Run(ctx, testbin.Request{
		Function: f.name, Runs: opts.runs, Seed: 1, Timeout: timeout, Strength: opts.strength, FirstHit: f.racy,
	})
	if err != nil {
		return o, err
	}
	o.runs, o.findings = made, dataRaces(r.Findings)
	if first := cmp.Or(r.Packages[0].First, r.Packages[0].FirstCut); first != nil {
		o.ended = ending(first)
	}
	return o, nil
}

// dataRaces returns those of the findings that are data races: a clean function may leave a
// goroutine blocked for ever.
func dataRaces(all []*finding.Finding) []*finding.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f *finding.Finding) bool { return f.Code == finding.BlockedForEver })
}

// ending returns how the first process that did not pass has ended.
func ending(f *campaign.Failure) string {
	for line := range strings.Lines(f.Output) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "panic: ") {
			return line
		}
	}
	return string(f.Outcome)
}

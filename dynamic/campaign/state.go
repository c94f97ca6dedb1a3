package campaign

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/userpath"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// spending is how long the processes of a campaign have taken, as on a machine without other work.
type spending struct {
	plain, exact time.Duration // without noise, and under the happens-before engine
	unmonitored  time.Duration // processor time of these
	quiet        time.Duration // the monitored run that made no noise, if the first did not
	asked        int           // runs, before the bound took some off
	end          time.Time     // of the replays
	share        time.Time     // end of those of the finding that is replayed
}

// campaign is the state of Run.
type campaign struct {
	cfg    *settings
	result *Result
	seen   *judge.Tally
	tests  *recorded.Runner
	exact  *exact     // nil where no tests run under the happens-before engine
	open   []uint32   // sections that the run that goes on may open
	before []run.Pair // that earlier campaigns have shown
	time   spending
	// replayed has the evidence of the replays of each command, in the order of their runs.
	replayed map[run.Replay][]*judge.Tally
}

// runTests runs a test binary with the seed of the run that goes on.
func (c *campaign) runTests(
	ctx context.Context, job recorded.Job, b build.Binary, pkg *run.Package, o testproc.Options,
) *testproc.Process {
	job.Seed = c.seen.Seed
	return run.Runner{Runner: c.tests, Program: c.cfg.Program}.Tests(ctx, job, b, pkg, o)
}

func (c *campaign) problem(format string, args ...any) {
	c.result.Problems = append(c.result.Problems, fmt.Sprintf(format, args...))
}

// report returns the output of `go test` for a package.
func (c *campaign) report(p *testproc.Process, pkg string) []byte {
	return p.Report(pkg, c.verbose(), userpath.Shown(c.cfg.Workspace))
}

// live returns where the output of a process goes while it runs; nil is nowhere.
func (c *campaign) live(wanted bool) io.Writer {
	if wanted && c.verbose() {
		return c.cfg.Tests.Stdout
	}
	return nil
}

// show prints the first run whole, then each package's first failure.
func (c *campaign) show(wanted bool, text []byte) {
	if wanted && c.cfg.Tests.Stdout != nil {
		c.cfg.Tests.Stdout.Write(text)
	}
}

func (c *campaign) progress(e Event) {
	if c.cfg.Progress != nil {
		c.cfg.Progress(e)
	}
}

// exact makes the runs under the happens-before engine.
type exact struct {
	*campaign
	found *judge.Unordered
}

// unordered returns the evidence of the runs under the happens-before engine, or nil.
func (c *campaign) unordered() *judge.Unordered {
	if c.exact == nil {
		return nil
	}
	return c.exact.found
}

// without returns the test flags, with those left out that hang.
func (c *campaign) without(tests []string) []string {
	if len(tests) == 0 {
		return c.cfg.Tests.Flags
	}
	skip := "^(" + strings.Join(tests, "|") + ")$"
	var flags []string
	for _, f := range c.cfg.Tests.Flags {
		if value, ok := strings.CutPrefix(f, "-test.skip="); ok {
			skip = value + "|" + skip
		} else {
			flags = append(flags, f)
		}
	}
	return append([]string{"-test.skip=" + skip}, flags...)
}

// verbose reports whether the tests were asked to print passing tests too.
func (c *campaign) verbose() bool {
	return slices.ContainsFunc(c.cfg.Tests.Flags, func(f string) bool {
		name, value, has := strings.Cut(strings.TrimLeft(f, "-"), "=")
		return (name == "test.v" || name == "test.bench") && (!has || value != "false")
	})
}

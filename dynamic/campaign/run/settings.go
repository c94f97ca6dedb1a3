package run

import (
	"io"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/record"
	"github.com/interlock-go/interlock/dynamic/hb"
)

// Settings are those of all runs of a campaign.
type Settings struct {
	Program
	Tests  Tests
	Noise  Noise
	Engine Engine
	Replay Replays
}

// Program is an instrumented program.
type Program struct {
	Workspace *build.Workspace
	Plan      *plan.Plan
}

// Tests are the test binaries, and how they run.
type Tests struct {
	Binaries []build.Binary
	// Flags go to every test binary: -test.run=X and the like, then
	// arguments of the tests' own. Not -test.timeout, which Timeout sets.
	Flags []string
	// Timeout is that of one test binary, as `go test -timeout` takes it: 0
	// means 10 minutes, less than 0 none. It is stretched by the cost of
	// monitoring (see campaign.Result.Timeout), and a monitored run is ended long before
	// it if it takes much longer than the tests take without noise (see
	// Package.Limit).
	Timeout time.Duration
	// Floor is the time that a monitored run may take in any case, however short
	// the tests are without noise; 0 means 10 seconds.
	Floor time.Duration
	// NameSkipped has the run without noise name the tests that skip themselves, see
	// Package.Skipped. Its output is longer then, so Stdout has to be nil.
	NameSkipped bool
	// Dir takes the evidence files, and is kept; "" is a folder in the
	// workspace, which goes with it. Where there is something in it, a folder of that name with a number behind
	// it does, as campaign.Result.Dir says.
	Dir string
	// Stdout takes the output of `go test`: all of the first run, then
	// each package's first failure. nil prints nothing.
	Stdout io.Writer
	// Record keeps each process of the campaign, and has those that were run before; nil keeps nothing.
	Record *record.Campaign
}

// Noise is where and how monitored runs hold goroutines.
type Noise struct {
	// Budget is the noise budget in percent of the time; 0 leaves it to the
	// monitor.
	Budget int
	// Strength is that of the noise in all runs: about how long a window is
	// held, in microseconds. 0 varies it from run to run.
	Strength int
	// Where is where noise is made, Prob how likely a site that is due makes some, of 1000: 0 means always (the
	// default), a negative value never, except at Only and Hold.
	Where arm.Heuristic
	Prob  int
	// Repeat arms pairs that are caught already in every run, not in every
	// second one.
	Repeat bool
	// Only, if not empty, are the sites to arm: a replay of one finding. See
	// [arm.SitesAt].
	Only []uint32
	// Windows is how long a goroutine is held at some of them, as in the run that has shown the finding.
	Windows map[uint32]time.Duration
	// Hold, if not empty, are uses of locks: a goroutine is held between two of them until
	// another waits for the first. See arm.LocksAt.
	Hold []uint64
	// Pauses, if not empty, are where goroutines are held for a while. There is no other noise then.
	Pauses []arm.Pause
}

// Engine is how tests run under the happens-before engine, see build.PrepareExact.
type Engine struct {
	// Memory bounds the engine's memory of accesses, in megabytes; 0 is its own bound.
	Memory int
	// Sampling is which accesses the engine records.
	Sampling hb.Sampling
	// Race has the race detector of the Go distribution take the engine's place, see build.PrepareRace.
	Race bool
	// Predict has a run leave a trace, of which package predict makes predicted findings, and later monitored runs driven
	// to confirm them.
	Predict bool
}

// Name is the name of the engine.
func (e *Engine) Name() string {
	if e.Race {
		return "race"
	}
	return "hb"
}

// Replays is how the replay commands of findings are written, and how often they are tried.
type Replays struct {
	// OnlyFlag names the flag of the command line that sets Noise.Only, such as
	// "-only", for the replay commands of findings: a run that arms nothing
	// but the pair shows it far more often (10 of 10 for a pair that the same
	// seeds without it showed in none). Without a name, replays arm all.
	OnlyFlag string
	// HoldFlag names the flag of the command line that sets Noise.Hold and Noise.Pauses, as OnlyFlag does.
	HoldFlag string
	// Flags are further ones that replay commands need, since they decide about
	// the plan.
	Flags []string
	// Tries is how often the replay command of each finding is tried, after all runs:
	// for as long as half of the time that these took. 0 is never.
	Tries int
}

const defaultTimeout = 10 * time.Minute // as `go test`

// PlainTimeout returns the deadline that `go test` makes of a Tests.Timeout; 0
// is none.
func PlainTimeout(timeout time.Duration) time.Duration {
	if timeout == 0 {
		return defaultTimeout
	}
	return max(timeout, 0)
}

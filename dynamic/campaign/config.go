package campaign

import (
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/join"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Config describes a campaign of monitored runs, see [Run].
type Config struct {
	run.Program
	Tests  run.Tests
	Noise  run.Noise
	First  First
	Replay run.Replays
	Series
	// Bounded has the campaign make fewer runs, and shorter replays, where these would take long, and more runs where they
	// are short, see [spending].
	Bounded bool
}

// First is how the tests run once under the happens-before engine, before the monitored runs.
type First struct {
	// Binaries are those of the same packages as they are built under that engine, see
	// build.PrepareExact. Without any, no tests run so.
	Binaries []build.Binary
	Memory   int  // see Engine.Memory
	Predict  bool // see Engine.Predict
}

// ExactConfig describes a campaign under the happens-before engine alone, see [Exact].
type ExactConfig struct {
	run.Program
	Tests  run.Tests
	Engine run.Engine
	// Where is the schedule by which runs make noise, and Strength that of the noise, see [run.Noise]. Without a schedule
	// there is none.
	Where    arm.Heuristic
	Strength int
	Series
}

// Series is a series of runs.
type Series struct {
	Runs int    // 0 means 1
	Seed uint64 // of the first run; each further one adds 1
	// Before are the results of earlier campaigns of the same binaries, in order: their evidence plans the runs of this
	// one.
	Before []*Result
	// AfterRun is called, by the goroutine of Run, with the result so far whenever a run is complete: a
	// caller that keeps it loses no run if its process ends. It decides how the campaign goes on; nil
	// makes all runs.
	AfterRun func(*Result) Next
	// Progress is called for each event, by the goroutine of Run; nil is
	// fine.
	Progress func(Event)
}

// settings are those that both kinds of campaign have.
type settings struct {
	run.Settings
	Series
	First   []build.Binary // see [First]
	Bounded bool           // see [Config]
}

// settings returns the settings of a campaign of monitored runs.
func (cfg *Config) settings() *settings {
	return &settings{
		Settings: run.Settings{Program: cfg.Program, Tests: cfg.Tests, Noise: cfg.Noise, Replay: cfg.Replay,
			Engine: run.Engine{Memory: cfg.First.Memory, Predict: cfg.First.Predict}},
		Series: cfg.Series, First: cfg.First.Binaries, Bounded: cfg.Bounded,
	}
}

// settings returns the settings of a campaign under the happens-before engine, which stretches the time of the tests as
// much noise does.
func (cfg *ExactConfig) settings() *settings {
	return &settings{
		Settings: run.Settings{Program: cfg.Program, Tests: cfg.Tests, Engine: cfg.Engine,
			Noise: run.Noise{Where: cfg.Where, Strength: cfg.Strength, Budget: exactCost}},
		Series: cfg.Series,
	}
}

// Next is the next step of a campaign after a run.
type Next int

const (
	GoOn    Next = iota // make the next run, if there is one left
	Enough              // make no further run, but try the replays
	Abandon             // end
)

// Event is one step of a campaign.
type Event struct {
	Kind    EventKind
	Run     int           // from 1
	Runs    int           // to be made in all
	Seed    uint64        // of this run
	Package string        // PackageDone, Caught
	Outcome run.Outcome   // Measured, PackageDone
	Elapsed time.Duration // Measured, PackageDone; Bounded, Estimated and Replaying: at most, of all that is left to do
	Further int           // Bounded: runs that are made beyond Runs, at most, while these confirm nothing
	// Limit is the test timeout of the run (RunStarted, Measuring), or the time that a run of the
	// package may take (Measured); 0 is none.
	Limit time.Duration
	Pair  [2]uint32 // Caught: sites of a pair seen for the first time
	// Section that is proven broken for the first time; 0 where a pair was
	// caught.
	Section uint32
	// Strength of the noise in microseconds: that of the run (PackageDone),
	// or the most from now on (Weakened).
	Strength int
	// PackageDone: how many goroutines came to how many events, where the schedule counts them, and the Depth of
	// the bugs that it looks for.
	Goroutines, Events uint64
	Depth              int
	// PackageDone: how often DrFinder has held a goroutine so far, and how many of these holds have thrashed.
	Held, Thrashed uint64
}

// EventKind distinguishes the steps.
type EventKind string

const (
	RunStarted  EventKind = "run"
	Measuring   EventKind = "measuring" // a package's tests begin to run without noise
	Measured    EventKind = "measured"  // a package's tests have run without noise, for the time that they take
	PackageDone EventKind = "package"
	ExactDone   EventKind = "exact" // a package's tests have run under the happens-before engine
	Caught      EventKind = "caught"
	Comparing   EventKind = "compare"   // runs that split section Run of Runs are compared with others
	Isolating   EventKind = "isolate"   // place Run of Runs is tried: whether a test fails where goroutines are held there
	Replaying   EventKind = "replay"    // the replay command of finding Run of Runs is tried
	Weakened    EventKind = "weakened"  // the tests of a package depend on timing
	Bounded     EventKind = "bounded"   // run Run is made, and what comes behind it is to take Elapsed at most
	Estimated   EventKind = "estimated" // run Run is made, and those up to Runs take about Elapsed, if they are like it
)

// Result is the result of a campaign, so far if it was interrupted. As JSON
// it holds all that package merge and [Join] need.
type Result struct {
	// Findings are confirmed, or predicted where a section was split without
	// proof of harm; sorted and sealed.
	Findings []*finding.Finding
	Seed     uint64
	Made
	ByEngine
	Covered
	Packages []run.Package // in the order of Config.Tests.Binaries
	// Timeout is the test timeout that monitored binaries were given; 0 is
	// none.
	Timeout time.Duration
	// Dir holds the evidence files.
	Dir string
	// Problems are sentences on evidence that may be incomplete.
	Problems []string
	// Unread describes the evidence that could not be read; it is "" if all of it was read. [Gather] alone sets it: in a
	// run, a torn line is that of a process that was killed, and is among Problems.
	Unread string

	// Known has the further facts that [Join] needs.
	Known join.Known

	caught []run.Pair      // that the runs have shown
	near   map[uint32]bool // sites of near misses
}

// Made is which runs were made.
type Made struct {
	Runs    int           // made in full
	PerRun  time.Duration // that a monitored run of all packages takes
	Unmade  int           // runs that were left out to save time, see Config.Bounded
	Counted int           // runs with evidence that counts: Runs, and the interrupted one if it has left some
	// Interrupted reports whether the context ended before the last run did.
	Interrupted bool
}

// ByEngine is which engines made the runs.
type ByEngine struct {
	Engine  string // "watch", "hb" or "race"
	Sampled string // the accesses that [Exact] recorded, in words; "" is all
	Exact   int    // packages with tests that Run has run under the happens-before engine first
	Forgot  int    // of the runs under that engine, those of which it could not keep everything
	Partly  int    // of them, those in which not all of the tests ran to their end
}

// Covered counts the places that the runs have reached.
type Covered struct {
	Coverage judge.Coverage
	// Sections is how many atomic sections the runs could open, and Ended which
	// of these some goroutine has come through, from the entry to an end.
	Sections int
	Ended    []uint32
	Counters evidence.Counters // summed over all processes
}

// Failed reports whether a package's tests failed in some run, be it without noise.
func (r *Result) Failed() bool {
	for _, p := range r.Packages {
		if p.Fails() {
			return true
		}
	}
	return false
}

// exactCost is how much longer tests take under the happens-before engine, in percent: it
// stretches their timeout.
const exactCost = 1000

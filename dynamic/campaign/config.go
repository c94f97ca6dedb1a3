package campaign

import (
	"io"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/join"
	"github.com/interlock-go/interlock/dynamic/campaign/record"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/hb"
)

// Config describes a campaign.
type Config struct {
	Workspace *build.Workspace
	Plan      *plan.Plan
	Binaries  []build.Binary
	// Exact are the test binaries of the same packages as they are built under the happens-before engine, see
	// build.PrepareExact: the tests of each run once so, before the monitored runs. Without any, none do.
	Exact []build.Binary
	// ExactMemory bounds that engine's memory of accesses, in megabytes; 0 is its own bound.
	ExactMemory int
	// Sampling is which accesses [Exact] has that engine record.
	Sampling hb.Sampling
	// Race has [Exact] run binaries with the race detector of the Go distribution, see build.PrepareRace.
	Race bool
	Runs int // 0 means 1
	// Bounded has the campaign make fewer runs, and shorter replays, where these would take long, and more runs where they
	// are short, see [spending].
	Bounded bool
	Seed    uint64 // of the first run; each further one adds 1
	// TestFlags go to every test binary: -test.run=X and the like, then
	// arguments of the tests' own. Not -test.timeout, which Timeout sets.
	TestFlags []string
	// Timeout is that of one test binary, as `go test -timeout` takes it: 0
	// means 10 minutes, less than 0 none. It is stretched by the cost of
	// monitoring (see Result.Timeout), and a monitored run is ended long before
	// it if it takes much longer than the tests take without noise (see
	// PackageResult.Limit).
	Timeout time.Duration
	// Floor is the time that a monitored run may take in any case, however short
	// the tests are without noise; 0 means 10 seconds.
	Floor time.Duration
	// Budget is the noise budget in percent of the time; 0 leaves it to the
	// monitor.
	Budget int
	// Strength is that of the noise in all runs: about how long a window is
	// held, in microseconds. 0 varies it from run to run.
	Strength int
	// Where is where noise is made, Prob how likely a site that is due makes
	// some, of 1000; 0 is the monitor's default, always, and less is never, but at Only and Hold.
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
	// HoldFlag names the flag of the command line that sets Hold and Pauses, as OnlyFlag does.
	HoldFlag string
	// OnlyFlag names the flag of the command line that sets Only, such as
	// "-only", for the replay commands of findings: a run that arms nothing
	// but the pair shows it far more often (10 of 10 for a pair that the same
	// seeds without it showed in none). Without a name, replays arm all.
	OnlyFlag string
	// ReplayFlags are further ones that replay commands need, since they decide about
	// the plan.
	ReplayFlags []string
	// Predict has the run under the happens-before engine leave a trace, of which package
	// predict makes predicted findings, and later runs driven to confirm them.
	Predict bool
	// Replays is how often the replay command of each finding is tried, after all runs:
	// for as long as half of the time that these took. 0 is never.
	Replays int
	// AfterRun is called, by the goroutine of Run, with the result so far whenever a run is complete: a
	// caller that keeps it loses no run if its process ends. It decides how the campaign goes on; nil
	// makes all runs.
	AfterRun func(*Result) Next
	// Record keeps each process of the campaign, and has those that were run before; nil keeps nothing.
	Record *record.Campaign
	// Before are the results of earlier campaigns of the same binaries, in order: their evidence plans the runs of this
	// one.
	Before []*Result
	// NameSkipped has the run without noise name the tests that skip themselves, see
	// PackageResult.Skipped. Its output is longer then, so Stdout has to be nil.
	NameSkipped bool
	// Dir takes the evidence files, and is kept; "" is a folder in the
	// workspace, which goes with it. Where there is something in it, a folder of that name with a number behind
	// it does, as Result.Dir says.
	Dir string
	// Stdout takes the output of `go test`: all of the first run, then
	// each package's first failure. nil prints nothing.
	Stdout io.Writer
	// Progress is called for each event, by the goroutine of Run; nil is
	// fine.
	Progress func(Event)
}

// Next is the next step of a campaign after a run.
type Next int

const (
	GoOn    Next = iota // make the next run, if there is one left
	Enough              // make no further run, but try the replays
	Abandon             // end
)

const defaultTimeout = 10 * time.Minute // as `go test`

// PlainTimeout returns the deadline that `go test` makes of a Config.Timeout; 0
// is none.
func PlainTimeout(timeout time.Duration) time.Duration {
	if timeout == 0 {
		return defaultTimeout
	}
	return max(timeout, 0)
}

// Event is one step of a campaign.
type Event struct {
	Kind    EventKind
	Run     int           // from 1
	Runs    int           // to be made in all
	Seed    uint64        // of this run
	Package string        // PackageDone, Caught
	Outcome Outcome       // Measured, PackageDone
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
	Engine   string        // that made the runs: "watch", "hb" or "race"
	Sampled  string        // the accesses that [Exact] recorded, in words; "" is all
	Exact    int           // packages with tests that Run has run under the happens-before engine first
	Forgot   int           // of the runs under that engine, those of which it could not keep everything
	Partly   int           // of them, those in which not all of the tests ran to their end
	Runs     int           // made in full
	PerRun   time.Duration // that a monitored run of all packages takes
	Unmade   int           // runs that were left out to save time, see Config.Bounded
	Counted  int           // runs with evidence that counts: Runs, and the interrupted one if it has left some
	Seed     uint64
	// Interrupted reports whether the context ended before the last run did.
	Interrupted bool
	// Unread describes the evidence that could not be read; it is "" if all of it was read. [Gather] alone sets it: in a
	// run, a torn line is that of a process that was killed, and is among Problems.
	Unread   string
	Packages []PackageResult // in the order of Config.Binaries
	Coverage Coverage
	// Sections is how many atomic sections the runs could open, and Ended which
	// of these some goroutine has come through, from the entry to an end.
	Sections int
	Ended    []uint32
	Counters evidence.Counters // summed over all processes
	// Timeout is the test timeout that monitored binaries were given; 0 is
	// none.
	Timeout time.Duration
	// Dir holds the evidence files.
	Dir string
	// Problems are sentences on evidence that may be incomplete.
	Problems []string

	// Known has the further facts that [Join] needs.
	Known join.Known

	caught []pair          // that the runs have shown
	near   map[uint32]bool // sites of near misses
}

// place is a line of source.
type place struct {
	file string
	line int
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

package judge

import (
	"maps"
	"slices"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/blocked"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/crossing"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/fisher"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

func accessMode(write, atomic bool) finding.Mode {
	switch {
	case write && atomic:
		return finding.AtomicWrite
	case write:
		return finding.Write
	case atomic:
		return finding.AtomicRead
	}
	return finding.Read
}

func writes(m finding.Mode) bool { return m == finding.Write || m == finding.AtomicWrite }

func (t *Tally) position(site uint32) finding.Position {
	s := t.plan.Site(site)
	return finding.Position{File: s.File, Line: s.Line, Column: s.Column, EndLine: s.EndLine, EndColumn: s.EndCol}
}

// comparison is the result of such runs for one section.
type comparison struct {
	Pkg, Test string // test is "" for all
	Strength  int    // microseconds
	Seed      uint64
	Table     fisher.Table
	Apart     int // of the runs that are counted, those in which goroutines took turns
}

// Explained is the reason why a test fails that passes without noise: a pause in a section of one goroutine, which
// another one splits. Runs of three kinds show that, with the pause
//
//   - in the section: the test fails,
//   - there as well, while the others are kept away until the section has ended: it passes,
//   - ahead of the section, which makes its goroutine as late and splits nothing: it passes.
//
// A test that fails since somebody is late fails in the third kind, too. If it fails since a goroutine reads a variable
// that another has not stored yet, there is no section, and no third kind.
type Explained struct {
	crossing.Crossing
	Pkg, Test string
	seed      uint64    // of a run in which the test fails
	said      string    // how
	At        arm.Visit // where goroutines are held
	Tried     int       // crossings of this campaign, this one included
	Counts    [3]Failures
}

// Failures counts runs of a kind.
type Failures struct{ Failed, Runs int }

// fatalError is an error by which the runtime or package sync ends a process, and
// which proves a bug of synchronisation by itself.
type fatalError struct {
	text  string // how it begins
	code  finding.Code
	mode  finding.Mode // of the access that failed
	title string
	says  string   // a sentence on its proof, and the limits of that
	calls []string // methods that fail so
}

// FatalAt distinguishes fatal errors by their kind and place.
type FatalAt struct {
	text     string
	function string
	line     int
}

// FatalSeen has the evidence of the runs on one.
type FatalSeen struct {
	Kind      *fatalError
	message   string // of the runtime; it begins with the text of the kind
	Goroutine finding.Goroutine
	Run       int
	seed      uint64
	strength  int
	test      string
	Hits      map[int]bool
}

// testsRun is how a package's tests went in one run.
type testsRun struct {
	strength int
	outcome  run.Outcome
	failed   []string        // tests, where the output names some
	excuse   string          // another reason for the failure, whichever section was split; "" if none is known
	watched  map[uint32]bool // sections that some owner has come through
	// unwatched are sections of which nobody has watched an entry, outOfTurn those with an entry out of turn.
	unwatched, outOfTurn map[uint32]bool
}

// leakSeen has the evidence of the runs on one leak: on a goroutine that is left
// behind, or on a test that waits for ever, and then on the
// goroutines that it started as well.
type leakSeen struct {
	members  []blocked.Goroutine
	run      int // 0 is the one without noise
	seed     uint64
	strength int
	test     string // package
	hits     map[int]bool
	// upset are the hits in which the test that had started it failed as it does under noise alone, and the name of
	// the test: it ended early, and may not have waited for its goroutines.
	upset  map[int]string
	waited []string // the tests that waited for ever in the run that has shown it first
	// windows is where that run has held goroutines by its plan, and for how long.
	windows map[string]time.Duration
}

// caught has the evidence of the runs on one pair.
type caught struct {
	record evidence.Record // the first
	run    int
	seed   uint64
	// strength of the noise in microseconds
	strength int
	windows  map[uint32]time.Duration // of the plan of that run, at its sites
	test     string                   // package with the binary that showed it first
	hits     map[int]bool
	count    int
	failed   map[string]bool // packages with failed tests in a run that showed it
}

// Shown is a finding, and how its replays know it again.
type Shown struct {
	*finding.Finding
	Replay run.Replay
	Again  func(*Tally) bool // whether a run has shown it
}

// TestRun is a package's tests in one run.
type TestRun struct {
	Pkg string
	Run int
}

// splitSeen has the evidence of the runs on one atomic section.
type splitSeen struct {
	best  sighting // the one that the finding describes
	hits  map[int]bool
	count int
	runs  map[TestRun][]string // with the tests that it happened in; "" is any
	// panicked are those that ended in a panic of the owner inside.
	panicked map[TestRun]bool
}

// sighting is one split.
type sighting struct {
	split    evidence.SplitSection
	run      int
	seed     uint64
	strength int
	test     string
	// panicked, if not nil, is the owner, which a panic kept from the end
	panicked *stacktext.Panic
	used     bool   // the panic came at a read of the section's variable, which held another value by then
	proof    bool   // that the section is broken, whatever the tests do; see proves
	doubt    string // why it is none, by the source
}

// Section returns the section with the id, or nil.
func (t *Tally) Section(id uint32) *plan.Section {
	if id == 0 || int(id) > len(t.plan.Sections) {
		return nil
	}
	return &t.plan.Sections[id-1]
}

// SectionsSplit returns the ids of the split sections, in order.
func (t *Tally) SectionsSplit() []uint32 { return slices.Sorted(maps.Keys(t.Splits)) }

// place is a line of source.
type place struct {
	file string
	line int
}

// Showed notes that the tests of a package have shown a bug, whatever their outcome.
func (t *Tally) Showed(pkg, bug string) {
	if t.Bugs[pkg] == nil {
		t.Bugs[pkg] = map[string]bool{}
	}
	t.Bugs[pkg][bug] = true
}

// otherBug reports whether the tests of a package have shown another bug than the
// one named.
func (t *Tally) otherBug(pkg, bug string) bool {
	n := len(t.Bugs[pkg])
	return n > 1 || n == 1 && !t.Bugs[pkg][bug]
}

// Number returns the run that goes on.
func (t *Tally) Number() run.Number { return run.Number{Run: t.Runs, Seed: t.Seed, Near: t.Near} }

// Tally adds up the evidence of all runs.
type Tally struct {
	plan *plan.Plan
	Pkgs []*sites.Package // with their syntax
	present
	raceTally
	sectionTally
	waitTally
	coverTally
	Bugs   map[string]map[string]bool // certain bugs by the package of the tests, see showed
	tests  map[TestRun]*testsRun
	Fatals map[FatalAt]*FatalSeen
	Shown  []Shown // the findings that were made
}

// present is the run that goes on.
type present struct {
	Runs    int // begun
	Seed    uint64
	known   []run.Pair      // that it does not arm
	resting []uint32        // sections that it does not open, being proven
	paused  map[uint32]bool // sites at which it has held goroutines
}

// raceTally has the evidence of races.
type raceTally struct {
	caught    map[run.Pair]*caught
	unarmed   map[run.Pair]map[int]bool        // runs in which the pair was known beforehand
	holds     map[int]map[uint32]time.Duration // how long runs by a plan have held goroutines at sites, by run
	Unordered map[exactKey]bool                // races that a replay under the happens-before engine has shown
}

// sectionTally has the evidence of atomic sections, by section.
type sectionTally struct {
	Splits   map[uint32]*splitSeen
	Proven   map[uint32]bool // with a split that is a bug whatever the tests say
	rested   map[uint32]int  // runs in which a section was not opened, being proven
	Ended    map[uint32]int  // how often owners of a section came to an end
	Compared map[uint32]*comparison
	// Isolated are tests that fail under noise alone, each with its reason.
	Isolated []*Explained
}

// waitTally has the evidence of goroutines that wait for ever.
type waitTally struct {
	leaks     map[blocked.Place]*leakSeen // by the first member
	Waited    []string                    // tests that waited for ever in the process that is being taken up
	Stood     map[string][]string         // the same, of the run that has shown a deadlock first, by its name
	Deadlocks *deadlock.Seen
}

// coverTally counts the places that the runs have reached.
type coverTally struct {
	Counters evidence.Counters
	Reached  map[uint32]bool
	armed    map[uint32]bool
	Near     map[uint32]bool // sites of near misses
}

func NewTally(p *plan.Plan, pkgs []*sites.Package) *Tally {
	return &Tally{
		plan: p, Pkgs: pkgs, present: present{paused: map[uint32]bool{}},
		raceTally: raceTally{
			caught: map[run.Pair]*caught{}, unarmed: map[run.Pair]map[int]bool{}, holds: map[int]map[uint32]time.Duration{},
			Unordered: map[exactKey]bool{},
		},
		sectionTally: sectionTally{
			Splits: map[uint32]*splitSeen{}, Proven: map[uint32]bool{}, rested: map[uint32]int{}, Ended: map[uint32]int{},
			Compared: map[uint32]*comparison{},
		},
		waitTally: waitTally{
			leaks: map[blocked.Place]*leakSeen{}, Stood: map[string][]string{},
			Deadlocks: deadlock.New(func() map[uint64]deadlock.Use { return deadlock.UsesIn(pkgs) }),
		},
		coverTally: coverTally{Reached: map[uint32]bool{}, armed: map[uint32]bool{}, Near: map[uint32]bool{}},
		Bugs:       map[string]map[string]bool{}, tests: map[TestRun]*testsRun{}, Fatals: map[FatalAt]*FatalSeen{},
	}
}

// Begin records that a run begins in which the known pairs are not armed, and the
// resting sections not opened.
func (t *Tally) Begin(run int, seed uint64, known []run.Pair, resting []uint32) {
	t.Runs, t.Seed, t.known, t.resting, t.paused = run, seed, known, resting, map[uint32]bool{}
	for _, p := range known {
		if t.unarmed[p] == nil {
			t.unarmed[p] = map[int]bool{}
		}
		t.unarmed[p][run] = true
	}
	for _, id := range resting {
		t.rested[id]++
	}
}

// End records that no run comes any more, and that the last one counts only if it is among the first n: one that was
// interrupted before it left any evidence does not.
func (t *Tally) End(n int) {
	if t.Runs <= n {
		return
	}
	t.Runs = n
	for _, id := range t.resting {
		t.rested[id]--
	}
}

// Hold takes up that run n is made by a plan, for a package with these windows.
func (t *Tally) Hold(n int, windows map[uint32]time.Duration) {
	if t.holds[n] == nil {
		t.holds[n] = map[uint32]time.Duration{}
	}
	maps.Copy(t.holds[n], windows)
}

// windows returns where the run that goes on has held goroutines by a plan, and for how long.
func (t *Tally) windows() map[string]time.Duration {
	at := map[string]time.Duration{}
	for id, length := range t.holds[t.Runs] {
		if t.paused[id] {
			at[t.position(id).String()] = length
		}
	}
	return at
}

// arms reports whether a window at the pair was possible in a run.
func (t *Tally) arms(p run.Pair, run int) bool {
	held, byPlan := t.holds[run]
	return !t.unarmed[p][run] && (!byPlan || held[p[0]] > 0 || held[p[1]] > 0)
}

// Pairs returns those caught so far, in order.
func (t *Tally) Pairs() []run.Pair {
	return slices.SortedFunc(maps.Keys(t.caught), run.ComparePairs)
}

// Coverage is which sites the runs reached. A site that was never reached
// was not tested.
type Coverage struct {
	Monitored int      // sites with a monitor
	Reached   []uint32 // seen on the monitor's slow path, in ascending order
	Armed     []uint32 // held a window
	Never     []uint32 // monitored, not reached
}

func (t *Tally) Coverage() Coverage {
	var c Coverage
	for i := range t.plan.Sites {
		s := &t.plan.Sites[i]
		if s.Decision != plan.Monitor {
			continue
		}
		c.Monitored++
		if t.Reached[s.ID] {
			c.Reached = append(c.Reached, s.ID)
		} else {
			c.Never = append(c.Never, s.ID)
		}
		if t.armed[s.ID] {
			c.Armed = append(c.Armed, s.ID)
		}
	}
	return c
}

// exactKey distinguishes races by their two places in the program, in order: x = x + 1 in two
// functions is one race, whichever of their reads and writes the engine has compared.
type exactKey [2]place

package judge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// predictedSplit is a section that another order of a run splits.
type predictedSplit struct {
	section     *plan.Section
	remote, end uint32 // sites
	split       evidence.SplitSection
	run         int
	seed        uint64
	test        string // package
}

// Unordered has the evidence of runs under the happens-before engine.
type Unordered struct {
	cfg     *run.Settings
	seen    *Tally
	problem func(format string, args ...any)
	news    func(pkg string) // a race is seen for the first time
	Races   map[exactKey]*exactRace
	// predicted are races of another order of a run, by package predict; those that a run has shown are in races, too.
	predicted map[exactKey]*exactRace
	splits    map[uint32]*predictedSplit // by section
	orders    []*evidence.Record         // of locks, which another order of a run would deadlock by
	lines     map[place][]*plan.Site     // the engine records lines; the plan has the accesses there
	Runs      int                        // begun
	Forgot    int                        // runs of which the engine could not keep everything
}

func NewUnordered(
	cfg *run.Settings, seen *Tally, problem func(format string, args ...any), news func(pkg string),
) *Unordered {
	e := &Unordered{
		cfg: cfg, seen: seen, problem: problem, news: news, lines: map[place][]*plan.Site{},
		Races: map[exactKey]*exactRace{}, predicted: map[exactKey]*exactRace{},
		splits: map[uint32]*predictedSplit{},
	}
	for i := range cfg.Plan.Sites {
		s := &cfg.Plan.Sites[i]
		at := place{s.File, s.Line}
		e.lines[at] = append(e.lines[at], s)
	}
	return e
}

func (p exactKey) compare(q exactKey) int { return cmp.Or(p[0].compare(q[0]), p[1].compare(q[1])) }

func keyOf(sides *[2]exactSide) exactKey {
	key := exactKey{sides[0].at, sides[1].at}
	slices.SortFunc(key[:], place.compare)
	return key
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.file, q.file), cmp.Compare(p.line, q.line))
}

// exactRace has the evidence of the runs on a race.
type exactRace struct {
	sides [2]exactSide // in the order of the key, of the first record that has most writes
	run   int
	seed  uint64
	test  string // package
	hits  map[int]bool
	count int
}

// exactSide is an access as the engine recorded it.
type exactSide struct {
	goroutine finding.Goroutine
	frame     finding.Frame // the innermost of the user's own
	at        place         // of it
	mode      finding.Mode
	// The kind of the accessed variable, if the stack shows that it is a channel or a WaitGroup, and the operation.
	kind string
	op   finding.Mode
}

// replayOf is a run of the finding's test.
func (e *Unordered) replayOf(f *finding.Finding) run.Replay {
	r := run.Replay{Pkg: f.Evidence.Test, Exact: true}
	if e.cfg.Noise.Where.Text != "" {
		r.Seed, r.Runs = f.Evidence.Seed, 1
	}
	if e.cfg.Noise.Where.Functions > 0 && f.Evidence.Run > 1 { // DrFinder's relations are those of the run before
		r.Seed, r.Runs = r.Seed-1, 2
	}
	if !strings.Contains(strings.Join(run.GoFlags(e.cfg), " "), "-run=") {
		r.Test = TestOf(f)
	}
	return r
}

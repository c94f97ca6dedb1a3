package campaign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// LockUse is a use of a lock in the source.
type LockUse = deadlock.Use

// LockUses returns the uses of locks in packages with their syntax, by the ids that the monitor knows them by.
func LockUses(pkgs []*sites.Package) map[uint64]LockUse { return deadlock.UsesIn(pkgs) }

// pair is an unordered pair of sites, the lower id first.
type pair [2]uint32

func makePair(a, b uint32) pair { return pair{min(a, b), max(a, b)} }

func comparePairs(a, b pair) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

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

// tally adds up the evidence of all runs.
type tally struct {
	plan     *plan.Plan
	pkgs     []*sites.Package // with their syntax
	caught   map[pair]*caught
	unarmed  map[pair]map[int]bool            // runs in which the pair was known beforehand
	holds    map[int]map[uint32]time.Duration // how long runs by a plan have held goroutines at sites, by run
	counters evidence.Counters
	reached  map[uint32]bool
	armed    map[uint32]bool
	near     map[uint32]bool            // sites of near misses
	bugs     map[string]map[string]bool // certain bugs by the package of the tests, see showed
	splits   map[uint32]*splitSeen      // by section
	proven   map[uint32]bool            // sections with a split that is a bug whatever the tests say
	rested   map[uint32]int             // runs in which a section was not opened, being proven
	ended    map[uint32]int             // how often owners of a section came to an end
	tests    map[testRun]*testsRun
	compared map[uint32]*comparison // by section
	fatals   map[fatalAt]*fatalSeen
	// isolated are tests that fail under noise alone, each with its reason.
	isolated []*explained
	leaks    map[blockedAt]*leakSeen // by the first member

	waited []string            // tests that waited for ever in the process that is being taken up
	stood  map[string][]string // the same, of the run that has shown a deadlock first, by its name

	deadlocks *deadlock.Seen
	unordered map[exactKey]bool // races that a replay under the happens-before engine has shown

	shown []shown // the findings that were made

	runs    int             // begun
	paused  map[uint32]bool // sites at which the run that goes on has held goroutines
	seed    uint64          // of the run that goes on
	known   []pair          // in it
	resting []uint32        // sections that it does not open, being proven
}

func newTally(p *plan.Plan, pkgs []*sites.Package) *tally {
	return &tally{
		plan: p, pkgs: pkgs, caught: map[pair]*caught{}, unarmed: map[pair]map[int]bool{},
		holds:   map[int]map[uint32]time.Duration{},
		reached: map[uint32]bool{}, armed: map[uint32]bool{}, near: map[uint32]bool{},
		bugs: map[string]map[string]bool{}, splits: map[uint32]*splitSeen{}, proven: map[uint32]bool{},
		rested: map[uint32]int{}, ended: map[uint32]int{}, tests: map[testRun]*testsRun{},
		compared: map[uint32]*comparison{}, fatals: map[fatalAt]*fatalSeen{},
		leaks:     map[blockedAt]*leakSeen{},
		stood:     map[string][]string{},
		unordered: map[exactKey]bool{}, paused: map[uint32]bool{},
		deadlocks: deadlock.New(func() map[uint64]LockUse { return LockUses(pkgs) }),
	}
}

// begin records that a run begins in which the known pairs are not armed, and the
// resting sections not opened.
func (t *tally) begin(run int, seed uint64, known []pair, resting []uint32) {
	t.runs, t.seed, t.known, t.resting, t.paused = run, seed, known, resting, map[uint32]bool{}
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

// end records that no run comes any more, and that the last one counts only if it is among the first n: one that was
// interrupted before it left any evidence does not.
func (t *tally) end(n int) {
	if t.runs <= n {
		return
	}
	t.runs = n
	for _, id := range t.resting {
		t.rested[id]--
	}
}

// hold takes up that run n is made by a plan, for a package with these windows.
func (t *tally) hold(n int, windows map[uint32]time.Duration) {
	if t.holds[n] == nil {
		t.holds[n] = map[uint32]time.Duration{}
	}
	maps.Copy(t.holds[n], windows)
}

// windows returns where the run that goes on has held goroutines by a plan, and for how long.
func (t *tally) windows() map[string]time.Duration {
	at := map[string]time.Duration{}
	for id, length := range t.holds[t.runs] {
		if t.paused[id] {
			at[t.position(id).String()] = length
		}
	}
	return at
}

// arms reports whether a window at the pair was possible in a run.
func (t *tally) arms(p pair, run int) bool {
	held, byPlan := t.holds[run]
	return !t.unarmed[p][run] && (!byPlan || held[p[0]] > 0 || held[p[1]] > 0)
}

// pairs returns those caught so far, in order.
func (t *tally) pairs() []pair {
	return slices.SortedFunc(maps.Keys(t.caught), comparePairs)
}

// news has the pairs and sections that no earlier record had.
type news struct {
	pairs    []pair
	sections []uint32 // proven
}

// add takes up the records of the process p and those that it started.
func (t *tally) add(
	pkg string, strength int, records []evidence.Record, p *testproc.Process, problem func(string, ...any),
) (fresh news) {
	strange := 0
	var came []*evidence.Record
	last := map[int]*evidence.Record{} // the latest counters of each process
	for i := range records {
		r := &records[i]
		switch {
		case r.Kind == evidence.Stats:
			last[r.PID] = r
		case r.Kind == evidence.Split && t.knows(r.Split):
			if t.sight(t.section(r.Split.Section), t.sighting(r.Split, strength, pkg)) {
				fresh.sections = append(fresh.sections, r.Split.Section)
			}
			if s := r.Split; s.Between && !s.End.Write { // the value that the end has read may be why it panics later
				came = append(came, r)
			}
		case (r.Kind == evidence.Came || r.Kind == evidence.Used) && t.knows(r.Split):
			came = append(came, r)
		case r.Split != nil:
			strange++
		case r.Kind != evidence.Race:
		case t.plan.Site(r.A.Site) == nil || t.plan.Site(r.B.Site) == nil:
			strange++
		default:
			if p, isNew := t.race(pkg, strength, r, p.TestsFailed()); isNew {
				fresh.pairs = append(fresh.pairs, p)
			}
		}
	}
	if p.Outcome == Panicked {
		t.panicked(pkg, strength, came, p.Crash)
		t.fatal(pkg, strength, p.Crash)
	}
	t.ran(pkg, strength, p, last)
	if strange > 0 {
		problem("%d records name sites or sections that the plan does not have", strange)
	}
	lost := t.counters.NotWritten
	for _, r := range last {
		t.count(r)
	}
	if lost = t.counters.NotWritten - lost; lost > 0 {
		problem("the monitor could not write %d records", lost)
	}
	return fresh
}

func (t *tally) race(pkg string, strength int, r *evidence.Record, failed bool) (pair, bool) {
	p := makePair(r.A.Site, r.B.Site)
	t.showed(pkg, fmt.Sprintf("race %d-%d", p[0], p[1]))
	c := t.caught[p]
	isNew := c == nil
	if isNew {
		c = &caught{
			record: *r, run: t.runs, seed: t.seed, strength: strength, test: pkg,
			windows: map[uint32]time.Duration{}, hits: map[int]bool{}, failed: map[string]bool{},
		}
		for _, id := range p {
			if length := t.holds[t.runs][id]; length > 0 {
				c.windows[id] = length
			}
		}
		t.caught[p] = c
	}
	c.count += int(max(r.Count, 1))
	// A pair that this run was not to arm says nothing of how often it is seen, unless it is seen for the first time.
	if isNew || !slices.Contains(t.known, p) {
		c.hits[t.runs] = true
	}
	if failed {
		c.failed[pkg] = true
	}
	return p, isNew
}

// lines are the two places of a race, the first in the text first: x = x + 1 in two
// functions is one race, whichever of their reads and writes met.
type lines struct {
	variable plan.Variable
	a, b     place
}

// races groups the pairs that are one race, each group with the pair first that shows
// most: two writes, then the one seen most often.
func (t *tally) races() (all [][]pair) {
	groups := map[lines]int{}
	for _, p := range t.pairs() {
		l := t.lines(p)
		i, known := groups[l]
		if !known {
			i = len(all)
			groups[l], all = i, append(all, nil)
		}
		all[i] = append(all[i], p)
	}
	for _, group := range all {
		slices.SortStableFunc(group, func(p, q pair) int {
			return -cmp.Or(cmp.Compare(t.writesOf(p), t.writesOf(q)), cmp.Compare(len(t.caught[p].hits), len(t.caught[q].hits)))
		})
	}
	return all
}

func (t *tally) lines(p pair) lines {
	a, b := t.plan.Site(p[0]), t.plan.Site(p[1])
	l := lines{a.Variable, place{a.File, a.Line}, place{b.File, b.Line}}
	l.variable.Kind = ""
	if l.b.file < l.a.file || l.b.file == l.a.file && l.b.line < l.a.line {
		l.a, l.b = l.b, l.a
	}
	return l
}

// writesOf counts the sides of p that write.
func (t *tally) writesOf(p pair) (n int) {
	for _, side := range []*evidence.Side{t.caught[p].record.A, t.caught[p].record.B} {
		if side.Write {
			n++
		}
	}
	return n
}

// rate is in how many runs a race was seen, of those in which one of its pairs was
// armed, and how often in all.
func (t *tally) rate(group []pair) (hits, tries, count int) {
	seen, armed := map[int]bool{}, map[int]bool{}
	for _, p := range group {
		maps.Copy(seen, t.caught[p].hits)
		for run := 1; run <= t.runs; run++ {
			if t.arms(p, run) {
				armed[run] = true
			}
		}
		count += t.caught[p].count
	}
	maps.Copy(armed, seen) // runs that showed it without arming it
	return len(seen), len(armed), count
}

func (t *tally) count(r *evidence.Record) {
	t.counters.Add(r.Counters)
	for _, id := range r.Reached {
		t.reached[id] = true
	}
	for _, id := range r.Armed {
		t.armed[id], t.paused[id] = true, true
	}
	for _, id := range r.Near {
		t.near[id] = true
	}
	for _, e := range r.Ended {
		t.ended[e.Section] += e.Times
	}
}

// Coverage is which sites the runs reached. A site that was never reached
// was not tested.
type Coverage struct {
	Monitored int      // sites with a monitor
	Reached   []uint32 // seen on the monitor's slow path, in ascending order
	Armed     []uint32 // held a window
	Never     []uint32 // monitored, not reached
}

func (t *tally) coverage() Coverage {
	var c Coverage
	for i := range t.plan.Sites {
		s := &t.plan.Sites[i]
		if s.Decision != plan.Monitor {
			continue
		}
		c.Monitored++
		if t.reached[s.ID] {
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

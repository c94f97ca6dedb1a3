// Package deadlock keeps the evidence of runs on goroutines that wait for each other's locks, and
// makes findings of it: confirmed if they wait, predicted if they could and no run has ruled
// that out.
package deadlock

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/schedule"
)

// Blocked is the word for locks in the evidence of a finding on blocked goroutines.
const Blocked = "lock"

// Seen has the evidence of the runs.
type Seen struct {
	find    func() map[uint64]Use
	uses    map[uint64]Use // nil until somebody asks
	circles map[string]*circle
}

// circle is a set of goroutines, each of which waits for a lock that the next one holds.
type circle struct {
	record evidence.Record // the first of those with fewest goroutines
	run    Run
	failed bool // the tests have, in a run that has shown it
	hits   map[int]bool
}

// Run is the run that has shown something.
type Run struct {
	N        int // from 1
	Seed     uint64
	Strength int    // of the noise
	Package  string // of the tests that ran
	Failed   bool   // they did
}

// New returns an empty Seen. find returns the uses of locks in the source, see [UsesIn]; it is called once, and only if
// a run has shown something.
func New(find func() map[uint64]Use) *Seen { return &Seen{find: find, circles: map[string]*circle{}} }

// Add takes up the deadlocks among the records of a run, and returns their names.
func (s *Seen) Add(run Run, records []evidence.Record) (names []string) {
	for i := range records {
		r := &records[i]
		if r.Kind != evidence.Deadlock || !s.knows(r) {
			continue
		}
		name := schedule.Circle(r)
		if s.circles[name] == nil {
			s.circles[name] = &circle{record: *r, run: run, hits: map[int]bool{}}
		}
		c := s.circles[name]
		if len(r.Locks) < len(c.record.Locks) { // of many goroutines that do the same, fewer say as much
			c.record = *r
		}
		c.hits[run.N], c.failed = true, c.failed || run.Failed
		names = append(names, name)
	}
	return names
}

// Has reports whether a run has shown the deadlock of a name.
func (s *Seen) Has(name string) bool { return s.circles[name] != nil }

// Holder returns the goroutine that has acquired a lock at a site and has the stack of now, if any; not ok where the
// source does not have the site.
func (s *Seen) Holder(site uint64, now finding.Goroutine) (h finding.Holder, ok bool) {
	u, ok := s.all()[site]
	return finding.Holder{
		Position: u.Position, Function: u.Function, Lock: u.Expr, ID: now.ID,
		Returned: !slices.ContainsFunc(now.Stack, u.has),
	}, ok
}

// all returns the uses of locks in the source, by their ids.
func (s *Seen) all() map[uint64]Use {
	if s.uses == nil {
		s.uses = s.find()
	}
	return s.uses
}

// knows reports whether the source has the places of a record.
func (s *Seen) knows(r *evidence.Record) bool {
	has := func(at evidence.LockSite) bool { _, known := s.all()[at.Site]; return known }
	return !slices.ContainsFunc(r.Locks, func(l evidence.LockStep) bool { return !has(l.Wants) || !has(l.Holds) })
}

// Found is a finding, and the deadlock that it is about.
type Found struct {
	*finding.Finding
	Name     string
	Strength int // of the noise in the run that has shown it first
	Last     int // the last run that has shown it
}

// Findings makes a finding of each deadlock. name sets the files of a goroutine's stack.
func (s *Seen) Findings(name func(*finding.Goroutine)) (all []Found) {
	for _, of := range slices.Sorted(maps.Keys(s.circles)) {
		c := s.circles[of]
		last := slices.Max(slices.Collect(maps.Keys(c.hits)))
		all = append(all, Found{s.finding(c, finding.Confirmed, name), of, c.run.Strength, last})
	}
	return all
}

// Predicted makes findings of the circles in records that have not come about in any run.
func (s *Seen) Predicted(records []*evidence.Record, pkg string,
	name func(*finding.Goroutine)) (all []*finding.Finding) {
	for _, r := range records {
		if s.knows(r) && !s.Has(schedule.Circle(r)) {
			c := &circle{record: *r, run: Run{N: r.Run, Seed: r.Seed, Package: pkg}, hits: map[int]bool{r.Run: true}}
			all = append(all, s.finding(c, finding.Predicted, name))
		}
	}
	return all
}

// finding makes a finding of a circle.
func (s *Seen) finding(c *circle, status finding.Status, name func(*finding.Goroutine)) *finding.Finding {
	steps := slices.Clone(c.record.Locks)
	slices.SortFunc(steps, func(a, b evidence.LockStep) int { // whichever goroutine has closed the circle
		return cmp.Or(cmp.Compare(s.uses[a.Wants.Site].order(), s.uses[b.Wants.Site].order()), cmp.Compare(a.GID, b.GID))
	})
	f := &finding.Finding{Status: status, Variable: s.uses[steps[0].Wants.Site].Variable}
	verb := "holds"
	if status == finding.Predicted {
		verb = "held"
	}
	for _, l := range steps {
		a, e := s.step(l, name)
		f.Accesses = append(f.Accesses, a)
		if l.Queued { // the circle closes without it: readers keep each other waiting
			f.Message += fmt.Sprintf("Goroutine %d waits at %s:%d to write-lock %s, which keeps new readers out. ",
				l.GID, a.File, a.Line, finding.ShortLock(e.To))
			continue
		}
		f.Cycle = append(f.Cycle, e)
		f.Message += fmt.Sprintf("Goroutine %d %s %s since %s:%d and waits for %s at %s:%d. ",
			l.GID, verb, finding.ShortLock(e.From), e.Since.File, e.Since.Line, finding.ShortLock(e.To), a.File, a.Line)
	}
	s.classify(f, steps)
	if status == finding.Predicted {
		f.Title = "possible " + f.Title
		f.Message = strings.ReplaceAll(f.Message, "and waits for", "when it acquired") +
			"That happened one after the other; at the same time, none of them could go on."
	} else if len(steps) == 1 {
		f.Message += "It can never go on."
	} else {
		f.Message += "None of them can go on."
	}
	f.Evidence = &finding.Evidence{
		Engine: "watch", Run: max(c.run.N, 1), Hits: len(c.hits), Count: len(c.hits), Seed: c.run.Seed, Test: c.run.Package,
		Harmful: c.failed, Blocked: Blocked,
	}
	for i, l := range steps {
		if h, ok := s.Holder(l.Holds.Site, *f.Accesses[i].Goroutine); ok && !l.Queued {
			f.Evidence.Holders = append(f.Evidence.Holders, h)
		}
	}
	return f
}

// classify sets the code and the title of a finding.
func (s *Seen) classify(f *finding.Finding, steps []evidence.LockStep) {
	var names []string
	again := "" // a class of which a goroutine read-locks a lock while it has read-locked one
	for i, l := range steps {
		holds, wants := s.uses[l.Holds.Site], s.uses[l.Wants.Site]
		names = append(names, finding.ShortLock(holds.class()))
		if l.Holds.Reads && l.Wants.Reads && holds.class() == wants.class() {
			again = names[i]
		}
	}
	switch {
	case len(steps) == 1 && steps[0].Holds.Reads:
		f.Code, f.Cycle = finding.ReadLockAgain, nil
		f.Title = fmt.Sprintf("deadlock: %s is locked by the goroutine that holds it for reading", names[0])
	case len(steps) == 1:
		f.Code, f.Cycle = finding.DoubleLock, nil
		f.Title = fmt.Sprintf("deadlock: %s is locked by the goroutine that holds it", names[0])
	// The reader and the writer that waits for it; where there are more, the locks of the class are several.
	case again != "" && len(steps) == 2:
		f.Code, f.Cycle = finding.ReadLockAgain, nil
		f.Title = fmt.Sprintf("deadlock: %s is read-locked again while a writer waits", again)
	default:
		slices.Sort(names)
		f.Code = finding.LockCycle
		f.Title = "deadlock: goroutines wait for each other's locks: " + strings.Join(slices.Compact(names), ", ")
	}
}

// step returns the acquisition for which a goroutine waits, and the order of the two locks.
func (s *Seen) step(l evidence.LockStep, name func(*finding.Goroutine)) (finding.Access, finding.Edge) {
	g := stacktext.Parse(l.Stack)
	g.ID = l.GID
	name(&g)
	wants, holds := s.uses[l.Wants.Site], s.uses[l.Holds.Site]
	a := finding.Access{
		Position: wants.Position, Package: wants.Package, Function: wants.Function, Expr: wants.Expr, Mode: finding.Lock,
		Goroutine: &g,
	}
	if l.Wants.Reads {
		a.Mode = finding.ReadLock
	}
	switch {
	case l.Queued: // it holds none of the circle
	case l.Holds.Reads:
		a.Locks = []string{holds.Expr + " (read)"}
	default:
		a.Locks = []string{holds.Expr}
	}
	e := finding.Edge{
		From: holds.class(), To: wants.class(), Position: a.Position, Function: a.Function, Since: &holds.Position,
	}
	return a, e
}

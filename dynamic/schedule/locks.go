package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Locks drives runs into deadlocks that earlier ones have shown to be possible: a goroutine
// is held between two acquisitions until another one, that acquires the same locks in another order,
// waits for the first (the second phase of DeadlockFuzzer, Joshi and others, PLDI 2009).
type Locks struct {
	circles map[string]*circle
}

// Acquisitions are the sites of two acquisitions in a row.
type Acquisitions [2]uint64

// circle is a set of lock orders that form a cycle.
type circle struct {
	record   evidence.Record
	gap      time.Duration // between the first and the last of the acquisitions
	tries    int           // runs that were planned for it
	held     int           // how often a goroutine was held for it
	deadlock bool          // it has come about
}

// Circle returns a name of the circle of locks in a record: that of all circles of the same sites, however often
// goroutines come to the same two. One that comes there, and several, are different circles.
func Circle(r *evidence.Record) string {
	times := map[string]int{}
	for _, l := range r.Locks {
		times[fmt.Sprintf("%d>%d", l.Holds.Site, l.Wants.Site)]++
	}
	var steps []string
	for step, n := range times {
		steps = append(steps, slices.Repeat([]string{step}, min(n, 2))...)
	}
	slices.Sort(steps)
	return strings.Join(steps, ",")
}

// Observe takes up a record of one of the kinds Order, Held and Deadlock.
func (l *Locks) Observe(r *evidence.Record) {
	if l.circles == nil {
		l.circles = map[string]*circle{}
	}
	name := Circle(r)
	c := l.circles[name]
	switch r.Kind {
	case evidence.Order: // the record that says most, and the longest gap
		if c == nil {
			c = &circle{record: *r}
			l.circles[name] = c
		}
		if r.Met {
			c.record = *r
		}
		first, last := r.Locks[0].AtNS, r.Locks[0].AtNS
		for _, s := range r.Locks {
			first, last = min(first, s.AtNS), max(last, s.AtNS)
		}
		c.gap = max(c.gap, time.Duration(last-first))
	case evidence.Deadlock:
		for _, c := range l.circles {
			c.deadlock = c.deadlock || within(&c.record, r)
		}
	case evidence.Held:
		for _, c := range l.circles {
			if slices.ContainsFunc(c.record.Locks, func(s evidence.LockStep) bool {
				return within(r, &evidence.Record{Locks: []evidence.LockStep{s}})
			}) {
				c.held++
			}
		}
	}
}

// within reports whether all acquisitions of a are among those of b.
func within(a, b *evidence.Record) bool {
	return !slices.ContainsFunc(a.Locks, func(s evidence.LockStep) bool {
		return !slices.ContainsFunc(b.Locks, func(t evidence.LockStep) bool {
			return s.Holds.Site == t.Holds.Site && s.Wants.Site == t.Wants.Site
		})
	})
}

const (
	// enoughTries is how many runs are planned for a circle.
	enoughTries = 4
	// enoughHolds is how often a goroutine is held without a deadlock until the circle counts as
	// one that the program rules out.
	enoughHolds = 3
	shortest    = 20 * time.Millisecond
	longest     = time.Second
)

// Plan returns between which acquisitions the next run is to hold goroutines, and for how long at
// most, within the budget: for circles that have not come about yet, those least tried first.
func (l *Locks) Plan(budget time.Duration) map[Acquisitions]time.Duration {
	holds := map[Acquisitions]time.Duration{}
	names := slices.SortedFunc(maps.Keys(l.circles), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.circles[a].tries, l.circles[b].tries), cmp.Compare(a, b))
	})
	for _, name := range names {
		c := l.circles[name]
		length := min(max(c.gap+c.gap/2, shortest)*time.Duration(1+c.tries), longest)
		if c.deadlock || c.tries >= enoughTries || length > budget && len(holds) > 0 {
			continue
		}
		budget -= length
		c.tries++
		for _, s := range c.record.Locks {
			a := Acquisitions{s.Holds.Site, s.Wants.Site}
			holds[a] = max(holds[a], length)
		}
	}
	return holds
}

// Predicted returns the records of circles in which nothing that was seen orders the goroutines,
// and which no run has ruled out, in order.
func (l *Locks) Predicted() (all []*evidence.Record) {
	for _, name := range slices.Sorted(maps.Keys(l.circles)) {
		if c := l.circles[name]; c.record.Met && !c.deadlock && c.held < enoughHolds {
			all = append(all, &c.record)
		}
	}
	return all
}

package predict

import (
	"slices"
	"sort"
)

// Race is two accesses that another order of the run brings together: indices of events.
type Race struct{ First, Second int }

// Deadlock is two acquisitions that another order of the run has wait for each other, and
// the acquisitions of the locks that their goroutines hold then: indices of events.
type Deadlock struct{ FirstHeld, First, SecondHeld, Second int }

// Result is the predictions of a trace.
type Result struct {
	Races     []Race     // one for each pair of places
	Deadlocks []Deadlock // one for each four places
	Untried   int        // pairs of events that the work limit left out
}

const (
	nestedReads  = 8       // read locks of one lock that a goroutine is taken to hold at once, at most
	lastAccesses = 4       // of a goroutine, that an access of another is compared with
	triesOfPlace = 100     // pairs of events that are tried for one pair of places
	workLimit    = 1 << 27 // steps of closures in all
)

// Predict returns the races and deadlocks of a trace.
//
// Cost: linear in the events, closures apart: each of these takes the locks that two goroutines
// have locked, times the goroutines, for each round of news, and the sum is bounded.
func Predict(events []Event) *Result { return newPredictor(events).predict() }

func newPredictor(events []Event) *predictor {
	return &predictor{index: newIndex(events), tries: map[[4]uint64]int{}, work: workLimit}
}

func (p *predictor) predict() *Result {
	p.races()
	p.deadlocks()
	return &p.result
}

type predictor struct {
	*index
	result Result
	tries  map[[4]uint64]int // pairs of events that were tried for a pair of places; -1: predicted
	work   int
}

// worth reports whether one more pair of events is to be tried for the places, and counts it.
func (p *predictor) worth(places [4]uint64) bool {
	n := p.tries[places]
	switch {
	case n < 0:
		return false
	case n >= triesOfPlace || p.work <= 0:
		p.result.Untried++
		return false
	}
	p.tries[places]++
	return true
}

// races compares each access with the last ones of other goroutines.
func (p *predictor) races() {
	type variable map[int32][]int32 // by goroutine, the last accesses
	variables := map[uint64]variable{}
	for i := range p.events {
		e := &p.events[i]
		if !e.access() {
			continue
		}
		v := variables[e.Obj]
		if v == nil {
			v = variable{}
			variables[e.Obj] = v
		}
		for g := range int32(len(p.known[0])) {
			for _, k := range v[g] {
				p.tryRace(k, int32(i))
			}
		}
		list := append(v[e.G], int32(i))
		v[e.G] = list[max(0, len(list)-lastAccesses):]
	}
}

// tryRace predicts the race of event i with j, which came later, if it can.
func (p *predictor) tryRace(i, j int32) {
	a, b := &p.events[i], &p.events[j]
	if !a.conflicts(b) {
		return
	}
	// An event that needs the other needs no closure.
	c := p.preceding(j)
	if p.in(c, i) {
		return
	}
	places := [4]uint64{min(a.PC, b.PC), max(a.PC, b.PC)}
	if !p.worth(places) {
		return
	}
	c.join(p.preceding(i))
	if p.close(c) && !p.in(c, i) && !p.in(c, j) {
		p.tries[places] = -1
		p.result.Races = append(p.result.Races, Race{int(i), int(j)})
	}
}

// close adds to c the events that a sync-preserving correct reordering with c must have: of two
// critical sections of one lock that are not both to read, the end of the earlier one. It
// returns false where there is none, because a section does not end in the trace.
func (p *predictor) close(c clock) bool {
	for changed := true; changed; {
		changed = false
		for k := range p.locks {
			more, ok := p.closeLock(&p.locks[k], c)
			if !ok {
				return false
			}
			changed = changed || more
		}
	}
	return true
}

func (p *predictor) closeLock(l *lock, c clock) (changed, ok bool) {
	// The sections that are open in c, and the last of all, and of those that write. Of the
	// sections of a goroutine only read locks that are taken again may be open before the last.
	var open []section
	last, lastWrite := int32(-1), int32(-1)
	for g, list := range l.of {
		p.work--
		n := sort.Search(len(list), func(k int) bool { return p.place[list[k].acquired] >= c[g] })
		if n == 0 {
			continue
		}
		last, lastWrite = max(last, list[n-1].acquired), max(lastWrite, list[n-1].lastWrite)
		for k := n - 1; k >= max(0, n-nestedReads); k-- {
			if s := list[k]; s.released < 0 || !p.in(c, s.released) {
				open = append(open, s)
			}
			if !list[k].read {
				break
			}
		}
	}
	for _, s := range open {
		if s.acquired < lastWrite || !s.read && s.acquired < last {
			if s.released < 0 {
				return false, false
			}
			changed = c.join(p.including(s.released)) || changed
		}
	}
	return changed, true
}

// deadlocks looks for two goroutines each of which acquires a lock that the other may hold.
func (p *predictor) deadlocks() {
	type nested struct{ held, wanted uint64 }
	by := map[nested][][2]int32{} // acquisitions of held and wanted
	var order []nested
	acquisitions := make([]int32, 0, len(p.held))
	for i := range p.held {
		acquisitions = append(acquisitions, i)
	}
	slices.Sort(acquisitions)
	for _, i := range acquisitions {
		for _, h := range p.held[i] {
			n := nested{p.events[h].Obj, p.events[i].Obj}
			if by[n] == nil {
				order = append(order, n)
			}
			by[n] = append(by[n], [2]int32{h, i})
		}
	}
	for _, n := range order {
		if n.held >= n.wanted {
			continue
		}
		for _, a := range by[n] {
			for _, b := range by[nested{n.wanted, n.held}] {
				p.tryDeadlock(a, b)
			}
		}
	}
}

// tryDeadlock predicts that the goroutines wait for each other at a[1] and b[1], if it can.
func (p *predictor) tryDeadlock(a, b [2]int32) {
	if p.events[a[1]].G == p.events[b[1]].G || p.bothRead(a[0], b[1]) || p.bothRead(b[0], a[1]) {
		return
	}
	places := [4]uint64{p.events[a[0]].PC, p.events[a[1]].PC, p.events[b[0]].PC, p.events[b[1]].PC}
	c := p.preceding(a[1])
	c.join(p.preceding(b[1]))
	if p.in(c, a[1]) || p.in(c, b[1]) || !p.worth(places) {
		return
	}
	if p.close(c) && !p.in(c, a[1]) && !p.in(c, b[1]) {
		p.tries[places] = -1
		p.result.Deadlocks = append(p.result.Deadlocks, Deadlock{int(a[0]), int(a[1]), int(b[0]), int(b[1])})
	}
}

func (p *predictor) bothRead(i, j int32) bool {
	return p.events[i].Op == RLock && p.events[j].Op == RLock
}

package predict

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// trace makes events of lines such as "0 lock m", in the order of the trace. A read sees the last
// write of its variable.
func trace(tb testing.TB, text string) []Event {
	tb.Helper()
	ops := map[string]Op{
		"read": Read, "write": Write, "lock": Lock, "unlock": Unlock, "rlock": RLock, "runlock": RUnlock,
		"acquire": Acquire, "release": Release, "merge": Merge, "exchange": Exchange, "go": Go,
	}
	var events []Event
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		var g int32
		var op, obj string
		if _, err := fmt.Sscanf(line, "%d %s %s", &g, &op, &obj); err != nil {
			tb.Fatalf("line %q: %v", line, err)
		}
		e := Event{G: g, Op: ops[op], Obj: uint64(obj[0]), PC: uint64(len(events) + 1), From: -1, Bytes: 1}
		if e.Op == Go {
			e.Obj -= '0'
		}
		for i := len(events) - 1; i >= 0 && e.Op == Read && e.From < 0; i-- {
			if events[i].Op == Write && events[i].Obj == e.Obj {
				e.From = int32(i)
			}
		}
		events = append(events, e)
	}
	return events
}

func TestPredict(t *testing.T) {
	for _, test := range []struct {
		name, trace string
		races       []Race
		deadlocks   []Deadlock
	}{
		{name: "hidden by the order of a lock", trace: `
			0 write x
			0 lock m
			0 unlock m
			1 lock m
			1 unlock m
			1 write x`, races: []Race{{0, 5}}},
		{name: "a flag under the lock orders", trace: `
			0 write x
			0 lock m
			0 write f
			0 unlock m
			1 lock m
			1 read f
			1 unlock m
			1 write x`},
		{name: "both under the lock", trace: `
			0 lock m
			0 write x
			0 unlock m
			1 lock m
			1 write x
			1 unlock m`},
		{name: "a section that must have ended first", trace: `
			0 lock m
			0 write x
			0 unlock m
			1 lock m
			1 unlock m
			1 read x`, races: nil},
		{name: "read locks exclude nobody", trace: `
			0 rlock m
			0 write x
			0 runlock m
			1 rlock m
			1 write x
			1 runlock m`, races: []Race{{1, 4}}},
		{name: "a channel orders", trace: `
			0 write x
			0 release c
			1 acquire c
			1 read x`},
		{name: "a go statement orders", trace: `
			0 write x
			0 go 1
			1 read x
			0 write x`, races: []Race{{2, 3}}},
		{name: "a WaitGroup orders after all", trace: `
			1 write x
			1 merge w
			2 write y
			2 merge w
			0 acquire w
			0 read x
			0 read y`},
		{name: "unlocked by another goroutine", trace: `
			0 lock m
			1 write x
			1 unlock m
			0 lock m
			0 write x
			0 unlock m`},
		{name: "two locks in two orders", trace: `
			0 lock a
			0 lock b
			0 unlock b
			0 unlock a
			1 lock b
			1 lock a
			1 unlock a
			1 unlock b`, deadlocks: []Deadlock{{0, 1, 4, 5}}},
		{name: "a third lock around both", trace: `
			0 lock g
			0 lock a
			0 lock b
			0 unlock b
			0 unlock a
			0 unlock g
			1 lock g
			1 lock b
			1 lock a
			1 unlock a
			1 unlock b
			1 unlock g`},
		{name: "read locks alone make no cycle", trace: `
			0 rlock a
			0 lock b
			0 unlock b
			0 runlock a
			1 lock b
			1 rlock a
			1 runlock a
			1 unlock b`},
		{name: "the second goroutine is started behind the first's sections", trace: `
			0 lock a
			0 lock b
			0 unlock b
			0 unlock a
			0 go 1
			1 lock b
			1 lock a
			1 unlock a
			1 unlock b`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := Predict(trace(t, test.trace))
			if !slices.Equal(r.Races, test.races) || !slices.Equal(r.Deadlocks, test.deadlocks) {
				t.Errorf("races %v, deadlocks %v, want %v and %v", r.Races, r.Deadlocks, test.races, test.deadlocks)
			}
		})
	}
}

var (
	traces = flag.Int("traces", 20_000, "random traces that TestPredictIsSound tries")
	first  = flag.Int("first", 0, "seed of the first of them, for portions")
)

// Nothing is predicted that no correct reordering shows: random traces against all their
// correct reorderings, sync-preserving or not.
func TestPredictIsSound(t *testing.T) {
	predicted, shown := 0, 0
	for seed := *first; seed < *first+*traces; seed++ {
		events := randomTrace(rand.New(rand.NewPCG(uint64(seed), 1)))
		r := Predict(events)
		all := reorder(events)
		shown += len(all.races) + len(all.deadlocks)
		for _, race := range r.Races {
			predicted++
			if !all.races[race] {
				t.Fatalf("seed %d: race %v of no correct reordering of\n%s", seed, race, render(events))
			}
		}
		for _, d := range r.Deadlocks {
			predicted++
			if !all.deadlocks[[2]int{d.First, d.Second}] && !all.deadlocks[[2]int{d.Second, d.First}] {
				t.Fatalf("seed %d: deadlock %v of no correct reordering of\n%s", seed, d, render(events))
			}
		}
	}
	if predicted < *traces/20 {
		t.Errorf("%d predictions of %d traces: the traces are too dull to try anything", predicted, *traces)
	}
	t.Logf("%d traces: %d predicted, none wrong; correct reorderings show %d", *traces, predicted, shown)
}

// randomTrace runs a random program of three goroutines in a random order.
func randomTrace(r *rand.Rand) []Event {
	const goroutines, steps = 3, 6
	var events []Event
	type owner struct {
		writer  int32
		readers []int32
	}
	locks := map[uint64]*owner{1: {writer: -1}, 2: {writer: -1}}
	writes := map[uint64]int32{}
	started := [goroutines]bool{true, r.IntN(2) == 0, r.IntN(2) == 0}
	held := [goroutines][]Event{}
	add := func(e Event) {
		e.PC, e.From, e.Bytes = uint64(len(events)+1), -1, 1
		if e.Op == Read {
			if w, ok := writes[e.Obj]; ok {
				e.From = w
			}
		}
		if e.Op == Write {
			writes[e.Obj] = int32(len(events))
		}
		events = append(events, e)
	}
	for range goroutines * steps {
		g := int32(r.IntN(goroutines))
		if !started[g] {
			from := int32(r.IntN(goroutines))
			if from != g && started[from] && r.IntN(3) == 0 {
				started[g] = true
				add(Event{G: from, Op: Go, Obj: uint64(g)})
			}
			continue
		}
		obj := uint64(1 + r.IntN(2))
		l := locks[obj]
		switch r.IntN(9) {
		case 0, 1:
			add(Event{G: g, Op: Read, Obj: obj})
		case 2, 3:
			add(Event{G: g, Op: Write, Obj: obj})
		case 4:
			if l.writer < 0 && len(l.readers) == 0 {
				l.writer = g
				held[g] = append(held[g], Event{G: g, Op: Unlock, Obj: obj})
				add(Event{G: g, Op: Lock, Obj: obj})
			}
		case 5:
			if l.writer < 0 && !slices.Contains(l.readers, g) {
				l.readers = append(l.readers, g)
				held[g] = append(held[g], Event{G: g, Op: RUnlock, Obj: obj})
				add(Event{G: g, Op: RLock, Obj: obj})
			}
		case 6, 7:
			if n := len(held[g]); n > 0 {
				u := held[g][n-1]
				held[g] = held[g][:n-1]
				l := locks[u.Obj]
				if u.Op == Unlock {
					l.writer = -1
				} else {
					l.readers = slices.DeleteFunc(l.readers, func(x int32) bool { return x == g })
				}
				add(u)
			}
		case 8:
			add(Event{G: g, Op: []Op{Acquire, Release, Merge, Exchange}[r.IntN(4)], Obj: obj})
		}
	}
	return events
}

// No section is predicted to be split that no correct reordering splits, whatever two accesses of a variable a
// section is made of. What a repetition of the section in another goroutine adds is not tried here.
func TestSplitsAreSound(t *testing.T) {
	predicted, tried := 0, *traces/5 // each takes longer than those of TestPredictIsSound
	for seed := range tried {
		events := randomSections(rand.New(rand.NewPCG(uint64(seed), 2)))
		s := allSplits(events)
		if len(s.found) == 0 {
			continue
		}
		x := reorder(events)
		for _, f := range s.found {
			predicted++
			pair := halves{entry: int32(f.Entry), second: int32(f.Second)}
			again := s.again(pair)
			if !slices.ContainsFunc(x.reached, func(done [3]int) bool {
				in := func(i int) bool { return done[events[i].G] > int(s.index.place[i]) }
				return in(f.Entry) && in(f.Remote) && !in(int(again))
			}) {
				t.Fatalf("seed %d: split %v of no correct reordering of\n%s", seed, f, render(events))
			}
		}
	}
	if predicted < tried/20 {
		t.Errorf("%d predictions of %d traces: the traces are too dull to try anything", predicted, tried)
	}
	t.Logf("%d traces: %d splits predicted, none wrong", tried, predicted)
}

// allSplits predicts splits of every two accesses of a variable that a goroutine makes one after the other.
func allSplits(events []Event) *splitter {
	s := &splitter{predictor: newPredictor(events),
		places: map[uint64]Place{}, accesses: map[uint64][]int32{}, done: map[int]bool{}}
	type thread struct {
		g   int32
		obj uint64
	}
	last := map[thread]int32{}
	var pairs []halves
	for i, e := range events {
		s.places[e.PC] = Place{Line: i + 1}
		if !e.access() {
			continue
		}
		s.accesses[e.Obj] = append(s.accesses[e.Obj], int32(i))
		if entry, ok := last[thread{e.G, e.Obj}]; ok {
			pairs = append(pairs, halves{section: len(pairs), entry: entry, second: int32(i)})
		}
		last[thread{e.G, e.Obj}] = int32(i)
	}
	s.all = make([]Section, len(pairs))
	for i := range s.all {
		s.all[i].Ends = make([]End, 1)
	}
	for _, pair := range pairs {
		s.try(pair)
	}
	return s
}

// randomSections runs three goroutines in a random order, most of whose steps are critical sections with accesses.
func randomSections(r *rand.Rand) (events []Event) {
	var todo [3][]Event
	for g := range todo {
		for range 3 {
			obj, lock := uint64(1+r.IntN(2)), uint64(1+r.IntN(2))
			access := Event{Op: Op(r.IntN(2)), Obj: obj}
			if r.IntN(4) == 0 {
				todo[g] = append(todo[g], Event{Op: []Op{Acquire, Release, Merge, Exchange}[r.IntN(4)], Obj: obj}, access)
				continue
			}
			todo[g] = append(todo[g], Event{Op: Lock, Obj: lock}, access, Event{Op: Unlock, Obj: lock})
		}
	}
	holder, writes := map[uint64]int{}, map[uint64]int32{}
	for len(todo[0])+len(todo[1])+len(todo[2]) > 0 {
		g := r.IntN(len(todo))
		if len(todo[g]) == 0 || todo[g][0].Op == Lock && holder[todo[g][0].Obj] != 0 {
			continue
		}
		e := todo[g][0]
		todo[g] = todo[g][1:]
		e.G, e.PC, e.From, e.Bytes = int32(g), uint64(len(events)+1), -1, 1
		switch e.Op {
		case Lock:
			holder[e.Obj] = g + 1
		case Unlock:
			delete(holder, e.Obj)
		case Write:
			writes[e.Obj] = int32(len(events))
		case Read:
			if w, ok := writes[e.Obj]; ok {
				e.From = w
			}
		}
		events = append(events, e)
	}
	return events
}

// reorderings is what the correct reorderings of a trace show.
type reorderings struct {
	races     map[Race]bool
	deadlocks map[[2]int]bool
	reached   [][3]int // how many events of each goroutine there are at some moment of one
}

// reorder tries them all, each state once.
func reorder(events []Event) *reorderings {
	if len(events) > 64 {
		panic("a set holds no more than 64 events")
	}
	x := &explorer{events: events, seen: map[state]bool{}, all: &reorderings{map[Race]bool{}, map[[2]int]bool{}, nil}}
	started := map[int32]bool{}
	for i, e := range events {
		x.by[e.G] = append(x.by[e.G], i)
		if e.Op == Go {
			started[int32(e.Obj)] = true
		}
	}
	x.released = released(events)
	s := state{}
	for g := range s.running {
		s.running[g] = !started[int32(g)]
	}
	x.visit(s)
	return x.all
}

// released returns which releases each acquisition of the trace sees.
func released(events []Event) map[int]set {
	at, sees := map[uint64]set{}, map[int]set{}
	for i, e := range events {
		if e.Op == Acquire || e.Op == Exchange {
			sees[i] = at[e.Obj]
		}
		switch e.Op {
		case Release, Exchange:
			at[e.Obj] = setOf(i)
		case Merge:
			at[e.Obj] |= setOf(i)
		}
	}
	return sees
}

// set is a set of events, by number.
type set uint64

func setOf(event int) set { return 1 << event }

// state is a moment of a reordering, small and comparable: a test visits millions. Variables and locks have the
// numbers 1 and 2.
type state struct {
	done     [3]int
	running  [3]bool
	writes   [3]int // last write of each variable, plus 1
	owner    [3]set // acquisitions that hold each lock
	released [3]set
}

type explorer struct {
	events   []Event
	by       [3][]int
	released map[int]set
	seen     map[state]bool
	all      *reorderings
}

func (x *explorer) visit(s state) {
	if x.seen[s] {
		return
	}
	x.seen[s] = true
	x.all.reached = append(x.all.reached, s.done)
	x.note(&s)
	for g := range s.done {
		if i := x.next(&s, g); i >= 0 && x.enabled(&s, i) {
			x.visit(x.step(s, i))
		}
	}
}

func (x *explorer) next(s *state, g int) int {
	if !s.running[g] || s.done[g] == len(x.by[g]) {
		return -1
	}
	return x.by[g][s.done[g]]
}

// note notes what the next steps of two goroutines show.
func (x *explorer) note(s *state) {
	for g := range s.done {
		for h := range g {
			i, j := x.next(s, g), x.next(s, h)
			if i < 0 || j < 0 {
				continue
			}
			a, b := &x.events[i], &x.events[j]
			if a.access() && b.access() && a.Obj == b.Obj && a.conflicts(b) {
				x.all.races[Race{min(i, j), max(i, j)}] = true
			}
			if x.heldBy(s, i, h) && x.heldBy(s, j, g) {
				x.all.deadlocks[[2]int{min(i, j), max(i, j)}] = true
			}
		}
	}
}

// heldBy reports whether acquisition i waits for goroutine g.
func (x *explorer) heldBy(s *state, i, g int) bool {
	e := &x.events[i]
	if e.Op != Lock && e.Op != RLock {
		return false
	}
	return x.contains(s.owner[e.Obj], func(a *Event) bool {
		return int(a.G) == g && (e.Op == Lock || a.Op == Lock)
	})
}

// contains reports whether an event of the set is as asked for.
func (x *explorer) contains(events set, is func(*Event) bool) bool {
	for ; events != 0; events &= events - 1 {
		if is(&x.events[bits.TrailingZeros64(uint64(events))]) {
			return true
		}
	}
	return false
}

func (x *explorer) enabled(s *state, i int) bool {
	switch e := &x.events[i]; e.Op {
	case Read:
		return s.writes[e.Obj] == int(e.From)+1
	case Lock:
		return s.owner[e.Obj] == 0
	case RLock:
		return !x.contains(s.owner[e.Obj], func(a *Event) bool { return a.Op == Lock })
	case Acquire, Exchange:
		return s.released[e.Obj] == x.released[i]
	}
	return true
}

func (x *explorer) step(s state, i int) state {
	e := &x.events[i]
	s.done[e.G]++
	switch e.Op {
	case Write:
		s.writes[e.Obj] = i + 1
	case Lock, RLock:
		s.owner[e.Obj] |= setOf(i)
	case Unlock, RUnlock:
		for _, a := range x.by[e.G] {
			s.owner[e.Obj] &^= setOf(a)
		}
	case Release, Exchange:
		s.released[e.Obj] = setOf(i)
	case Merge:
		s.released[e.Obj] |= setOf(i)
	case Go:
		s.running[e.Obj] = true
	}
	return s
}

func render(events []Event) string {
	var b strings.Builder
	for i, e := range events {
		fmt.Fprintf(&b, "%d: %d op %d obj %d from %d\n", i, e.G, e.Op, e.Obj, e.From)
	}
	return b.String()
}

// Decode takes any file without a panic, and has no event need a later one.
func FuzzDecode(f *testing.F) {
	head, _ := Head()
	file := slices.Clone(head)
	for i := range uint64(14) {
		for _, word := range []uint64{0xc000000000 + i*8, 0x400000, (i%2+1)<<40 | i<<8 | 1, (i%3+1)<<40 | i<<8 | traced | i} {
			file = binary.NativeEndian.AppendUint64(file, word)
		}
		binary.NativeEndian.PutUint64(file[16:], i+1)
		f.Add(slices.Clone(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		trace, err := Decode(file)
		if err != nil {
			return
		}
		for i, e := range trace.Events {
			if e.G < 0 || int(e.From) >= i {
				t.Fatalf("event %d: %+v", i, e)
			}
		}
		Predict(trace.Events)
	})
}

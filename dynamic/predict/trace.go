package predict

// Op is the operation of an event.
type Op uint8

const (
	Read     Op = iota // of variable Obj; sees the write From
	Write              // of variable Obj
	Lock               // of lock Obj, to write
	Unlock             //
	RLock              // of lock Obj, to read
	RUnlock            //
	Acquire            // learns all that was released at Obj
	Release            // puts the knowledge of its goroutine in the place of the one that was released at Obj
	Merge              // adds it
	Exchange           // is Acquire and Release in one
	Go                 // starts goroutine Obj
)

// Event is a step of a goroutine. The events of a trace are in the order in which they
// happened, as far as they have anything to do with each other.
type Event struct {
	Obj    uint64 // variable, lock, or where something was released; each kind has numbers of its own
	PC     uint64 // where the program goes on behind it
	G      int32  // goroutine, from 0
	From   int32  // Read: index of the last event of the writing goroutine up to the write that it sees; -1: none
	Frame  uint32 // calling context
	Op     Op
	Atomic bool  // Read, Write: made by sync/atomic
	Bytes  uint8 // Read, Write: bit i for byte i of the eight that Obj is
}

func (e *Event) access() bool { return e.Op == Read || e.Op == Write }

// conflicts reports whether the accesses e and f race where nothing orders them.
func (e *Event) conflicts(f *Event) bool {
	return (e.Op == Write || f.Op == Write) && !(e.Atomic && f.Atomic) && e.Bytes&f.Bytes != 0 && e.G != f.G
}

// clock holds how many events of each goroutine are in a set that has, with each
// of them, all that come before it in its goroutine.
type clock []int32

func (c clock) clone() clock { return append(clock(nil), c...) }

// join adds d to c, and reports whether that changed c.
func (c clock) join(d clock) (changed bool) {
	for i, n := range d {
		if n > c[i] {
			c[i], changed = n, true
		}
	}
	return changed
}

// section is a critical section: indices of events, released is -1 where the trace has no end of it.
type section struct {
	acquired, released int32
	read               bool
	lastWrite          int32 // that, or the last section before it in its goroutine, that writes; -1: none
}

// index is a trace with the needs of each event: the events that come before it in each
// correct reordering that has it.
type index struct {
	events []Event
	place  []int32 // of an event in its goroutine
	before []int32 // number of a snapshot: the knowledge of the event's goroutine when it was the next to happen
	after  []int32 // the same, with the needs of the event itself
	known  []clock // the snapshots, which hold nothing of the goroutine itself
	locks  []lock
	held   map[int32][]int32 // of an acquisition: those of the sections that its goroutine is in
}

// lock holds the critical sections of a lock, by goroutine, as they were entered.
type lock struct {
	obj uint64
	of  map[int32][]section
}

// newIndex reads the trace once. It takes time and memory in proportion to the events, and
// to the goroutines for each event that brings its goroutine news of others.
func newIndex(events []Event) *index {
	b := builder{
		index:    index{events: events, held: map[int32][]int32{}},
		released: map[uint64]clock{},
		locks:    map[uint64]*lockState{},
	}
	for i := range events {
		b.goroutines = max(b.goroutines, int(events[i].G)+1)
		if events[i].Op == Go {
			b.goroutines = max(b.goroutines, int(events[i].Obj)+1)
		}
	}
	b.known = []clock{make(clock, b.goroutines)}
	b.latest, b.next = make([]int32, b.goroutines), make([]int32, b.goroutines)
	b.open = make([][]int32, b.goroutines)
	for i := range events {
		b.add(int32(i))
	}
	for _, obj := range b.order {
		if s := b.locks[obj]; len(s.of) > 1 {
			b.index.locks = append(b.index.locks, lock{obj, s.of})
		}
	}
	return &b.index
}

// builder makes an index.
type builder struct {
	index
	goroutines int
	latest     []int32 // of a goroutine: the number of its last snapshot
	next       []int32 // of a goroutine: how many events it has had
	open       [][]int32
	released   map[uint64]clock // by Obj
	locks      map[uint64]*lockState
	order      []uint64 // locks as they come first
}

// lockState is a lock at one moment of the trace.
type lockState struct {
	of      map[int32][]section
	foreign clock // of unlocks by another goroutine than that which has locked; nil: none
}

// add adds event i, which is the next.
func (b *builder) add(i int32) {
	e := &b.events[i]
	b.place = append(b.place, b.next[e.G])
	b.before = append(b.before, b.latest[e.G])
	b.next[e.G]++
	switch e.Op {
	case Read:
		if e.From >= 0 && b.events[e.From].G != e.G {
			b.learn(e.G, b.including(e.From))
		}
	case Acquire:
		b.learn(e.G, b.released[e.Obj])
	case Release:
		b.released[e.Obj] = b.now(e.G)
	case Merge:
		b.merge(e)
	case Exchange:
		b.learn(e.G, b.released[e.Obj])
		b.released[e.Obj] = b.now(e.G)
	case Go:
		b.learn(int32(e.Obj), b.now(e.G))
	case Lock, RLock:
		b.enter(i)
	case Unlock, RUnlock:
		b.leave(i)
	}
	b.after = append(b.after, b.latest[e.G])
}

// learn adds c to the knowledge of goroutine g.
func (b *builder) learn(g int32, c clock) {
	if c == nil {
		return
	}
	sum := b.known[b.latest[g]].clone()
	sum[g] = c[g] // its knowledge of itself is no news
	if sum.join(c) {
		sum[g] = 0
		b.latest[g] = int32(len(b.known))
		b.known = append(b.known, sum)
	}
}

// now returns all that goroutine g has done and knows.
func (b *builder) now(g int32) clock {
	c := b.known[b.latest[g]].clone()
	c[g] = b.next[g]
	return c
}

func (b *builder) merge(e *Event) {
	c := b.now(e.G)
	c.join(b.released[e.Obj])
	b.released[e.Obj] = c
}

// enter begins a critical section.
func (b *builder) enter(i int32) {
	e := &b.events[i]
	s := b.locks[e.Obj]
	if s == nil {
		s = &lockState{of: map[int32][]section{}}
		b.locks[e.Obj] = s
		b.order = append(b.order, e.Obj)
	}
	if s.foreign != nil {
		b.learn(e.G, s.foreign)
	}
	if len(b.open[e.G]) > 0 {
		b.held[i] = append([]int32(nil), b.open[e.G]...)
	}
	b.open[e.G] = append(b.open[e.G], i)
	sec := section{acquired: i, released: -1, read: e.Op == RLock, lastWrite: i}
	if list := s.of[e.G]; sec.read {
		sec.lastWrite = -1
		if len(list) > 0 {
			sec.lastWrite = list[len(list)-1].lastWrite
		}
	}
	s.of[e.G] = append(s.of[e.G], sec)
}

// leave ends the last critical section of the lock that is open, in its own goroutine if
// it can be. The next goroutine knows of an unlock that another goroutine has made.
func (b *builder) leave(i int32) {
	e := &b.events[i]
	s := b.locks[e.Obj]
	if s == nil {
		return // the trace begins inside
	}
	read := e.Op == RUnlock
	g := e.G
	sec := lastOpen(s.of[g], read)
	for other := int32(0); sec == nil && other < int32(b.goroutines); other++ {
		g, sec = other, lastOpen(s.of[other], read)
	}
	if sec == nil {
		return
	}
	sec.released = i
	for k, a := range b.open[g] {
		if a == sec.acquired {
			b.open[g] = append(b.open[g][:k:k], b.open[g][k+1:]...)
			break
		}
	}
	if g != e.G {
		c := b.now(e.G)
		c.join(s.foreign)
		s.foreign = c
	}
}

func lastOpen(list []section, read bool) *section {
	for k := len(list) - 1; k >= 0; k-- {
		if s := &list[k]; s.read == read && s.released < 0 {
			return s
		}
	}
	return nil
}

// including returns event i and all that it needs.
func (x *index) including(i int32) clock {
	c := x.known[x.after[i]].clone()
	c[x.events[i].G] = x.place[i] + 1
	return c
}

// preceding returns the events that event i needs to be the next.
func (x *index) preceding(i int32) clock {
	c := x.known[x.before[i]].clone()
	c[x.events[i].G] = x.place[i]
	return c
}

// in reports whether event i is in the set.
func (x *index) in(c clock, i int32) bool { return c[x.events[i].G] > x.place[i] }

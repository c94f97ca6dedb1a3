package simulation

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// state is one moment of the scope. A part with its stamp may be changed in
// place; all else is shared with other states.
type state struct {
	stamp int
	clock *int // the last stamp
	gs    []*goroutine
	objs  []*object
	facts []fact
	// failed: the test has failed by a check of its own goroutine, or is guessed
	// to; failing: by a check of another one.
	failed, failing bool
	// over: the process has ended.
	over bool
	// crash is how it has, if by a panic that closing or sending has raised.
	crash *Crash
	// clouded: steps of others may be ordered by code that is not simulated.
	clouded bool
	now     int // counts the operations that order goroutines
	// ready are goroutines that are between operations.
	ready []int
}

type status uint8

const (
	running status = iota
	waiting        // at an operation
	ended
)

// goroutine is a stack of frames.
type goroutine struct {
	stamp  int
	status status
	frames []*frame // the innermost last
	op     op
	start  ssa.Instruction // the go statement; nil for the first one
	end    ssa.Instruction // where it has ended
	fatal  bool            // ended by FailNow and the like
	open   []touch         // its last accesses
	// As state.now counts: when it was started, by which goroutine, and until when releases of others
	// may come before it.
	starter, born, acquired int
}

// frame is a call that has not returned.
type frame struct {
	stamp  int
	num    int // of the call, among all of the simulation
	fn     *ssa.Function
	block  *ssa.BasicBlock
	pc     int
	regs   []value
	defers []deferred
	// site is the call in the frame below; nil if the frame below was not calling, but runs
	// its deferred calls.
	site ssa.CallInstruction
	// leaving: the frame runs its deferred calls and is then left, too.
	leaving leaving
	// after is the step that follows when the frame is left.
	after hook
	// printed counts the arguments of the call at hand that package fmt has asked for their text.
	printed int
	// forks counts the branches of which both ways were taken.
	forks map[*ssa.BasicBlock]int
}

// hook marks a Once as done, or counts a WaitGroup down.
type hook struct {
	on    value
	count bool
}

type leaving uint8

const (
	staying leaving = iota
	exiting
	panicking
	recovered
)

// deferred is a deferred call, or one to be made.
type deferred struct {
	call ssa.CallInstruction
	fn   value
	args []value
}

// copyState returns a copy; both may be changed.
func (st *state) copyState() *state {
	c := *st
	c.gs, c.objs, c.ready = slices.Clone(st.gs), slices.Clone(st.objs), slices.Clone(st.ready)
	*st.clock += 2
	st.stamp, c.stamp = *st.clock-1, *st.clock
	return &c
}

// isCrowd reports whether more goroutines have been started than are followed through all interleavings.
func (st *state) isCrowd() bool { return len(st.gs) > maxGoroutines }

// editGoroutine returns goroutine g for changes.
func (st *state) editGoroutine(g int) *goroutine {
	if p := st.gs[g]; p.stamp != st.stamp {
		c := *p
		c.stamp = st.stamp
		c.frames = slices.Clone(p.frames)
		st.gs[g] = &c
	}
	return st.gs[g]
}

// topFrame returns the innermost frame of g for changes.
func (st *state) topFrame(g int) *frame {
	gr := st.editGoroutine(g)
	i := len(gr.frames) - 1
	if f := gr.frames[i]; f.stamp != st.stamp {
		c := *f
		c.stamp = st.stamp
		c.regs = slices.Clone(f.regs)
		c.defers = slices.Clone(f.defers)
		gr.frames[i] = &c
	}
	return gr.frames[i]
}

// values lists the values on the stack of the goroutine.
func (g *goroutine) values(visit func(value)) {
	for _, f := range g.frames {
		for _, v := range f.regs {
			visit(v)
		}
		for _, d := range f.defers {
			visit(d.fn)
			for _, v := range d.args {
				visit(v)
			}
		}
		visit(f.after.on)
	}
}

// hash identifies the further steps of the state.
type hash uint64

func (h *hash) addNumber(n uint64) {
	x := uint64(*h) ^ n
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	*h = hash(x ^ x>>32)
}

func (h *hash) addValue(v value) {
	h.addNumber(uint64(v.kind)<<56 ^ uint64(v.n))
	if v.ref != nil {
		h.addNumber(uint64(v.ref.id))
	}
}

func (m *machine) hashState(st *state) hash {
	h := hash(1)
	for i, g := range st.gs {
		h.addNumber(uint64(i)<<8 | uint64(g.status))
		for _, f := range g.frames {
			m.hashFrame(&h, f)
		}
		h.addNumber(uint64(g.op.phase) + 7)
	}
	for i, o := range st.objs {
		if o != nil {
			h.addNumber(uint64(i))
			h.object(o)
		}
	}
	for _, f := range st.facts {
		h.addNumber(uint64(f.ref.id))
		h.addNumber(uint64(f.lo))
		h.addNumber(uint64(f.hi))
	}
	h.addNumber(uint64(truthValue(st.over).n<<2 | truthValue(st.failed).n<<1 | truthValue(st.failing).n))
	return h
}

// extent is about the cost of comparing a state with others, in steps.
func (m *machine) extent(st *state) int {
	n := len(st.objs) + len(st.facts)
	for _, g := range st.gs {
		for _, f := range g.frames {
			n += len(f.regs)
		}
	}
	for _, o := range st.objs {
		if o != nil {
			n += len(o.cells) + len(o.pairs)
		}
	}
	return n / 4
}

func (m *machine) hashFrame(h *hash, f *frame) {
	h.addNumber(uint64(m.layout(f.fn).id)<<32 | uint64(f.block.Index)<<16 | uint64(f.pc))
	h.addNumber(uint64(f.leaving)<<8 | uint64(f.printed))
	for _, v := range f.regs {
		h.addValue(v)
	}
	for _, d := range f.defers {
		h.addValue(d.fn)
		h.addNumber(uint64(d.call.Pos()))
		for _, v := range d.args {
			h.addValue(v)
		}
	}
}

func (h *hash) object(o *object) {
	h.addNumber(uint64(truthValue(o.escaped).n))
	var sum hash // of maps, in no order
	for p, v := range o.cells {
		c := hash(placeID(p))
		c.addValue(v)
		sum += c
	}
	for p, l := range o.syncs {
		c := hash(placeID(p) + 1<<40)
		c.addNumber(uint64(l.writer.g)<<32 | uint64(l.waiting)<<16 | uint64(l.count))
		for _, r := range l.readers {
			c.addNumber(uint64(r.g))
		}
		for _, w := range l.waiters {
			c.addNumber(uint64(w))
		}
		sum += c
	}
	h.addNumber(uint64(sum))
	for _, p := range o.pairs {
		h.addValue(p.key)
		h.addValue(p.val)
	}
	if c := o.ch; c != nil {
		h.addNumber(uint64(truthValue(c.closed).n)<<1 | uint64(truthValue(c.fires).n))
		for _, v := range c.buf {
			h.addValue(v)
		}
	}
}

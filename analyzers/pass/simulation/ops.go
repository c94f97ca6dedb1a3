package simulation

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/syncapi"
)

// Kind is the kind of an operation that may wait, or that others wait for.
type Kind uint8

const (
	_ Kind = iota
	opSend
	opReceive
	opSelect
	opClose
	opLock
	opRLock
	opAdd
	opWait
	opCondWait
	opSignal
	opBroadcast
	opOnce
)

// op is the operation that a goroutine is at.
type op struct {
	kind   Kind
	instr  ssa.Instruction
	call   deferred
	inLine bool
	// cases are those of a select, or the one of a channel operation.
	cases    []chanCase
	blocking bool
	commaOk  bool
	phase    phase
	on       value // the lock, WaitGroup, Cond or Once
}

type phase uint8

const (
	arriving  phase = iota
	queued          // a writer that keeps readers out; a Cond that waits for a signal
	signalled       // a Cond that waits for its lock
)

type chanCase struct {
	send    bool
	ch, val value
	elem    types.Type
}

const onceRunning, onceDone = 1, 2

// atLock stops at an operation on a lock and the like.
func atLock(k Kind) model {
	return func(m *machine, st *state, g int, d deferred, inLine bool) bool {
		on := nilValue
		if len(d.args) > 0 {
			on = d.args[0]
		}
		return m.waitFor(st, g, op{kind: k, instr: d.call, call: d, inLine: inLine, on: on})
	}
}

func (m *machine) waitFor(st *state, g int, o op) bool {
	gr := st.editGoroutine(g)
	gr.status, gr.op = waiting, o
	return true
}

// atOnce carries out an operation that can only let others go on: where it
// comes among theirs makes no difference, so it is no stop.
func atOnce(change func(m *machine, st *state, g int, l *lockState) bool) model {
	return func(m *machine, st *state, g int, d deferred, inLine bool) bool {
		ok := true
		st.release(g)
		if !m.editLock(st, d.args[0], func(l *lockState) { ok = change(m, st, g, l) }) || !ok {
			return m.dropState()
		}
		return m.finish(st, g, d, inLine, nilValue)
	}
}

// editLock changes the state of the lock at v.
func (m *machine) editLock(st *state, v value, change func(*lockState)) bool {
	id, p, ok := m.target(st, v)
	if !ok {
		return false
	}
	o := st.editObject(id)
	l := o.syncs[p]
	l.readers, l.waiters = slices.Clone(l.readers), slices.Clone(l.waiters)
	change(&l)
	if o.syncs == nil {
		o.syncs = map[*ref]lockState{}
	}
	o.syncs[p] = l
	return true
}

func (m *machine) lockAt(st *state, v value) (l lockState, foreign bool) {
	id, p, ok := m.target(st, v)
	if !ok {
		return lockState{}, true
	}
	return st.objs[id].syncs[p], st.objs[id].escaped
}

// holdLock is goroutine g, which takes a lock at an instruction of its innermost function.
func (m *machine) holdLock(st *state, g int, at ssa.Instruction) hold {
	h := hold{g: g + 1, at: at}
	for _, f := range st.gs[g].frames {
		if f.fn.Synthetic == "" { // the method of an embedded lock is called by one that the compiler has made
			h.call = f.num
		}
	}
	return h
}

// unlock releases a lock that the scope holds; others may hold one from outside.
func unlock(m *machine, st *state, g int, l *lockState) bool {
	l.writer = hold{}
	return true
}

func runlock(m *machine, st *state, g int, l *lockState) bool {
	if len(l.readers) > 0 {
		// Calls nest, so a goroutine releases the lock that it has acquired last.
		last := len(l.readers) - 1
		for i := last; i >= 0; i-- {
			if l.readers[i].g == g+1 {
				last = i
				break
			}
		}
		l.readers = slices.Delete(l.readers, last, last+1)
	}
	return true
}

func tryLock(read bool) model {
	return func(m *machine, st *state, g int, d deferred, inLine bool) bool {
		result := no
		st.synchronise(g)
		m.editLock(st, d.args[0], func(l *lockState) {
			switch {
			case l.writer.g != 0 || !read && len(l.readers) > 0:
			case read:
				l.readers = append(l.readers, m.holdLock(st, g, d.call))
				result = yes
			default:
				l.writer = m.holdLock(st, g, d.call)
				result = yes
			}
		})
		return m.finish(st, g, d, inLine, result)
	}
}

func addDone(m *machine, st *state, g int, l *lockState) bool {
	l.count--
	return true
}

// addToWaitGroup counts a WaitGroup up, which is a stop, or down.
func addToWaitGroup(m *machine, st *state, g int, d deferred, inLine bool) bool {
	n := d.args[1]
	if n.kind == symbol && inLine {
		n = m.choose(st, g, n)
		d.args = []value{d.args[0], n}
	}
	if n.kind != number {
		return m.dropState()
	}
	if n.n < 0 {
		lower := func(_ *machine, _ *state, _ int, l *lockState) bool { l.count += n.n; return true }
		return atOnce(lower)(m, st, g, d, inLine)
	}
	return atLock(opAdd)(m, st, g, d, inLine)
}

// choose decides how large an unknown number is: the other choices execute the
// instruction at hand again.
func (m *machine) choose(st *state, g int, v value) value {
	f := st.factOf(v.ref)
	if f.lo == f.hi {
		return numberValue(f.lo)
	}
	low, high := max(f.lo, 0), min(f.hi, maxElements)
	if low > high {
		return v
	}
	st.failed = st.failed || m.test
	for n := low; n < high; n++ {
		other := st.copyState()
		other.addFact(fact{v.ref, n, n})
		other.ready = append(other.ready, g)
		m.forked = append(m.forked, other)
	}
	st.addFact(fact{v.ref, high, high})
	return numberValue(high)
}

// goCounted is the method Go of a WaitGroup.
func goCounted(m *machine, st *state, g int, d deferred, inLine bool) bool {
	m.editLock(st, d.args[0], func(l *lockState) { l.count++ })
	return m.finish(st, g, d, inLine, nilValue) &&
		m.startGoroutine(st, g, d.call, d.args[1], nil, hook{on: d.args[0], count: true})
}

// listMoves lists the possible next steps: for each, the states that it leads to.
func (m *machine) listMoves(st *state) []move {
	if st.over {
		return nil
	}
	var all []move
	for g, gr := range st.gs {
		if gr.status != waiting {
			continue
		}
		switch gr.op.kind {
		case opSend, opReceive, opSelect:
			all = append(all, m.channelMoves(st, g, gr.op)...)
		case opClose:
			all = append(all, move{g, -1, m.closeChannel})
		default:
			if do := m.lockMove(st, g, gr.op); do != nil {
				all = append(all, move{g, -1, do})
			}
		}
	}
	return all
}

// move is a step of one goroutine, or of two that meet at a channel.
type move struct {
	g, with int
	do      func(st *state, g int) bool
}

// lockMove returns the move of a goroutine at a lock and the like; nil if it has to wait.
func (m *machine) lockMove(st *state, g int, o op) func(*state, int) bool {
	l, foreign := m.lockAt(st, o.on)
	left := foreign && m.othersRelease(st, g, o.on, l.writer)
	if left {
		l.writer = hold{}
	}
	switch o.kind {
	// Locks: a writer that waits for readers keeps new ones out.
	case opLock:
		if l.writer.g == 0 && len(l.readers) == 0 {
			return helped(left, m.takeLock)
		}
		if o.phase == arriving && len(l.readers) > 0 {
			return m.queueWriter
		}
	case opRLock:
		if l.writer.g == 0 && l.waiting == 0 {
			return helped(left, m.takeRLock)
		}
	// WaitGroups, Conds and Onces.
	case opAdd:
		return m.addOne
	case opWait:
		if l.count <= 0 || foreign {
			return helped(l.count > 0, m.passUnblocked)
		}
	case opCondWait:
		switch {
		case o.phase == arriving:
			return m.enqueue
		case o.phase == queued && foreign:
			return helped(true, m.wakeSelf)
		case o.phase == signalled:
			return m.relock(st, g, o)
		}
	case opSignal, opBroadcast:
		return m.signal
	case opOnce:
		switch l.count {
		case 0:
			return m.runOnce
		case onceDone:
			return m.passUnblocked
		}
	}
	return nil
}

// othersRelease reports whether code that is not simulated releases a lock that it knows and that a goroutine of the
// scope holds: the caller of one that has ended; or the code that was handed the lock and nothing else, which it can
// only release, where g holds the lock itself.
func (m *machine) othersRelease(st *state, g int, lock value, by hold) bool {
	switch {
	case by.g == 0:
		return false
	case st.gs[by.g-1].status == ended:
		return true
	}
	return by.g == g+1 && m.isLockAlone(st, lock)
}

// isLockAlone reports whether v is the address of a lock that is a variable by itself, made by the scope.
func (m *machine) isLockAlone(st *state, v value) bool {
	id, place, ok := m.target(st, v)
	return ok && place == nil && st.objs[id].base.kind == none
}

func (m *machine) passUnblocked(st *state, g int) bool {
	o := st.gs[g].op
	result := nilValue
	if sig := o.call.call.Common().Signature(); sig.Results().Len() > 0 { // Wait of an errgroup
		result = m.freshSymbol(st, g, o.call.call)
	}
	return m.finish(st, g, o.call, o.inLine, result)
}

func (m *machine) takeLock(st *state, g int) bool {
	o := st.gs[g].op
	m.editLock(st, o.on, func(l *lockState) {
		l.writer = m.holdLock(st, g, o.instr)
		if o.phase == queued {
			l.waiting--
		}
	})
	return m.passUnblocked(st, g)
}

func (m *machine) queueWriter(st *state, g int) bool {
	m.editLock(st, st.gs[g].op.on, func(l *lockState) { l.waiting++ })
	st.editGoroutine(g).op.phase = queued
	return true
}

func (m *machine) takeRLock(st *state, g int) bool {
	o := st.gs[g].op
	m.editLock(st, o.on, func(l *lockState) { l.readers = append(l.readers, m.holdLock(st, g, o.instr)) })
	return m.passUnblocked(st, g)
}

func (m *machine) addOne(st *state, g int) bool {
	o := st.gs[g].op
	m.editLock(st, o.on, func(l *lockState) { l.count += o.call.args[1].n })
	return m.passUnblocked(st, g)
}

// locker returns the lock of a Cond; not ok where it is not one of the scope.
func (m *machine) locker(st *state, cond value) (lock value, ok bool) {
	id, p, ok := m.target(st, cond)
	if !ok {
		return value{}, false
	}
	l := m.loadPlace(st, id, m.in.internPlace(p, condL), types.Typ[types.UntypedNil])
	if l.kind != boxed {
		return value{}, false
	}
	lock, typ := l.ref.vals[0], l.ref.at.(types.Type)
	if ptr, ok := typ.(*types.Pointer); ok {
		if strings.HasPrefix(syncapi.Type(ptr.Elem()), "sync.") {
			return lock, lock.kind == address
		}
	}
	// It may be embedded in the object that the Cond was made with: sync.NewCond(&s), where s.Lock is that of s.Mutex.
	sel := types.NewMethodSet(typ).Lookup(nil, "Lock")
	if sel == nil || sel.Obj().Pkg().Path() != "sync" {
		return value{}, false
	}
	_, lock = m.method(st, lock, typ, sel.Obj().(*types.Func))
	return lock, lock.kind == address
}

// enqueue has a goroutine wait for a signal, without the lock.
func (m *machine) enqueue(st *state, g int) bool {
	o := st.gs[g].op
	lock, ok := m.locker(st, o.on)
	if !ok {
		m.escape(st, o.on)
		st.forgetMemory()
		return m.passUnblocked(st, g)
	}
	st.release(g)
	m.editLock(st, lock, func(l *lockState) { l.writer = hold{} })
	m.editLock(st, o.on, func(l *lockState) { l.waiters = append(l.waiters, g) })
	st.editGoroutine(g).op.phase = queued
	return true
}

// wakeSelf is a signal from outside, by code that has changed something.
func (m *machine) wakeSelf(st *state, g int) bool {
	st.forgetMemory()
	st.editGoroutine(g).op.phase = signalled
	return true
}

// relock takes the lock of a Cond again.
func (m *machine) relock(st *state, g int, o op) func(*state, int) bool {
	lock, _ := m.locker(st, o.on)
	l, _ := m.lockAt(st, lock)
	if l.writer.g != 0 {
		return nil
	}
	return func(st *state, g int) bool {
		m.editLock(st, lock, func(l *lockState) { l.writer = m.holdLock(st, g, o.instr) })
		return m.passUnblocked(st, g)
	}
}

// signal wakes the first goroutine in Wait, or all.
func (m *machine) signal(st *state, g int) bool {
	o := st.gs[g].op
	var woken []int
	m.editLock(st, o.on, func(l *lockState) {
		n := len(l.waiters)
		if o.kind == opSignal {
			n = min(n, 1)
		}
		woken, l.waiters = l.waiters[:n], l.waiters[n:]
	})
	for _, w := range woken {
		st.editGoroutine(w).op.phase = signalled
	}
	return m.passUnblocked(st, g)
}

// runOnce calls the function of a Once.
func (m *machine) runOnce(st *state, g int) bool {
	o := st.gs[g].op
	st.synchronise(g)
	m.editLock(st, o.on, func(l *lockState) { l.count = onceRunning })
	gr := st.editGoroutine(g)
	depth := len(gr.frames)
	gr.status, gr.op = running, op{}
	st.ready = append(st.ready, g)
	d := deferred{o.call.call, o.call.args[1], nil}
	if !m.startCall(st, g, d, o.inLine) {
		return false
	}
	if len(st.gs[g].frames) > depth {
		st.topFrame(g).after = hook{on: o.on}
		return true
	}
	m.runHook(st, g, hook{on: o.on})
	return true
}

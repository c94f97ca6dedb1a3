package simulation

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Bounds of the simulation. A larger scope is cut, and no end is
// reported from which something left out could lead on.
const (
	maxDepth      = 12     // calls within each other
	maxGoroutines = 9      // with the first one; more of them, a crowd, go one way only
	maxCrowd      = 128    // goroutines in a crowd
	maxAlike      = 12     // objects that one instruction makes and that are in use, except in a crowd
	maxElements   = 2      // of a list of unknown length
	maxForks      = 3      // decisions at one branch of a call
	maxLength     = 64     // of slices and maps of known size
	perStep       = 16     // objects and facts that are passed over at the cost of a step
	maxPlain      = 20_000 // instructions between two operations
	maxQuiet      = 400    // instructions of a branch that is jumped over
	shortFunction = 40     // instructions of a function that is run, whatever it does
)

// machine runs one scope.
type machine struct {
	pkg     *ssa.Package
	root    *ssa.Function
	test    bool // the root is a test
	shallow bool // as in Scope
	racing  bool // accesses are compared
	races   []Race
	late    []Late
	in      interner
	ids     map[objectKey]int64
	errors  map[*ssa.Global]bool // see isErrorVariable
	layouts *Layouts
	left    int                    // steps
	touched map[*ssa.Function]bool // see Result
	relied  map[*ssa.Function]bool // those of touched that were passed over
	// asked takes the functions that isQuiet is asked about, while an answer is worked out; nil otherwise.
	asked *[]*ssa.Function
	// truncated: something was left out of the moves at hand.
	truncated bool
	// forked are states that the one at hand leads to besides.
	forked []*state
	frames int // so many have been made
}

// Layouts is the data that a package's functions have in common for all scopes.
type Layouts struct {
	of    map[*ssa.Function]*layout
	quiet map[*ssa.Function]bool
	joins map[*ssa.BasicBlock]*ssa.BasicBlock
	// The functions on which the answers in quiet and joins rest.
	quietBy map[*ssa.Function][]*ssa.Function
	joinBy  map[*ssa.BasicBlock][]*ssa.Function
	rounds  map[*ssa.BasicBlock]bool // does control come back to the block before it comes to the one in joins?
	pools   map[*ssa.BasicBlock]bool // does a loop that begins with the block start goroutines?
	loops   map[*ssa.BasicBlock]bool // see repeats
}

// NewLayouts returns an empty memory of a package's functions.
func NewLayouts() *Layouts {
	return &Layouts{of: map[*ssa.Function]*layout{}, quiet: map[*ssa.Function]bool{},
		joins: map[*ssa.BasicBlock]*ssa.BasicBlock{}, rounds: map[*ssa.BasicBlock]bool{},
		quietBy: map[*ssa.Function][]*ssa.Function{},
		joinBy:  map[*ssa.BasicBlock][]*ssa.Function{}, pools: map[*ssa.BasicBlock]bool{},
		loops: map[*ssa.BasicBlock]bool{}}
}

// layout numbers the values of a function. Those that only their own block uses share
// their numbers with those of other blocks.
type layout struct {
	id     int
	size   int
	shared int // numbers from here on
	regs   map[ssa.Value]int
}

func (m *machine) layout(fn *ssa.Function) *layout {
	if l := m.layouts.of[fn]; l != nil {
		return l
	}
	l := &layout{id: len(m.layouts.of), regs: map[ssa.Value]int{}}
	add := func(v ssa.Value) {
		l.regs[v] = l.size
		l.size++
	}
	for _, p := range fn.Params {
		add(p)
	}
	for _, v := range fn.FreeVars {
		add(v)
	}
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			if v, ok := instr.(ssa.Value); ok && !isTemporary(v, b) {
				add(v)
			}
		}
	}
	// Values that live within a block come behind those that do not.
	l.shared = l.size
	for _, b := range fn.Blocks {
		next := l.shared
		for _, instr := range b.Instrs {
			if v, ok := instr.(ssa.Value); ok && isTemporary(v, b) {
				l.regs[v] = next
				next++
			}
		}
		l.size = max(l.size, next)
	}
	m.layouts.of[fn] = l
	return l
}

// isTemporary reports whether v, of block b, is only used in that block, by instructions behind it.
func isTemporary(v ssa.Value, b *ssa.BasicBlock) bool {
	if _, phi := v.(*ssa.Phi); phi {
		return false
	}
	return !slices.ContainsFunc(*v.Referrers(), func(ref ssa.Instruction) bool {
		_, phi := ref.(*ssa.Phi)
		return phi || ref.Block() != b
	})
}

func (m *machine) newFrame(st *state, fn *ssa.Function, args, bound []value) *frame {
	m.touched[fn] = true
	l := m.layout(fn)
	m.frames++
	f := &frame{stamp: st.stamp, num: m.frames, fn: fn, block: fn.Blocks[0], regs: make([]value, l.size)}
	copy(f.regs, args)
	copy(f.regs[len(fn.Params):], bound)
	return f
}

// settle runs all goroutines that are between operations up to their next one,
// and returns the states that this leads to: several, where symbols decide.
func (m *machine) settle(st *state) []*state {
	var settled []*state
	for work := []*state{st}; len(work) > 0; {
		st := work[len(work)-1]
		work = work[:len(work)-1]
		m.forked = nil
		alive := true
		for alive && len(st.ready) > 0 && !st.over {
			g := st.ready[len(st.ready)-1]
			st.ready = st.ready[:len(st.ready)-1]
			for n := 0; alive && st.gs[g].status == running && !st.over; n++ {
				alive = m.spendStep() && m.execInstruction(st, g)
				if n == maxPlain {
					alive = m.dropState()
				}
			}
		}
		work = append(work, m.forked...)
		if alive {
			settled = append(settled, st)
		} else {
			m.truncated = true
		}
	}
	return settled
}

func (m *machine) spendStep() bool {
	m.left--
	if m.left < 0 {
		m.truncated = true
	}
	return m.left >= 0
}

// dropState leaves a state out: the states after it are not known.
func (m *machine) dropState() bool {
	m.truncated = true
	return false
}

// execInstruction executes one instruction of goroutine g, and reports whether the state is still of use.
func (m *machine) execInstruction(st *state, g int) bool {
	f := st.topFrame(g)
	if f.leaving != staying {
		return m.unwind(st, g, f)
	}
	instr := f.block.Instrs[f.pc]
	switch instr := instr.(type) {
	// Within the function, and out of it.
	case *ssa.If:
		return m.branch(st, g, f, instr)
	case *ssa.Jump:
		m.enterBlock(st, f, g, f.block.Succs[0])
		return true
	case *ssa.Return:
		return m.returnFrom(st, g, f, instr)
	case *ssa.RunDefers:
		return m.runDefer(st, g, f)
	case *ssa.Panic:
		f.leaving = panicking
		return true
	// Calls.
	case *ssa.Defer:
		fn, args, ok := m.callee(st, f, instr.Common())
		if !ok {
			return false
		}
		f.defers = append(f.defers, deferred{instr, fn, args})
		f.pc++
		return true
	case *ssa.Go:
		return m.goStatement(st, g, f, instr)
	case *ssa.Call:
		fn, args, ok := m.callee(st, f, instr.Common())
		return ok && m.startCall(st, g, deferred{instr, fn, args}, true)
	// Operations on channels.
	case *ssa.Send, *ssa.Select:
		return m.atChannel(st, g, f, instr)
	case *ssa.UnOp:
		if instr.Op == token.ARROW {
			return m.atChannel(st, g, f, instr)
		}
	}
	return m.execPlain(st, g, f, instr)
}

// enterBlock goes to a block and sets its phis all at once.
func (m *machine) enterBlock(st *state, f *frame, g int, to *ssa.BasicBlock) {
	from := f.block
	f.block, f.pc = to, 0
	clear(f.regs[m.layout(f.fn).shared:])
	edge := -1
	for i, p := range to.Preds {
		if p == from {
			edge = i
		}
	}
	var vals []value
	for _, instr := range to.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		vals = append(vals, m.valueOf(st, f, phi.Edges[edge]))
	}
	for i, v := range vals {
		m.setRegister(f, to.Instrs[i].(*ssa.Phi), v)
	}
	f.pc = len(vals)
}

// branch goes both ways, where both may be; it jumps over code that does not matter.
func (m *machine) branch(st *state, g int, f *frame, instr *ssa.If) bool {
	cond := m.valueOf(st, f, instr.Cond)
	holds, known := st.decided(cond)
	// Some branches are too much: one that does not matter, or that is taken again and again.
	if !known {
		if to := m.joinBlock(f.block); to != nil {
			m.jumpOver(st, g, f, to)
			return true
		}
		if m.tooMany(f) || cond.kind != symbol {
			return m.dropState()
		}
		// Or one that the bounds decide, which is a guess where no loop asks.
		holds = m.beginsPool(st, f, instr) || impliesMany(cond, false)
		if known = holds || impliesMany(cond, true); known {
			st.assume(cond, holds)
			if !m.repeats(f.block) {
				m.markGuess(st, instr, int(1-truthValue(holds).n))
			}
		}
	}
	// Both ways: this state goes on where the condition does not hold.
	if !known {
		other := st.copyState()
		m.markGuess(other, instr, 0)
		m.markGuess(st, instr, 1)
		other.assume(cond, true)
		m.enterBlock(other, other.topFrame(g), g, f.block.Succs[0])
		other.ready = append(other.ready, g)
		m.forked = append(m.forked, other)
		f = st.topFrame(g)
		st.assume(cond, false)
		m.left -= len(st.facts) / perStep // each has its own from here on
		holds = false
	}
	if holds {
		m.enterBlock(st, f, g, f.block.Succs[0])
	} else {
		m.enterBlock(st, f, g, f.block.Succs[1])
	}
	return true
}

// repeats reports whether control may come back to a block within its function.
func (m *machine) repeats(b *ssa.BasicBlock) bool {
	again, known := m.layouts.loops[b]
	if known {
		return again
	}
	seen := map[*ssa.BasicBlock]bool{}
	for work := slices.Clone(b.Succs); len(work) > 0; work = work[1:] {
		if !seen[work[0]] {
			seen[work[0]] = true
			work = append(work, work[0].Succs...)
		}
	}
	m.layouts.loops[b] = seen[b]
	return seen[b]
}

// beginsPool reports whether a branch enters a loop for the first time that starts so many goroutines as
// its caller has said: no worker at all is no pool, and nobody asks for that.
//
//	for range workers {           for i := 0; i < workers; i++ {
//		go work(jobs)                 wg.Go(func() { work(jobs) })
//	}                             }
//
// Loops over a collection may be empty: there is nothing to wait for then, either.
func (m *machine) beginsPool(st *state, f *frame, instr *ssa.If) bool {
	cond, ok := instr.Cond.(*ssa.BinOp)
	if !ok || cond.Op != token.LSS && cond.Op != token.LEQ && cond.Op != token.NEQ {
		return false
	}
	from, to := m.valueOf(st, f, cond.X), m.valueOf(st, f, cond.Y)
	first := from.kind == number && (from.n == 0 && cond.Op != token.LEQ || from.n == 1 && cond.Op == token.LEQ)
	if !first || to.kind == symbol && to.ref.name == "len" {
		return false
	}
	body := f.block.Succs[0]
	pool, known := m.layouts.pools[body]
	if !known {
		pool = startsInLoop(body)
		m.layouts.pools[body] = pool
	}
	return pool
}

// startsInLoop reports whether a loop that begins with a block, the branch to it left out, starts goroutines.
func startsInLoop(body *ssa.BasicBlock) bool {
	starts, loops := false, false
	seen := map[*ssa.BasicBlock]bool{}
	var visit func(b *ssa.BasicBlock)
	visit = func(b *ssa.BasicBlock) {
		if seen[b] || !body.Dominates(b) {
			return
		}
		seen[b] = true
		for _, instr := range b.Instrs {
			starts = starts || startsGoroutine(instr)
		}
		for _, to := range b.Succs {
			loops = loops || to == body || to.Dominates(body)
			visit(to)
		}
	}
	visit(body)
	return starts && loops
}

// startsGoroutine reports whether an instruction is a go statement, or a call of a method that is named like one.
func startsGoroutine(instr ssa.Instruction) bool {
	if _, ok := instr.(*ssa.Go); ok {
		return true
	}
	call, ok := instr.(*ssa.Call)
	if !ok {
		return false
	}
	callee := call.Call.StaticCallee()
	return callee != nil && callee.Signature.Recv() != nil && callee.Name() == "Go"
}

// markGuess marks a state of a test that takes a branch with an unknown
// condition: a test passes on data that the simulation does not see. It expects the way
// that does not fail, and the one without an error.
func (m *machine) markGuess(st *state, instr *ssa.If, way int) {
	succs := instr.Block().Succs
	if !m.test || Fails(succs[1-way]) {
		return
	}
	if cond, ok := instr.Cond.(*ssa.BinOp); ok && types.TypeString(cond.X.Type(), nil) == "error" {
		if c, isConst := cond.Y.(*ssa.Const); isConst && c.IsNil() && (cond.Op == token.EQL) == (way == 0) {
			return
		}
	}
	st.failed = true
}

// Fails reports whether a block ends the test, or lets it fail.
func Fails(b *ssa.BasicBlock) bool {
	for _, instr := range b.Instrs {
		switch instr := instr.(type) {
		case *ssa.Panic:
			return true
		case *ssa.Call:
			if ends, _ := knowledge.EndsTest(ir.Declared(instr.Call.StaticCallee())); ends {
				return true
			}
		}
	}
	return false
}

// tooMany counts the undecided branches of a call at one place.
func (m *machine) tooMany(f *frame) bool {
	forks := map[*ssa.BasicBlock]int{f.block: 1}
	for b, n := range f.forks {
		forks[b] += n
	}
	f.forks = forks
	return forks[f.block] > maxForks
}

// valueOf returns the value of v in the frame.
func (m *machine) valueOf(st *state, f *frame, v ssa.Value) value {
	switch v := v.(type) {
	case *ssa.Const:
		return m.in.constant(v)
	case *ssa.Function:
		return m.in.closure(v, nil)
	case *ssa.Global:
		id := m.objectID(v, 0, 0)
		if id >= int64(len(st.objs)) || st.objs[id] == nil {
			st.putObject(id, &object{base: value{kind: symbol, ref: m.in.intern('s', "", v, nil, 0)}, escaped: true})
		}
		return value{kind: address, n: id}
	case *ssa.Builtin:
		return m.in.special(v.Name())
	}
	return f.regs[m.layout(f.fn).regs[v]]
}

func (m *machine) values(st *state, f *frame, list []ssa.Value) []value {
	vals := make([]value, len(list))
	for i, v := range list {
		vals[i] = m.valueOf(st, f, v)
	}
	return vals
}

func (m *machine) setRegister(f *frame, v ssa.Value, to value) { f.regs[m.layout(f.fn).regs[v]] = to }

// freshSymbol returns a new symbol for the outcome of instruction at. The facts of
// the one before are forgotten.
func (m *machine) freshSymbol(st *state, g int, at any) value {
	v := m.in.symbolAt(at, g, len(st.gs[g].frames))
	m.left -= (len(st.facts) + len(st.objs)) / perStep
	st.forget(v.ref)
	return v
}

// pointedType returns the type that pointer type t points to.
func pointedType(t types.Type) types.Type { return t.Underlying().(*types.Pointer).Elem() }

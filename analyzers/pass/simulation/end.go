package simulation

import (
	"fmt"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// End is a state of the scope in which goroutines wait for ever.
type End struct {
	Stuck []Stuck
	// Left are where the other goroutines have ended.
	Left []Left
	// Failed: the test had failed before, by its own goroutine; or by another one,
	// and its own does not hang.
	Failed bool
	// Counted: it counts on how one number compares that is computed from another, which is not known.
	Counted bool
	// Alone: no second goroutine has been started.
	Alone bool
	// Running: a goroutine that has not ended may go on.
	Running bool
}

// Stuck is a goroutine that waits for ever.
type Stuck struct {
	Goroutine int             // 0 is the first one
	Start     ssa.Instruction // that has started it
	Fn        *ssa.Function
	At        ssa.Instruction
	Kind      Kind
	// Sends reports for each channel that it waits at whether it is to send; empty for a lock and the like.
	Sends []bool
	// Holders are the goroutines that hold the lock that it waits for.
	Holders []Holder
	// Read: it waits to read.
	Read bool
}

// Holder is a goroutine that holds a lock.
type Holder struct {
	Goroutine int
	At        ssa.Instruction
	Read      bool
	Ended     bool
	// Returned: the call that has taken it is over.
	Returned bool
}

// Left is a goroutine that has ended.
type Left struct {
	Goroutine int
	Start     ssa.Instruction
	At        ssa.Instruction
	Fatal     bool
}

// IsLock reports whether an operation takes a lock.
func (k Kind) IsLock() bool { return k == opLock || k == opRLock }

// IsWaitGroup reports whether an operation is Wait of a WaitGroup.
func (k Kind) IsWaitGroup() bool { return k == opWait }

// IsCond reports whether an operation is Wait of a Cond.
func (k Kind) IsCond() bool { return k == opCondWait }

// judgeComponent finds the goroutines that never move in a bottom component.
func (x *explorer) judgeComponent(members []*node) {
	st := members[0].st
	var end End
	for g, gr := range st.gs {
		switch {
		case gr.status == ended:
			end.Left = append(end.Left, Left{g, gr.start, gr.end, gr.fatal})
		case gr.status == waiting && x.neverMoves(members, g):
			end.Stuck = append(end.Stuck, x.m.describeStuck(st, g))
		default:
			end.Running = true
		}
	}
	if !st.failed {
		x.result.countEnd(end.Stuck)
	}
	if len(end.Stuck) == 0 {
		return
	}
	end.Failed = st.failed || st.failing && end.Stuck[0].Goroutine != 0
	end.Counted, end.Alone = st.counted(), len(st.gs) == 1
	key := end.dedupKey()
	if !x.seen[key] {
		x.seen[key] = true
		x.result.Ends = append(x.result.Ends, end)
	}
}

// countEnd notes one end, and the goroutines that hang there.
func (r *Result) countEnd(stuck []Stuck) {
	r.ends++
	at := map[ssa.Instruction]bool{}
	for _, s := range stuck {
		at[s.At] = true
	}
	for instr := range at {
		r.stuck[instr]++
	}
}

// Always reports whether an operation hangs at all ends.
func (r *Result) Always(at ssa.Instruction) bool { return r.stuck[at] == r.ends }

// neverMoves reports whether g is at the same operation in all states, and none of
// them has a move for it.
func (x *explorer) neverMoves(members []*node, g int) bool {
	at := members[0].st.gs[g]
	for _, n := range members {
		gr := n.st.gs[g]
		if gr.status != waiting || gr.op.instr != at.op.instr || len(gr.frames) != len(at.frames) {
			return false
		}
		for _, mv := range x.m.listMoves(n.st) {
			if mv.g == g || mv.with == g {
				return false
			}
		}
	}
	return true
}

func (e *End) dedupKey() string {
	key := fmt.Sprint(e.Failed, e.Counted, e.Alone)
	for _, s := range e.Stuck {
		key += fmt.Sprintf(" %d:%p", s.Goroutine, s.At)
	}
	return key
}

func (m *machine) describeStuck(st *state, g int) Stuck {
	gr := st.gs[g]
	s := Stuck{Goroutine: g, Start: gr.start, Fn: gr.frames[len(gr.frames)-1].fn, At: gr.op.instr, Kind: gr.op.kind,
		Read: gr.op.kind == opRLock}
	for _, c := range gr.op.cases {
		s.Sends = append(s.Sends, c.send)
	}
	if gr.op.kind <= opSelect { // select {} has no channels
		return s
	}
	l, _ := m.lockAt(st, gr.op.on)
	for _, h := range append(slices.Clone(l.readers), l.writer) {
		if h.g > 0 {
			holder := st.gs[h.g-1]
			returned := !slices.ContainsFunc(holder.frames, func(f *frame) bool { return f.num == h.call })
			s.Holders = append(s.Holders, Holder{h.g - 1, h.at, h != l.writer, holder.status == ended, returned})
		}
	}
	return s
}

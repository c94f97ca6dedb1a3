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
	// Failed: the test had failed before, by its own goroutine.
	Failed bool
}

// Stuck is a goroutine that waits for ever.
type Stuck struct {
	Goroutine int             // 0 is the first one
	Start     ssa.Instruction // that has started it
	Fn        *ssa.Function
	At        ssa.Instruction
	Kind      Kind
	// Cases are the channels that it waits at, as the source has them; none for a lock and the like.
	Cases []Case
	// On is what it waits for, other than channels; ID is the same for all who do.
	On ssa.Value
	ID string
	// Holders are those who hold the lock that it waits for.
	Holders []Holder
	// Held lists the locks that it holds, by ID.
	Held []Held
	// Read: it waits to read.
	Read bool
	// Writers wait, too, so that no reader is let in.
	Writers int
}

// Case is one channel of an operation.
type Case struct {
	Send bool
	ID   string
	Nil  bool
}

// Holder is who holds a lock.
type Holder struct {
	Goroutine int
	At        ssa.Instruction
	Read      bool
	Ended     bool
}

// Held is a lock that is held.
type Held struct {
	ID string
	At ssa.Instruction
}

// Left is a goroutine that has ended.
type Left struct {
	Goroutine int
	Start     ssa.Instruction
	At        ssa.Instruction
	Fatal     bool
}

// IsSend reports whether an operation is a send alone; the other methods do so for theirs.
func (k Kind) IsSend() bool      { return k == opSend }
func (k Kind) IsReceive() bool   { return k == opReceive }
func (k Kind) IsSelect() bool    { return k == opSelect }
func (k Kind) IsLock() bool      { return k == opLock || k == opRLock }
func (k Kind) IsWaitGroup() bool { return k == opWait }
func (k Kind) IsCond() bool      { return k == opCondWait }

// judge finds who never moves in a bottom component.
func (x *explorer) judge(members []*node) {
	st := members[0].st
	var end End
	for g, gr := range st.gs {
		switch {
		case gr.status == ended:
			end.Left = append(end.Left, Left{g, gr.start, gr.end, gr.fatal})
		case gr.status == waiting && x.never(members, g):
			end.Stuck = append(end.Stuck, x.m.stuck(st, g))
		}
	}
	if len(end.Stuck) == 0 {
		return
	}
	end.Failed = st.failed
	key := end.key()
	if !x.seen[key] {
		x.seen[key] = true
		x.result.Ends = append(x.result.Ends, end)
	}
}

// never reports whether g is at the same operation in all states, and none of
// them has a move for it.
func (x *explorer) never(members []*node, g int) bool {
	at := members[0].st.gs[g]
	if len(members) == 1 {
		return true
	}
	for _, n := range members {
		gr := n.st.gs[g]
		if gr.status != waiting || gr.op.instr != at.op.instr || len(gr.frames) != len(at.frames) {
			return false
		}
		for _, mv := range x.m.moves(n.st) {
			if mv.g == g || mv.with == g {
				return false
			}
		}
	}
	return true
}

func (e *End) key() string {
	key := fmt.Sprint(e.Failed)
	for _, s := range e.Stuck {
		key += fmt.Sprintf(" %d:%p", s.Goroutine, s.At)
	}
	return key
}

func (m *machine) stuck(st *state, g int) Stuck {
	gr := st.gs[g]
	s := Stuck{Goroutine: g, Start: gr.start, Fn: gr.frames[len(gr.frames)-1].fn, At: gr.op.instr, Kind: gr.op.kind,
		Read: gr.op.kind == opRLock}
	for _, c := range gr.op.cases {
		s.Cases = append(s.Cases, Case{c.send, fmt.Sprint(c.ch.n), c.ch.kind == null})
	}
	if len(s.Cases) == 0 { // a lock and the like
		id, p, _ := m.target(st, gr.op.on)
		s.ID = lockID(id, p)
		l := st.objs[id].syncs[p]
		s.Writers = l.waiting
		for _, h := range append(slices.Clone(l.readers), l.writer) {
			if h.g > 0 {
				s.Holders = append(s.Holders, Holder{h.g - 1, h.at, h != l.writer, st.gs[h.g-1].status == ended})
			}
		}
	}
	// What it holds itself.
	for id, o := range st.objs {
		if o == nil {
			continue
		}
		for p, l := range o.syncs {
			for _, h := range append(slices.Clone(l.readers), l.writer) {
				if h.g == g+1 {
					s.Held = append(s.Held, Held{lockID(int64(id), p), h.at})
				}
			}
		}
	}
	return s
}

func lockID(id int64, p *ref) string { return fmt.Sprint(id, ".", placeID(p)) }

package simulation

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// atChannel stops at a send, a receive or a select.
func (m *machine) atChannel(st *state, g int, f *frame, instr ssa.Instruction) bool {
	o := op{instr: instr, blocking: true}
	elemOf := func(v ssa.Value) types.Type { return v.Type().Underlying().(*types.Chan).Elem() }
	switch instr := instr.(type) {
	case *ssa.Send:
		o.kind = opSend
		o.cases = []chanCase{{true, m.valueOf(st, f, instr.Chan), m.valueOf(st, f, instr.X), elemOf(instr.Chan)}}
	case *ssa.UnOp:
		o.kind, o.commaOk = opReceive, instr.CommaOk
		o.cases = []chanCase{{false, m.valueOf(st, f, instr.X), value{}, elemOf(instr.X)}}
	case *ssa.Select:
		o.kind, o.blocking = opSelect, instr.Blocking
		for _, s := range instr.States {
			c := chanCase{ch: m.valueOf(st, f, s.Chan), elem: elemOf(s.Chan)}
			if s.Dir == types.SendOnly {
				c.send, c.val = true, m.valueOf(st, f, s.Send)
			}
			o.cases = append(o.cases, c)
		}
	}
	return m.waitFor(st, g, o)
}

// channelMoves lists the moves of a goroutine at a channel operation. Two that
// meet are a move of the sender.
func (m *machine) channelMoves(st *state, g int, o op) []move {
	var all []move
	ready := false // whatever others do
	for i, c := range o.cases {
		switch {
		case c.ch.kind == null:
			continue
		case c.ch.kind != address || st.objs[c.ch.n].escaped || st.objs[c.ch.n].ch == nil:
			all = append(all, move{g, -1, helped(true, m.foreign(i))})
			continue
		}
		ch := st.objs[c.ch.n].ch
		if c.send {
			moves, now := m.sendMoves(st, g, i, c, ch)
			all, ready = append(all, moves...), ready || now
			continue
		}
		switch {
		case len(ch.buf) > 0, ch.closed:
			ready = true
			all = append(all, move{g, -1, m.receive(i)})
		case ch.fires:
			all = append(all, move{g, -1, m.receiveFromTimer(i)})
		}
	}
	if !o.blocking && !ready {
		all = append(all, move{g, -1, func(st *state, g int) bool { return m.complete(st, g, -1, value{}, no) }})
	}
	return all
}

// sendMoves lists the ways to send: it may have to be decided whether the buffer is full.
func (m *machine) sendMoves(st *state, g, i int, c chanCase, ch *channel) (moves []move, ready bool) {
	if ch.closed {
		return []move{{g, -1, m.endProcess("send on closed channel", i)}}, true
	}
	size := ch.size
	if size.kind == symbol {
		if f := st.factOf(size.ref); f.lo == f.hi {
			size = numberValue(f.lo)
		}
	}
	// A buffer of unknown size has room, unless something says that it is full.
	room := m.compare(token.LSS, numberValue(int64(len(ch.buf))), size)
	if free, known := st.decided(room); !known || free {
		return []move{{g, -1, m.sendToBuffer(i)}}, true
	}
	if len(ch.buf) > 0 || size != no && size.kind == number {
		return nil, false
	}
	for h, other := range st.gs {
		if h == g || other.status != waiting {
			continue
		}
		for j, d := range other.op.cases {
			if !d.send && d.ch == c.ch && (st.gs[g].op.blocking || other.op.blocking) {
				moves = append(moves, move{g, h, m.handOver(i, h, j)})
			}
		}
	}
	return moves, false
}

func (m *machine) editChannel(st *state, v value, change func(*channel)) {
	o := st.editObject(v.n)
	c := *o.ch
	c.buf = slices.Clone(c.buf)
	change(&c)
	o.ch = &c
}

func (m *machine) sendToBuffer(i int) func(*state, int) bool {
	return func(st *state, g int) bool {
		c := st.gs[g].op.cases[i]
		m.editChannel(st, c.ch, func(ch *channel) { ch.buf = append(ch.buf, c.val) })
		return m.complete(st, g, i, value{}, yes)
	}
}

func (m *machine) receive(i int) func(*state, int) bool {
	return func(st *state, g int) bool {
		c := st.gs[g].op.cases[i]
		v, ok := zeroValue(&m.in, c.elem), no
		m.editChannel(st, c.ch, func(ch *channel) {
			if len(ch.buf) > 0 {
				v, ok = ch.buf[0], yes
				ch.buf = ch.buf[1:]
			}
		})
		return m.complete(st, g, i, v, ok)
	}
}

// receiveFromTimer receives from a timer, or from a context that others cancel.
func (m *machine) receiveFromTimer(i int) func(*state, int) bool {
	return func(st *state, g int) bool {
		o := st.gs[g].op
		c := o.cases[i]
		if st.objs[c.ch.n].ch.size == no {
			m.closeAll(st, c.ch.n, o.instr)
			return m.complete(st, g, i, zeroValue(&m.in, c.elem), no)
		}
		m.editChannel(st, c.ch, func(ch *channel) { ch.fires = !ch.once })
		return m.complete(st, g, i, m.freshSymbol(st, g, c.elem), yes)
	}
}

// foreign sends to or receives from a channel that others know.
func (m *machine) foreign(i int) func(*state, int) bool {
	return func(st *state, g int) bool {
		o := st.gs[g].op
		c := o.cases[i]
		if c.send {
			m.escape(st, c.val)
			return m.complete(st, g, i, value{}, yes)
		}
		v := m.freshSymbol(st, g, o.instr)
		if c.ch.kind == symbol && c.ch.ref.name == "done" { // of a context; see contextError
			st.assume(m.in.internTerm("closed", 0, c.ch), true)
		}
		return m.complete(st, g, i, m.in.internTerm("received", int64(i), v), m.in.internTerm("open", int64(i), v))
	}
}

func (m *machine) handOver(i, h, j int) func(*state, int) bool {
	return func(st *state, g int) bool {
		v := st.gs[g].op.cases[i].val
		st.release(g) // both wait for each other
		return m.complete(st, h, j, v, yes) && m.complete(st, g, i, value{}, yes)
	}
}

// complete ends a channel operation by its case i; -1 is default.
func (m *machine) complete(st *state, g, i int, v, ok value) bool {
	st.synchronise(g)
	gr := st.editGoroutine(g)
	o := gr.op
	gr.status, gr.op = running, op{}
	st.ready = append(st.ready, g)
	f := st.topFrame(g)
	f.pc++
	switch instr := o.instr.(type) {
	case *ssa.UnOp:
		if o.commaOk {
			v = m.in.internTuple(v, ok)
		}
		m.setRegister(f, instr, v)
	case *ssa.Select:
		vals := []value{numberValue(int64(i)), ok}
		for k, s := range instr.States {
			switch {
			case s.Dir == types.SendOnly:
			case k == i:
				vals = append(vals, v)
			default:
				vals = append(vals, zeroValue(&m.in, o.cases[k].elem))
			}
		}
		m.setRegister(f, instr, m.in.internTuple(vals...))
	}
	return true
}

// closeChannel closes a channel, or cancels a context.
func (m *machine) closeChannel(st *state, g int) bool {
	o := st.gs[g].op
	cancels := o.call.fn.ref.name == "cancel"
	if o.on.kind == address && st.objs[o.on.n].ch != nil {
		if c := st.objs[o.on.n]; c.ch.closed && !c.escaped && !cancels {
			return m.endProcess("close of closed channel", 0)(st, g)
		}
		m.closeAll(st, o.on.n, o.instr)
	}
	return m.finish(st, g, o.call, o.inLine, nilValue)
}

// closeAll closes a channel, and the contexts that are done with it, by an operation.
func (m *machine) closeAll(st *state, id int64, by ssa.Instruction) {
	if st.objs[id] == nil || st.objs[id].ch == nil || st.objs[id].ch.closed {
		return
	}
	m.editChannel(st, value{kind: address, n: id}, func(ch *channel) { ch.closed, ch.closer = true, by })
	for _, c := range st.objs[id].ch.children {
		m.closeAll(st, c, by)
	}
}

// endProcess ends the process, at case i of a select.
func (m *machine) endProcess(what string, i int) func(*state, int) bool {
	return func(st *state, g int) bool {
		o := st.gs[g].op
		at, on := o.instr, o.on
		if len(o.cases) > 0 {
			on = o.cases[i].ch
		}
		st.over, st.crash = true, &Crash{What: what, At: at, Pos: at.Pos(), Closed: st.objs[on.n].ch.closer,
			Counted: st.counted()}
		if sel, ok := at.(*ssa.Select); ok {
			st.crash.Pos = sel.States[i].Pos
		}
		return true
	}
}

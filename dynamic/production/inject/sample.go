//go:build interlock_production

package runtime

import "unsafe"

// ilkSample handles a sample: an operand near the instruction is e1 (CRSampler, Algorithm 3, sample). The goroutine
// stands in a part of code without calls that leads to or from the access: it releases nothing in between.
//
//go:nowritebarrierrec
func ilkSample(c *sigctxt, gp *g) {
	ilkCount(&ilkStats.samples)
	pc := uintptr(c.rip())
	if !ilkIsUser(gp, pc) {
		return
	}
	row, known := ilkRowAt(pc)
	if !known {
		ilkCount(&ilkStats.unknown)
		ilkLearn(pc)
		return
	}
	var shared [ilkOperands]struct {
		addr uintptr
		op   *ilkOperand
	}
	n := uint32(0)
	for i := range row.n {
		op := &row.operands[i]
		if addr := op.address(c); ilkIsShared(addr, op.size) {
			shared[n].addr, shared[n].op = addr, op
			n++
		}
	}
	if n == 0 {
		ilkCount(&ilkStats.none)
		return
	}
	// The operands may be e2 of accesses that others have made.
	for _, at := range shared[:n] {
		if ilkMeets(at.addr, at.op, c, gp) || ilkExplains(at.addr, at.op, c, gp) {
			return
		}
	}
	// Code that runs often is watched seldom once nothing has come of it.
	if cheaprandn(row.watched+1) != 0 {
		ilkCount(&ilkStats.hot)
		return
	}
	row.watched++
	at := shared[cheaprandn(n)]
	s := ilkTake()
	if s == nil {
		return
	}
	s.addr, s.size, s.sweepgen, s.onRead = at.addr, at.op.size, ilkHeapCycle(), at.op.flags&ilkWrites != 0
	access := pc + uintptr(int(at.op.delta))
	s.e1.note(c, gp, access, access, at.op.flags)
	if ilkState.means == ilkRegisters {
		s.arm()
		return
	}
	if s.hold(gp) {
		row.watched = 0
	}
	ilkRemember(s)
	s.state.Store(ilkFree)
}

// ilkMeets reports whether gp stands at an access that conflicts with one of another goroutine, which is held or has
// released nothing since, and notes the pair.
//
//go:nowritebarrierrec
func ilkMeets(addr uintptr, op *ilkOperand, c *sigctxt, gp *g) bool {
	if ilkState.means == ilkRegisters {
		return false // the register shows it
	}
	for i := range ilkSlots {
		s := &ilkSlots[i]
		if s.state.Load() != ilkArmed || !s.conflicts(addr, op, gp) {
			continue
		}
		// The slot may have moved on to another variable while it was read: its owner holds it for long after.
		tag := s.tag
		p := ilkTakePair(ilkByMeeting, s)
		if p == nil {
			return false
		}
		if s.state.Load() != ilkArmed || s.tag != tag || p.e1.clock != ilkClockOf(p.e1.g) {
			p.state.Store(ilkPairFree)
			return false
		}
		ilkCount(&ilkStats.met)
		p.finish(c, gp, op)
		return true
	}
	return ilkRecall(addr, op, c, gp)
}

// conflicts reports whether an access to an operand by gp conflicts with e1 of the slot.
//
//go:nowritebarrierrec
func (s *ilkSlot) conflicts(addr uintptr, op *ilkOperand, gp *g) bool {
	return addr < s.addr+uintptr(s.size) && s.addr < addr+uintptr(op.size) && (s.e1.flags|op.flags)&ilkWrites != 0 &&
		s.e1.g != uintptr(unsafe.Pointer(gp))
}

// finish makes the access to an operand near the sample e2 of the pair.
//
//go:nowritebarrierrec
func (p *ilkPair) finish(c *sigctxt, gp *g, op *ilkOperand) {
	access := uintptr(c.rip()) + uintptr(int(op.delta))
	p.e2[0].note(c, gp, access, access, op.flags)
	p.state.Store(ilkPairReady)
}

// ilkRecent holds the last samples, by address: a second sample of the same variable may show a clock race.
var ilkRecent [128]ilkSlot

// ilkRecentAt returns where samples of an address are kept.
//
//go:nowritebarrierrec
func ilkRecentAt(addr uintptr) *ilkSlot { return &ilkRecent[addr/8*0x9E3779B97F4A7C15>>57] }

// ilkRemember keeps the first access of a slot that the caller owns.
//
//go:nowritebarrierrec
func ilkRemember(s *ilkSlot) {
	r := ilkRecentAt(s.addr)
	if old := r.state.Load(); old == ilkBusy || !r.state.CompareAndSwap(old, ilkBusy) {
		return
	}
	r.addr, r.size, r.sweepgen, r.e1 = s.addr, s.size, s.sweepgen, s.e1
	r.state.Store(ilkArmed)
}

// ilkRecall reports whether a sample that is kept makes a clock race with an access to an operand by gp.
//
//go:nowritebarrierrec
func ilkRecall(addr uintptr, op *ilkOperand, c *sigctxt, gp *g) bool {
	r := ilkRecentAt(addr)
	if r.state.Load() != ilkArmed || !r.conflicts(addr, op, gp) || !r.state.CompareAndSwap(ilkArmed, ilkBusy) {
		return false
	}
	var p *ilkPair
	switch {
	case !r.conflicts(addr, op, gp): // another sample has taken the place
	case r.sweepgen != ilkHeapCycle():
		ilkCount(&ilkStats.collected)
	case r.e1.clock != ilkClockOf(r.e1.g):
		ilkCount(&ilkStats.ordered)
	default:
		p = ilkTakePair(ilkByClock, r)
	}
	r.state.Store(ilkArmed)
	if p == nil {
		return false
	}
	ilkCount(&ilkStats.clock)
	p.finish(c, gp, op)
	return true
}

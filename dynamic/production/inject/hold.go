//go:build interlock_production

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// hold holds the goroutine of e1 at its access for a short time and looks whether the value changes (DataCollider; the
// caller owns the slot). Nothing orders the write of another goroutine before e1, which did not synchronise since, nor
// behind. The collector cannot finish meanwhile, as this thread does not stop for it: the object stays the same. It
// reports whether the value changed.
//
//go:nowritebarrierrec
func (s *ilkSlot) hold(gp *g) (changed bool) {
	ilkCount(&ilkStats.armed)
	s.tag += ilkTagStep
	s.state.Store(ilkArmed) // from now on, other goroutines meet it
	before := ilkValue(s.addr, s.size)
	deadline := nanotime() + ilkPause
	for nanotime() < deadline {
		for range 16 {
			if ilkValue(s.addr, s.size) != before {
				s.state.Store(ilkBusy)
				s.changed(gp)
				return true
			}
			procyield(2)
		}
	}
	s.state.Store(ilkBusy)
	return false
}

// ilkValue returns the memory that is watched, as a number.
//
//go:nowritebarrierrec
func ilkValue(addr uintptr, size uint8) uint64 {
	p := unsafe.Pointer(addr)
	switch size {
	case 1:
		return uint64(atomic.Load8((*uint8)(p)))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(atomic.Load((*uint32)(p)))
	}
	return atomic.Load64((*uint64)(p))
}

// changed notes that the value changed while e1's goroutine was held, and asks the threads that run goroutines where
// they are: the one that wrote is not far from there.
//
//go:nowritebarrierrec
func (s *ilkSlot) changed(gp *g) {
	ilkCount(&ilkStats.changed)
	ilkWant(s)
	p := ilkTakePair(ilkByValue, s)
	if p == nil {
		return
	}
	asked := uint32(0)
	if atomic.Casuintptr(&ilkAsking, 0, uintptr(unsafe.Pointer(p))) {
		for _, pp := range allp {
			mp := pp.m.ptr()
			if mp == nil || mp == gp.m || pp.status != _Prunning || asked == uint32(len(p.e2)) {
				continue
			}
			asked++
			atomic.Xadd(&ilkAsked, 1)
			signalM(mp, _SIGTRAP)
		}
		for deadline := nanotime() + 30_000; atomic.Load(&p.answers) < asked && nanotime() < deadline; {
			procyield(10)
		}
		atomic.Storeuintptr(&ilkAsking, 0)
	}
	p.state.Store(ilkPairReady)
}

// ilkAsking is the pair for which threads are asked, or 0. ilkAsked is how many signals are on their way, and
// ilkAnswering how many threads fill an answer: the agent copies no pair meanwhile.
var (
	ilkAsking    uintptr
	ilkAsked     uint32
	ilkAnswering uint32
)

// ilkAnswer handles a signal by which this process asks a thread where it is. It reports whether the signal is one.
//
//go:nowritebarrierrec
func ilkAnswer(code int32, c *sigctxt, gp *g) bool {
	const tkill = -6 // si_code of a signal to a thread
	if code != tkill || atomic.Load(&ilkAsked) == 0 {
		return false
	}
	atomic.Xadd(&ilkAsked, -1)
	before := ilkThreadTime()
	atomic.Xadd(&ilkAnswering, 1)
	if p := (*ilkPair)(unsafe.Pointer(atomic.Loaduintptr(&ilkAsking))); p != nil {
		if i := atomic.Xadd(&p.answers, 1) - 1; i < uint32(len(p.e2)) && ilkIsUser(gp, uintptr(c.rip())) {
			a, pc := &p.e2[i], uintptr(c.rip())
			for n := range a.regs {
				a.regs[n] = ilkRegister(c, int8(n))
			}
			a.note(c, gp, pc, pc, ilkNear)
		} else if i < uint32(len(p.e2)) {
			p.e2[i].flags = 0 // no goroutine of the program
		}
	}
	atomic.Xadd(&ilkAnswering, -1)
	ilkSpend(ilkThreadTime() - before + ilkState.costSample)
	return true
}

// ilkWanted holds the first accesses of variables whose value changed while their goroutine was held: a later sample
// may show a place that writes there.
var ilkWanted [16]ilkSlot

// ilkWant keeps the first access of a slot that the caller owns. A later one takes the place of one of the others.
//
//go:nowritebarrierrec
func ilkWant(s *ilkSlot) {
	w := &ilkWanted[s.addr/8%uintptr(len(ilkWanted))]
	if old := w.state.Load(); old == ilkBusy || !w.state.CompareAndSwap(old, ilkBusy) {
		return
	}
	w.addr, w.size, w.sweepgen, w.e1 = s.addr, s.size, s.sweepgen, s.e1
	w.state.Store(ilkArmed)
}

// ilkExplains reports whether gp stands at a write of a wanted variable, and notes that as its second access: not the
// one that was seen, but one like it. Of an object, the variable is the same until a collection ends.
//
//go:nowritebarrierrec
func ilkExplains(addr uintptr, op *ilkOperand, c *sigctxt, gp *g) bool {
	w := &ilkWanted[addr/8%uintptr(len(ilkWanted))]
	if op.flags&ilkWrites == 0 || w.state.Load() != ilkArmed || w.addr != addr ||
		!w.state.CompareAndSwap(ilkArmed, ilkBusy) {
		return false
	}
	var p *ilkPair
	if w.addr == addr && w.conflicts(addr, op, gp) && w.sweepgen == ilkHeapCycle() {
		p = ilkTakePair(ilkByPlace, w)
	}
	if p == nil {
		w.state.Store(ilkArmed)
		return false
	}
	p.finish(c, gp, op)
	w.state.Store(ilkFree)
	return true
}

//go:build interlock_production

package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"internal/stringslite"
	"unsafe"
)

// ilkSiginfo returns the code of a signal, and the tag of an event, by struct siginfo of the kernel.
//
//go:nosplit
//go:nowritebarrierrec
func ilkSiginfo(info *siginfo) (code int32, tag uint64) {
	p := unsafe.Pointer(info)
	return *(*int32)(add(p, 8)), *(*uint64)(add(p, 24))
}

// ilkNonGo reports whether a signal is an event of a thread that runs no Go code.
//
//go:nosplit
//go:nowritebarrierrec
func ilkNonGo(sig uint32, info *siginfo) bool {
	if sig != _SIGTRAP {
		return false
	}
	code, _ := ilkSiginfo(info)
	if code == ilkTrapPerf {
		ilkStats.nonGo++
	}
	return code == ilkTrapPerf
}

// ilkTrap handles the SIGTRAP of an event, on the stack for signals of the thread that it happened in. It reports
// whether the signal was one.
//
//go:nowritebarrierrec
func ilkTrap(info *siginfo, c *sigctxt, gp *g) bool {
	code, tag := ilkSiginfo(info)
	if code != ilkTrapPerf {
		return ilkAnswer(code, c, gp)
	}
	const async = 1 // the signal was blocked as the event happened: the registers are those of another moment
	if flags := *(*uint32)(add(unsafe.Pointer(info), 36)); flags&async != 0 {
		ilkCount(&ilkStats.late)
		return true
	}
	if tag == ilkTagProbe || tag == ilkTagTick {
		ilkStats.probes++
		return true
	}
	if tag == ilkTagClock && atomic.Loadint64(&ilkTokens) < 0 {
		ilkCount(&ilkStats.poor)
		ilkSpend(ilkState.costSample)
		return true
	}
	before := ilkThreadTime()
	getg().m.mallocing++ // an allocation here would be a bug: as in sigprof
	fixed := ilkState.costSample
	if tag == ilkTagClock {
		ilkSample(c, gp)
	} else {
		fixed = ilkState.costTrap
		ilkHit(&ilkSlots[tag%ilkTagStep], tag, c, gp)
	}
	getg().m.mallocing--
	ilkSpend(ilkThreadTime() - before + fixed)
	return true
}

// ilkIsUser reports whether a goroutine of the program runs at pc, on its own stack: neither the runtime nor what it
// calls on behalf of the program.
//
//go:nowritebarrierrec
func ilkIsUser(gp *g, pc uintptr) bool {
	if gp == nil || gp.m == nil || gp != gp.m.curg || gp == gp.m.g0 || gp == gp.m.gsignal {
		return false
	}
	f := findfunc(pc)
	if !f.valid() || f.funcID != abi.FuncIDNormal && f.funcID != abi.FuncIDWrapper {
		return false
	}
	name := funcname(f)
	return !stringslite.HasPrefix(name, "runtime.") && !stringslite.HasPrefix(name, "internal/runtime/")
}

// note makes a the access of gp at pc, whose stack the registers of c show at the instruction at.
//
//go:nowritebarrierrec
func (a *ilkAccess) note(c *sigctxt, gp *g, pc, at uintptr, flags uint32) {
	a.g, a.goid, a.clock, a.pc, a.flags = uintptr(unsafe.Pointer(gp)), gp.goid, gp.ilkClock, pc, flags
	var u unwinder
	u.initAt(at, uintptr(c.rsp()), 0, gp, unwindSilentErrors|unwindTrap|unwindJumpStack)
	a.n = uint32(tracebackPCs(&u, 0, a.stack[:]))
	a.labels.note(gp)
}

// ilkTake returns a slot that the caller owns: a free one, or one whose time is over.
//
//go:nowritebarrierrec
func ilkTake() *ilkSlot {
	now := nanotime()
	for i := range ilkSlots {
		s := &ilkSlots[i]
		if s.state.Load() == ilkFree && s.state.CompareAndSwap(ilkFree, ilkBusy) {
			return s
		}
	}
	for i := range ilkSlots {
		s := &ilkSlots[i]
		if s.state.Load() == ilkArmed && s.deadline < now && s.state.CompareAndSwap(ilkArmed, ilkBusy) {
			return s
		}
	}
	ilkCount(&ilkStats.full)
	return nil
}

// arm has the register of a slot that the caller owns watch its variable.
//
//go:nowritebarrierrec
func (s *ilkSlot) arm() {
	s.tag += ilkTagStep
	s.hits = 0
	s.deadline = nanotime() + ilkWindow
	attr := ilkWatchAttr(s.addr, s.size, s.onRead, s.tag)
	s.state.Store(ilkArmed) // before the watch begins: its first trap may come at once
	if ilkIoctl(s.fd, ilkIoctlModify, unsafe.Pointer(&attr)) {
		ilkCount(&ilkStats.armed)
		return
	}
	ilkCount(&ilkStats.refused)
	if s.state.CompareAndSwap(ilkArmed, ilkBusy) {
		s.state.Store(ilkFree)
	}
}

// ilkHit handles an access to a watched variable (CRSampler, Algorithm 3, onDataBreakpointFired). Unlike there, the
// watch stays for a few accesses: an access that is no race becomes e1.
//
//go:nowritebarrierrec
func ilkHit(s *ilkSlot, tag uint64, c *sigctxt, gp *g) {
	if s.state.Load() != ilkArmed || !s.state.CompareAndSwap(ilkArmed, ilkBusy) {
		ilkCount(&ilkStats.late)
		return
	}
	if s.tag != tag {
		ilkCount(&ilkStats.late)
		s.state.Store(ilkArmed)
		return
	}
	s.hits++
	pc, flags := uintptr(c.rip()), uint32(ilkTrapped)
	if !s.onRead {
		flags |= ilkWrites
	}
	self := s.e1.g == uintptr(unsafe.Pointer(gp))
	switch {
	case !ilkIsUser(gp, pc):
		ilkCount(&ilkStats.runtime)
	case self && s.e1.clock == gp.ilkClock && s.e1.flags&ilkWrites != 0:
		ilkCount(&ilkStats.own) // e1 itself, or a later access that nothing distinguishes from it
	case self:
		ilkCount(&ilkStats.own)
		s.follow(c, gp, pc, flags)
	case s.sweepgen != ilkHeapCycle():
		// The object of e1 may be gone, and another one in its place.
		ilkCount(&ilkStats.collected)
		s.hits = ilkMostHits
	case s.e1.clock != ilkClockOf(s.e1.g):
		ilkCount(&ilkStats.ordered)
		s.follow(c, gp, pc, flags)
	default:
		ilkCount(&ilkStats.clock)
		if p := ilkTakePair(ilkByClock, s); p != nil {
			p.e2[0].note(c, gp, pc, pc-1, flags)
			p.state.Store(ilkPairReady)
		}
		s.hits = ilkMostHits
	}
	if s.hits >= ilkMostHits {
		s.disarm()
		s.state.Store(ilkFree)
		return
	}
	s.state.Store(ilkArmed)
}

// follow makes an access that was seen e1.
//
//go:nowritebarrierrec
func (s *ilkSlot) follow(c *sigctxt, gp *g, pc uintptr, flags uint32) {
	s.e1.note(c, gp, pc, pc-1, flags)
	s.sweepgen = ilkHeapCycle()
}

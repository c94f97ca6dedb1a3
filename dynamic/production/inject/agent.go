//go:build interlock_production

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ilkRun starts a goroutine of the agent. Its first function is one of the runtime, so that it counts as a goroutine of
// the system: it appears neither in profiles nor in the number of goroutines.
//
//go:linkname ilkRun
func ilkRun(agent func()) { go ilkAgentMain(agent) }

func ilkAgentMain(agent func()) { agent() }

// ilkInfo returns how this process samples, the error number where it cannot, what a trap and a sample cost, and the
// processor time of a thread between two samples, in ns.
//
//go:linkname ilkInfo
func ilkInfo() (means, errno int32, trap, sample, period int64) {
	return ilkState.means, ilkState.errno, ilkState.costTrap, ilkState.costSample, int64(ilkState.clock.period)
}

// ilkSetTable publishes a table of mask+1 rows, which stays where it is from now on.
//
//go:linkname ilkSetTable
func ilkSetTable(rows unsafe.Pointer, mask uintptr) {
	ilkTable.mask = mask
	atomicstorep(unsafe.Pointer(&ilkTable.rows), rows)
}

// ilkRetire stops the watches whose time is over at the given time.
//
//go:linkname ilkRetire
func ilkRetire(now int64) (left int) {
	if ilkState.means != ilkRegisters {
		return 0 // each goroutine that is held ends its watch itself
	}
	for i := range ilkSlots {
		s := &ilkSlots[i]
		if s.state.Load() != ilkArmed {
			continue
		}
		if s.deadline >= now || !s.state.CompareAndSwap(ilkArmed, ilkBusy) {
			left++
			continue
		}
		s.disarm()
		s.state.Store(ilkFree)
	}
	return left
}

// ilkTakeCaught copies a pair of accesses that nothing orders, and frees its place.
//
//go:linkname ilkTakeCaught
func ilkTakeCaught(to *ilkPair) bool {
	for i := range ilkPairs {
		p := &ilkPairs[i]
		if p.state.Load() != ilkPairReady || atomic.Load(&ilkAnswering) != 0 {
			continue
		}
		to.how, to.addr, to.size, to.e1, to.answers, to.e2 = p.how, p.addr, p.size, p.e1, p.answers, p.e2
		p.state.Store(ilkPairFree)
		return true
	}
	return false
}

// ilkTakeUnknown returns an instruction that is not decoded, or 0.
//
//go:linkname ilkTakeUnknown
func ilkTakeUnknown() uintptr {
	for i := range ilkUnknown {
		if pc := atomic.Loaduintptr(&ilkUnknown[i]); pc != 0 {
			atomic.Storeuintptr(&ilkUnknown[i], 0)
			return pc
		}
	}
	return 0
}

// ilkCounters copies ilkStats.
//
//go:linkname ilkCounters
func ilkCounters(to *[21]uint64) { *to = *(*[21]uint64)(unsafe.Pointer(&ilkStats)) }

// ilkGrant adds time for handlers, up to most, in ns.
//
//go:linkname ilkGrant
func ilkGrant(ns, most int64) {
	if atomic.Xaddint64(&ilkTokens, ns) > most {
		atomic.Storeint64(&ilkTokens, most)
	}
}

// ilkSetTimes sets how long a debug register watches a variable, and how long a goroutine is held, in ns.
//
//go:linkname ilkSetTimes
func ilkSetTimes(window, pause int64) { ilkWindow, ilkPause = window, pause }

// ilkNow is the clock of deadlines, in ns.
//
//go:linkname ilkNow
func ilkNow() int64 { return nanotime() }

// ilkWorked is ilkThreadTime for the agent.
//
//go:linkname ilkWorked
func ilkWorked() (ns int64) { return ilkThreadTime() }

// ilkPin keeps the agent's goroutine on its thread, or no longer, so that the time of the thread is its own. Unlike
// runtime.LockOSThread it starts no thread that starts others: the agent leaves its thread as it was.
//
//go:linkname ilkPin
func ilkPin(on bool) {
	if on {
		lockOSThread()
	} else {
		unlockOSThread()
	}
}

// ilkIsData reports whether addr is that of a variable of a package.
//
//go:linkname ilkIsData
func ilkIsData(addr uintptr) bool {
	for m := &firstmoduledata; m != nil; m = m.next {
		if m.noptrdata <= addr && addr < m.enoptrbss || m.data <= addr && addr < m.ebss {
			return true
		}
	}
	return false
}

// ilkBounds returns the code of the function at pc.
//
//go:linkname ilkBounds
func ilkBounds(pc uintptr) (start, end uintptr) {
	f := findfunc(pc)
	if !f.valid() {
		return 0, 0
	}
	d := f.datap
	// The table of functions is sorted, and its last row is the end of all.
	low, high := 0, len(d.ftab)-1
	for low < high {
		if m := int(uint(low+high) >> 1); d.textAddr(d.ftab[m].entryoff) <= f.entry() {
			low = m + 1
		} else {
			high = m
		}
	}
	return f.entry(), d.textAddr(d.ftab[low].entryoff)
}

// ilkSleep has the agent's goroutine sleep. It keeps neither a timer nor a running thread, as these would hide from the
// runtime that all goroutines of the program wait for ever.
//
//go:linkname ilkSleep
func ilkSleep(ns int64) {
	entersyscallblock()
	systemstack(func() {
		ilkAway(1)
		usleep(uint32(ns / 1000))
		ilkAway(-1)
	})
	exitsyscall()
}

// ilkAway has the runtime count this thread as one of its own, or no longer.
func ilkAway(n int32) {
	lock(&sched.lock)
	sched.nmsys += n
	if n > 0 {
		checkdead()
	}
	unlock(&sched.lock)
}

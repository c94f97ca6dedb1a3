//go:build interlock_hb

package runtime

import (
	"internal/abi"
	"internal/runtime/sys"
	"unsafe"
)

// The functions that the compiler and the runtime call in a program built with race
// detection. Those of the compiler come first: most of a program's time goes into them.

// racefuncenter is called at the start of a function, with where its caller goes on.
//
//go:nosplit
func racefuncenter(callpc uintptr) {
	gp := getg()
	g := hbOfG(gp)
	if g == nil {
		return
	}
	depth := uint32(gp.stack.hi - sys.GetCallerSP())
	if f := hbFrameAt(g.frame); f.depth < depth && f.last != 0 {
		if c := hbFrameAt(f.last); c.pc == callpc && c.depth == depth { // as the last time
			g.frame = f.last
			return
		}
	}
	hbEnter(g, callpc, depth, getcallerfp())
}

//go:nosplit
func racefuncexit() {
	gp := getg()
	g := hbOfG(gp)
	if g == nil {
		return
	}
	depth := uint32(gp.stack.hi - sys.GetCallerSP())
	if f := hbFrameAt(g.frame); f.depth == depth {
		g.frame = f.parent
		return
	}
	hbLeave(g, depth)
}

// raceread is called before a read that starts at addr. There is nothing to do where the goroutine
// has read or written there in the same epoch.
//
//go:nosplit
func raceread(addr uintptr) {
	gp := getg()
	if g := hbOfG(gp); g != nil && addr-hbHeapStart < hbHeapSize {
		cell := (*hbCell)(unsafe.Pointer(addr>>3<<4 + hbHeapCells))
		if x := cell.w ^ g.epoch; x <= hbMask && x>>(addr&7)&1 != 0 {
			return
		}
		if x := cell.r ^ g.epoch; x <= hbMask && x>>(addr&7)&1 != 0 {
			return
		}
		if g.epoch&hbIsSampled == 0 || !g.skips(cell, addr, hbRead) {
			hbAccess(gp, cell, addr, 1<<(addr&7), hbRead, hbPlace{pc: sys.GetCallerPC()})
		}
	} else if addr-hbDataStart < hbDataSize {
		hbRead1(addr, hbPlace{pc: sys.GetCallerPC()})
	}
}

//go:nosplit
func racewrite(addr uintptr) {
	gp := getg()
	if g := hbOfG(gp); g != nil && addr-hbHeapStart < hbHeapSize {
		cell := (*hbCell)(unsafe.Pointer(addr>>3<<4 + hbHeapCells))
		if x := cell.w ^ g.epoch; x <= hbMask && x>>(addr&7)&1 != 0 {
			return
		}
		if g.epoch&hbIsSampled == 0 || !g.skips(cell, addr, hbWrite) {
			hbAccess(gp, cell, addr, 1<<(addr&7), hbWrite, hbPlace{pc: sys.GetCallerPC()})
		}
	} else if addr-hbDataStart < hbDataSize {
		hbWrite1(addr, hbPlace{pc: sys.GetCallerPC()})
	}
}

//go:nosplit
func racereadrange(addr, size uintptr) { hbRange(addr, size, hbRead, hbPlace{pc: sys.GetCallerPC()}) }

//go:nosplit
func racewriterange(addr, size uintptr) { hbRange(addr, size, hbWrite, hbPlace{pc: sys.GetCallerPC()}) }

// hbRead1 checks a read that starts at addr, wherever that is.
//
//go:nosplit
func hbRead1(addr uintptr, at hbPlace) {
	gp := getg()
	g, cell := hbOfG(gp), hbCellOf(addr)
	if g == nil || cell == nil {
		return
	}
	mask := uint64(1) << (addr & 7)
	if x := cell.r ^ g.epoch; x <= hbMask && x&mask != 0 {
		return
	}
	if x := cell.w ^ g.epoch; x <= hbMask && x&mask != 0 {
		return
	}
	hbAccess(gp, cell, addr, mask, hbRead, at)
}

//go:nosplit
func hbWrite1(addr uintptr, at hbPlace) {
	gp := getg()
	g, cell := hbOfG(gp), hbCellOf(addr)
	if g == nil || cell == nil {
		return
	}
	mask := uint64(1) << (addr & 7)
	if x := cell.w ^ g.epoch; x <= hbMask && x&mask != 0 {
		return
	}
	hbAccess(gp, cell, addr, mask, hbWrite, at)
}

// hbRange checks an access of size bytes.
//
//go:nosplit
func hbRange(addr, size uintptr, kind hbKind, at hbPlace) {
	gp := getg()
	g := hbOfG(gp)
	if g == nil || size == 0 || hbCellOf(addr) == nil || hbCellOf(addr+size-1) == nil {
		return
	}
	if addr-gp.stack.lo < gp.stack.hi-gp.stack.lo {
		return
	}
	for end := addr + size; addr < end; {
		stop := min(end, addr&^7+8)
		mask := uint64(hbMask) << (addr & 7) & (hbMask >> (-stop & 7))
		cell := hbCellOf(addr)
		x, y := cell.w^g.epoch, cell.r^g.epoch
		switch {
		case x <= hbMask && x&mask == mask:
		case kind == hbRead && y <= hbMask && y&mask == mask:
		case hbSampling.stationary && g.leaves(cell, addr, mask, kind):
		case mask == hbMask && g.epoch&hbIsSampled == 0:
			stop = hbRun(gp, addr, end, kind, at)
		default:
			hbAccess(gp, cell, addr, mask, kind, at)
		}
		addr = stop
	}
}

// Calls of the runtime itself, for its steps in the name of a goroutine: callpc is the
// caller of the runtime function that begins at pc.

//go:nosplit
func racereadpc(addr unsafe.Pointer, callpc, pc uintptr) {
	hbRead1(uintptr(addr), hbPlace{pc: pc + 1, callpc: callpc})
}

//go:nosplit
func racewritepc(addr unsafe.Pointer, callpc, pc uintptr) {
	hbWrite1(uintptr(addr), hbPlace{pc: pc + 1, callpc: callpc})
}

//go:nosplit
func racereadrangepc(addr unsafe.Pointer, size, callpc, pc uintptr) {
	if gp := getg(); gp == gp.m.curg {
		hbRange(uintptr(addr), size, hbRead, hbPlace{pc: pc + 1, callpc: callpc})
	}
}

//go:nosplit
func racewriterangepc(addr unsafe.Pointer, size, callpc, pc uintptr) {
	if gp := getg(); gp == gp.m.curg {
		hbRange(uintptr(addr), size, hbWrite, hbPlace{pc: pc + 1, callpc: callpc})
	}
}

// Synchronisation.

//go:nosplit
func raceacquire(addr unsafe.Pointer) { raceacquireg(getg(), addr) }

//go:nosplit
func raceacquireg(gp *g, addr unsafe.Pointer) {
	if getg().raceignore == 0 {
		raceacquirectx(gp.racectx, addr)
	}
}

//go:nosplit
func raceacquirectx(ctx uintptr, addr unsafe.Pointer) {
	g := (*hbGo)(unsafe.Pointer(ctx))
	if s := hbSyncAt(uintptr(addr), false); s != nil {
		s.acquire(g)
		if hbTrace.on {
			hbTraceSync(g, hbTraceAcquire, uintptr(addr))
		}
		s.mu.unlock()
	}
}

//go:nosplit
func racerelease(addr unsafe.Pointer) { racereleaseg(getg(), addr) }

//go:nosplit
func racereleaseg(gp *g, addr unsafe.Pointer) {
	if getg().raceignore != 0 {
		return
	}
	if s := hbSyncAt(uintptr(addr), true); s != nil {
		if hbTrace.on {
			hbTraceSync(hbOfG(gp), hbTraceRelease, uintptr(addr))
		}
		s.release(hbOfG(gp))
		s.mu.unlock()
	}
}

//go:nosplit
func racereleasemerge(addr unsafe.Pointer) { racereleasemergeg(getg(), addr) }

//go:nosplit
func racereleasemergeg(gp *g, addr unsafe.Pointer) {
	if getg().raceignore != 0 {
		return
	}
	if s := hbSyncAt(uintptr(addr), true); s != nil {
		if hbTrace.on {
			hbTraceSync(hbOfG(gp), hbTraceMerge, uintptr(addr))
		}
		s.merge(hbOfG(gp))
		s.mu.unlock()
	}
}

//go:nosplit
func racereleaseacquire(addr unsafe.Pointer) { racereleaseacquireg(getg(), addr) }

//go:nosplit
func racereleaseacquireg(gp *g, addr unsafe.Pointer) {
	if getg().raceignore != 0 {
		return
	}
	if s := hbSyncAt(uintptr(addr), true); s != nil {
		if hbTrace.on {
			hbTraceSync(hbOfG(gp), hbTraceExchange, uintptr(addr))
		}
		s.exchange(hbOfG(gp))
		s.mu.unlock()
	}
}

// racefingo orders the goroutine that runs finalizers or cleanups after all that all others have done.
// Each of them may learn more at the same moment, and release that, so the moment is marked
// before anybody can know of it: see within.
//
//go:nosplit
func racefingo() {
	g := hbOfG(getg())
	systemstack(func() {
		s := &hbSlots
		s.mu.lock()
		for slot := uint32(1); slot < s.next; slot++ {
			if other := hbSlotAt(slot); other != g {
				clock := hbClockOf(other.epoch)
				other.seen = max(other.seen, clock)
				g.clock = g.clock.with(slot, clock)
			}
		}
		g.from = hbMoment{}
		s.mu.unlock()
		if hbTrace.on {
			hbTraceEvent(g, hbTraceAcquireAll, 0, 0, 0)
		}
	})
}

// Goroutines, Ps and memory.

//go:nosplit
func racegostart(pc uintptr) uintptr {
	gp := getg()
	if gp.m.curg != nil {
		gp = gp.m.curg
	}
	return racectxstart(pc, gp.racectx)
}

//go:nosplit
func racegoend() { racectxend(getg().racectx) }

//go:nosplit
func racectxstart(pc, spawnctx uintptr) (ctx uintptr) {
	systemstack(func() {
		hbConfigure()
		ctx = uintptr(unsafe.Pointer(hbStart((*hbGo)(unsafe.Pointer(spawnctx)), pc)))
	})
	return ctx
}

//go:nosplit
func racectxend(ctx uintptr) {
	systemstack(func() { hbEnd((*hbGo)(unsafe.Pointer(ctx))) })
}

// raceproccreate returns a history for a P. The world is stopped.
//
//go:nosplit
func raceproccreate() (ctx uintptr) {
	h := hbIdleHistory
	if h != nil {
		hbIdleHistory = h.idle
		return uintptr(unsafe.Pointer(h))
	}
	systemstack(func() {
		n := hbHistoryCount.Load()
		if n == uint32(len(hbHistories)) {
			hbDie("more Ps than the engine has histories for: lower GOMAXPROCS")
		}
		h = &hbHistories[n]
		h.base = hbReserve(hbHistorySize * unsafe.Sizeof(hbMemo{}))
		hbHistoryCount.Store(n + 1)
	})
	return uintptr(unsafe.Pointer(h))
}

// raceprocdestroy keeps the history, which the next new P goes on with. The world is stopped.
func raceprocdestroy(ctx uintptr) {
	h := (*hbHistory)(unsafe.Pointer(ctx))
	h.idle, hbIdleHistory = hbIdleHistory, h
}

func racemapshadow(addr unsafe.Pointer, size uintptr) {
	if uintptr(addr)-hbHeapStart >= hbHeapSize || uintptr(addr)+size-hbHeapStart > hbHeapSize {
		hbDie("the heap is not where the runtime keeps it under race detection: use -engine=watch")
	}
}

//go:nosplit
func racemalloc(p unsafe.Pointer, size uintptr) {
	hbClear(uintptr(p), size)
	if hbSampling.stationary {
		hbSetOwner(uintptr(p), size)
	}
}

// racefree leaves the clearing to racemalloc, when the memory is in the cache.
func racefree(p unsafe.Pointer, size uintptr) {}

// raceinit is the first call of all.
func raceinit() (gctx, pctx uintptr) {
	m := &firstmoduledata
	hbDataStart = min(m.noptrdata, m.data, m.noptrbss, m.bss) &^ 7
	hbDataSize = max(m.enoptrdata, m.edata, m.enoptrbss, m.ebss) - hbDataStart
	hbDataCells = hbReserve(hbDataSize*2+16) - hbDataStart>>3<<4
	hbDataSyncs = hbReserve(hbDataSize/2+8) - hbDataStart>>3<<2
	hbHeapCells = hbReserve(hbHeapSize*2) - hbHeapStart>>3<<4
	hbHeapSyncs = hbReserve(hbHeapSize/2) - hbHeapStart>>3<<2
	hbDirty = hbReserve(hbHeapSize >> hbPageShift)
	hbForeignSyncs = hbReserve(hbForeignBuckets * 4)

	hbNodes.init(unsafe.Sizeof(hbNode{}), 1<<26)
	hbSyncs.init(unsafe.Sizeof(hbSync{}), 1<<27)
	hbSplits.init(unsafe.Sizeof(hbSplit{}), 1<<25)
	hbFrames.init(unsafe.Sizeof(hbFrame{}), 1<<23)
	hbFrameTable = hbReserve(hbBuckets * 4)
	hbFrames.alloc() // hbRootFrame
	hbDeferReturn = abi.FuncPCABIInternal(deferreturn)
	for findfunc(hbDeferReturn+hbDeferReturnSize).entry() == hbDeferReturn {
		hbDeferReturnSize++
	}
	hbSlots.base = hbReserve(hbMaxSlots * unsafe.Sizeof(hbGo{}))
	hbSlots.next = 1
	return uintptr(unsafe.Pointer(hbStart(nil, abi.FuncPCABIInternal(schedinit)+sys.PCQuantum))), raceproccreate()
}

// racefini ends the process where its main function has returned or it called os.Exit(0).
func racefini() {
	if hbRaces.Load() > 0 {
		exit(66) // as a program built with -race does
	}
	exit(0)
}

// The API of package runtime.

// RaceRead is as in a program built with -race, and so are the next ones.
//
//go:nosplit
func RaceRead(addr unsafe.Pointer) {
	hbRead1(uintptr(addr), hbPlace{pc: sys.GetCallerPC(), fp: getcallerfp()})
}

//go:nosplit
func RaceWrite(addr unsafe.Pointer) {
	hbWrite1(uintptr(addr), hbPlace{pc: sys.GetCallerPC(), fp: getcallerfp()})
}

//go:nosplit
func RaceReadRange(addr unsafe.Pointer, len int) {
	hbRange(uintptr(addr), uintptr(len), hbRead, hbPlace{pc: sys.GetCallerPC(), fp: getcallerfp()})
}

//go:nosplit
func RaceWriteRange(addr unsafe.Pointer, len int) {
	hbRange(uintptr(addr), uintptr(len), hbWrite, hbPlace{pc: sys.GetCallerPC(), fp: getcallerfp()})
}

func RaceErrors() int { return int(hbRaces.Load()) }

//go:nosplit
func RaceDisable() { getg().raceignore++ }

//go:nosplit
func RaceEnable() { getg().raceignore-- }

//go:nosplit
func hbStoreRelease(p *uint64, v uint64) {
	publicationBarrier() // also keeps the compiler from moving the stores before it
	*p = v
}

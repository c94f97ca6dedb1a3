//go:build interlock_hb

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// A trace is the input of package dynamic/predict: a file that is made for it, as large as it may
// become, and mapped into memory, so that nothing of it is lost however the process ends.
//
//	word 0  most events
//	word 1  process that writes it; the first one of a test alone does
//	word 2  events so far, or more where there was no room for some
//	word 3  where the program's text begins
//
// and the events, four words each: the object; where the program goes on, from the begin of the text, with
// the calling context in the upper half; which write is read (a record); and the epoch with hbTraced and the operation
// in its low bits, written last.
const (
	hbTraced      = 0x80
	hbTraceAtomic = 0x40
	hbTraceUpdate = 0x20 // a write that depends on the value before

	hbTraceRead       = 0 // as in package predict
	hbTraceWrite      = 1
	hbTraceLock       = 2
	hbTraceUnlock     = 3
	hbTraceRLock      = 4
	hbTraceRUnlock    = 5
	hbTraceAcquire    = 6
	hbTraceRelease    = 7
	hbTraceMerge      = 8
	hbTraceExchange   = 9
	hbTraceGo         = 10
	hbTraceAcquireAll = 11
	hbTraceForget     = 12 // the third word is how many bytes
	hbTraceFrame      = 13 // a calling context, and the number of its parent
	hbTraceNothing    = 15
)

// hbTrace is set before the main goroutine begins.
var hbTrace struct {
	on          bool    // until the file is full
	base, limit uintptr // where events begin, and how many there is room for
	next        *uint64
}

const hbTraceRoom = "make room in the folder for temporary files, or set TMPDIR to another"

// hbOpenTrace begins a trace in a file, unless another process has.
func hbOpenTrace(path string) {
	const readWrite, shared = 0x2, 0x1
	if path == "" {
		return
	}
	var name [4096]byte
	copy(name[:len(name)-1], path)
	fd := open(&name[0], readWrite, 0)
	if fd < 0 {
		hbDie("the trace file cannot be opened: " + hbTraceRoom)
	}
	head, err := mmap(nil, 4096, _PROT_READ|_PROT_WRITE, shared, fd, 0)
	if err != 0 {
		hbDie("the trace file cannot be mapped: " + hbTraceRoom)
	}
	words := (*[4]uint64)(head)
	if !atomic.Cas64(&words[1], 0, uint64(getpid())) {
		return
	}
	limit := uintptr(words[0])
	all, err := mmap(nil, alignUp(32+limit*32, 4096), _PROT_READ|_PROT_WRITE, shared, fd, 0)
	if err != 0 {
		hbDie("the trace file cannot be mapped: " + hbTraceRoom)
	}
	closefd(fd)
	words = (*[4]uint64)(all)
	words[3] = uint64(firstmoduledata.text)
	hbTrace.limit, hbTrace.next = limit, &words[2]
	hbTrace.base, hbTrace.on = uintptr(all)+32, true
}

// hbTraceEvent adds an event of g.
//
//go:nosplit
func hbTraceEvent(g *hbGo, op uint64, obj, pc uintptr, from uint64) {
	if g != nil && !g.quiet {
		hbTraceAdd(g.epoch|op, obj, pc, g.frame, from)
	}
}

//go:nosplit
func hbTraceAdd(head uint64, obj, pc uintptr, frame uint32, from uint64) {
	i := uintptr(atomic.Xadd64(hbTrace.next, 1) - 1)
	if i >= hbTrace.limit {
		hbTrace.on = false
		return
	}
	if i%hbTraceBatch == 0 {
		hbTracePopulate(i)
	}
	if pc != 0 {
		pc -= firstmoduledata.text
	}
	e := (*[4]uint64)(unsafe.Pointer(hbTrace.base + i*32))
	e[0], e[1], e[2] = uint64(obj), uint64(uint32(pc))|uint64(frame)<<32, from
	hbStoreRelease(&e[3], head|hbTraced)
}

// hbTraceBatch is for how many events memory is made at once. A page fault for each 128 takes longer than they do.
const hbTraceBatch = 1 << 15

// hbTracePopulate makes memory for event i and those behind it. An older kernel does not know how, and makes
// it page by page.
//
//go:nosplit
//go:noinline
func hbTracePopulate(i uintptr) {
	const populateWrite = 23 // MADV_POPULATE_WRITE
	n := min(hbTraceBatch, hbTrace.limit-i)
	systemstack(func() {
		from := (hbTrace.base + i*32) &^ 4095
		madvise(unsafe.Pointer(from), hbTrace.base+(i+n)*32-from, populateWrite)
	})
}

// hbTraceAccess adds an access of the bytes in record of the granule at addr, with w and r in its
// shadow. The granule's cell is locked, or not split and its records are ordered before the access.
//
//go:nosplit
func hbTraceAccess(g *hbGo, addr uintptr, record uint64, kind hbKind, w, r uint64, at hbPlace) {
	pc := at.pc
	if at.callpc != 0 { // the runtime or package sync accesses it for its caller
		pc = at.callpc
	}
	op := uint64(hbTraceRead)
	if kind&hbWrite != 0 {
		op = hbTraceWrite
		if at.callpc != 0 { // of an entry of a map, where other entries stay
			op |= hbTraceUpdate
		}
	}
	if kind&hbAtomic != 0 {
		op |= hbTraceAtomic
	}
	mask := record & hbMask
	if w&hbIsSplit == 0 {
		hbTraceEvent(g, op, addr&^7, pc, hbSeen(w, mask))
		return
	}
	s := (*hbSplit)(hbSplits.at(uint32(r)))
	rest := mask
	for k := uint64(0); k < s.n; k++ {
		if lane := &s.lanes[k]; lane.mask&mask != 0 {
			rest &^= lane.mask
			hbTraceEvent(g, op, addr&^7, pc, hbSeen(lane.write, lane.mask&mask))
		}
	}
	if rest != 0 {
		hbTraceEvent(g, op, addr&^7, pc, rest)
	}
}

// hbSeen returns the write that an access of the bytes in mask sees, with these bytes as its mask.
//
//go:nosplit
func hbSeen(write, mask uint64) uint64 {
	if write&mask == 0 {
		return mask
	}
	return write&^(hbMask|hbIsAtomic) | mask
}

// hbTraceSync adds an operation at addr. Its sync object is locked.
//
//go:nosplit
func hbTraceSync(g *hbGo, op uint64, addr uintptr) {
	hbTraceEvent(g, op, addr, 0, 0)
	if op == hbTraceAcquire {
		g.tick() // so that the next steps are of another epoch than those before
	}
}

// hbTraceChan orders the operations of a channel as they come, with that of a goroutine that has waited for
// this one. The channel is locked.
//
//go:nosplit
func hbTraceChan(c *hchan, sg *sudog) {
	if !hbTrace.on {
		return
	}
	if sg != nil && sg.g != nil && sg.g != getg() {
		hbTraceEvent(hbOfG(sg.g), hbTraceExchange, uintptr(unsafe.Pointer(c)), 0, 0)
	}
	hbTraceEvent(hbOfG(getg()), hbTraceExchange, uintptr(unsafe.Pointer(c)), 0, 0)
}

// hbTraceLocking adds an operation of a lock where the call of internal/race at pc is one of package
// sync, and reports whether it was. fp is the frame pointer of the caller.
//
//go:nosplit
func hbTraceLocking(addr, pc, fp uintptr, op uint64) bool {
	gp := getg()
	g := hbOfG(gp)
	if g == nil || gp.raceignore != 0 {
		return false
	}
	switch kind := hbKindOf(pc); {
	case kind == hbInLock || kind == hbInLockSlow:
		op = hbTraceLock
	case kind == hbInUnlock:
		op = hbTraceUnlock
	case kind == hbInRWMutexRead && op == hbTraceAcquire:
		op = hbTraceRLock
	case kind == hbInRWMutexRead:
		op, addr = hbTraceRUnlock, addr+4 // behind writerSem, which is released here, lies readerSem
	case kind == hbInRWMutex && op == hbTraceAcquire:
		if g.traced == addr+4 { // the second of two: writerSem
			g.traced = 0
			return true
		}
		g.traced = addr
		op = hbTraceLock
	case kind == hbInRWMutex:
		op = hbTraceUnlock
	default:
		return false
	}
	for k := 0; k < 4 && hbKindOf(pc) != hbOutsideSync; k++ {
		pc, fp = hbCallerOf(gp, pc, fp)
	}
	hbTraceEvent(g, op, addr, pc, 0)
	g.tick()
	return true
}

// hbCallerOf returns where the caller of the function goes on that goes on at pc and has its frame at fp, and
// the caller's frame.
//
//go:nosplit
func hbCallerOf(gp *g, pc, fp uintptr) (uintptr, uintptr) {
	if fp-gp.stack.lo >= gp.stack.hi-gp.stack.lo-16 {
		return pc, fp
	}
	return *(*uintptr)(unsafe.Pointer(fp + 8)), *(*uintptr)(unsafe.Pointer(fp))
}

// hush begins an operation of sync/atomic that is called at pc by a function with its frame at
// fp: one of a lock's own words is part of the lock's operation.
//
//go:nosplit
func (h *hbGo) hush(gp *g, pc, fp uintptr) {
	if hbKindOf(pc) == hbInAtomic { // a method of the types there
		pc, _ = hbCallerOf(gp, pc, fp)
	}
	h.quiet = hbKindOf(pc) >= hbInLock
}

// The operations of package internal/race, through which package sync goes.

//go:linkname race_Acquire internal/race.Acquire
//go:nosplit
func race_Acquire(addr unsafe.Pointer) {
	if hbTrace.on && hbTraceLocking(uintptr(addr), sys.GetCallerPC(), getcallerfp(), hbTraceAcquire) {
		hbUntraced(addr, hbTraceAcquire)
		return
	}
	raceacquire(addr)
	hbHold(uintptr(addr), sys.GetCallerPC())
}

//go:linkname race_Release internal/race.Release
//go:nosplit
func race_Release(addr unsafe.Pointer) {
	if hbTrace.on && hbTraceLocking(uintptr(addr), sys.GetCallerPC(), getcallerfp(), hbTraceRelease) {
		hbUntraced(addr, hbTraceRelease)
		return
	}
	racerelease(addr)
}

//go:linkname race_ReleaseMerge internal/race.ReleaseMerge
//go:nosplit
func race_ReleaseMerge(addr unsafe.Pointer) {
	if hbTrace.on && hbTraceLocking(uintptr(addr), sys.GetCallerPC(), getcallerfp(), hbTraceMerge) {
		hbUntraced(addr, hbTraceMerge)
		return
	}
	racereleasemerge(addr)
}

// hbUntraced does an operation of a lock, which the trace has as such.
//
//go:nosplit
func hbUntraced(addr unsafe.Pointer, op uint64) {
	g := hbOfG(getg())
	s := hbSyncAt(uintptr(addr), op != hbTraceAcquire)
	if s == nil {
		return
	}
	switch op {
	case hbTraceAcquire:
		s.acquire(g)
	case hbTraceRelease:
		s.release(g)
	default:
		s.merge(g)
	}
	s.mu.unlock()
}

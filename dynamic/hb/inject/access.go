//go:build interlock_hb

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// A record is an access in 64 bits: its bytes of the granule, its moment and its goroutine. 0 is
// none. An access is made at an epoch, a slot and its clock (FastTrack): it happens
// before all steps of goroutines with a clock of that slot that is as high.
//
//	bits 0-7    mask: bit i for byte i of the granule
//	bits 8-39   clock
//	bits 40-57  slot
//	bit 58      made by sync/atomic
//	bit 61      of an epoch: not all accesses are recorded, see hbSample
//	bit 62, 63  of a cell's first word: the cell is split, locked
type hbRecord = uint64

const (
	hbTick      = 1 << 8
	hbMask      = 1<<8 - 1
	hbIsAtomic  = 1 << 58
	hbIsSampled = 1 << 61
	hbIsSplit   = 1 << 62
	hbIsLocked  = 1 << 63

	hbMaxClock = 1<<32 - 1
	hbMaxSlots = 1 << 18
)

//go:nosplit
func hbSlotOf(r hbRecord) uint32 { return uint32(r>>40) & (hbMaxSlots - 1) }

//go:nosplit
func hbClockOf(r hbRecord) uint32 { return uint32(r >> 8) }

// hbCell is the shadow of a granule of 8 bytes: its last write and its last read. Where
// that is not enough, because parts of the granule are variables of their own or several
// goroutines read it, the cell is split: r is the number of an hbSplit. w's lock bit
// guards both words.
type hbCell struct {
	_    sys.NotInHeap
	w, r uint64
}

// hbKind is how memory is accessed.
type hbKind uint64

const (
	hbRead   hbKind = 0
	hbWrite  hbKind = 1
	hbAtomic hbKind = 2
)

// hbEarlier is an access that the one at hand is not ordered after.
type hbEarlier struct {
	record hbRecord // 0: none
	kind   hbKind
}

// knows reports whether the goroutine is ordered after a recorded access.
//
//go:nosplit
func (g *hbGo) knows(r hbRecord) bool {
	return hbSlotOf(r^g.epoch) == 0 || g.knowsAt(hbSlotOf(r), hbClockOf(r))
}

// conflicts reports whether an access of the bytes in mask races with a recorded one, if
// one of the two is a write.
//
//go:nosplit
func (g *hbGo) conflicts(r hbRecord, mask uint64, kind hbKind) bool {
	return r&mask&hbMask != 0 && !(kind&hbAtomic != 0 && r&hbIsAtomic != 0) && !g.knows(r)
}

// racing returns that of the two records of a cell which an access of the bytes in mask races with.
//
//go:nosplit
func (g *hbGo) racing(w, r, mask uint64, kind hbKind) hbEarlier {
	if g.conflicts(w, mask, kind) {
		return hbEarlier{w, hbWrite}
	} else if kind&hbWrite != 0 && g.conflicts(r, mask, kind) {
		return hbEarlier{r, hbRead}
	}
	return hbEarlier{}
}

// hbIsWord reports whether an access that starts at the granule's first byte takes the place
// of one of the whole granule. The compiler says where an access of one word starts, not
// where it ends, so that 'byte 0' mostly means all eight.
//
//go:nosplit
func hbIsWord(old, mask uint64) bool { return old&hbMask == hbMask && mask == 1 }

// hbCovers reports whether a record of the bytes in mask leaves nothing of an old one.
//
//go:nosplit
func hbCovers(mask, old uint64) bool { return old&hbMask&^mask == 0 || hbIsWord(old, mask) }

// hbWithout returns a record without the bytes of an access that takes its place.
//
//go:nosplit
func hbWithout(r hbRecord, mask uint64) hbRecord {
	if hbCovers(mask, r) {
		return 0
	}
	return r &^ mask
}

// hbAccess checks an access of the bytes in mask of the granule of addr, and records it.
//
//go:nosplit
func hbAccess(gp *g, cell *hbCell, addr uintptr, mask uint64, kind hbKind, at hbPlace) {
	if addr-gp.stack.lo < gp.stack.hi-gp.stack.lo {
		return // no other goroutine can reach it
	}
	g := hbOfG(gp)
	record := g.epoch | mask
	if kind&hbAtomic != 0 {
		record |= hbIsAtomic
	}
	if hbSampling.stationary && g.leaves(cell, addr, mask, kind) {
		return
	}
	if record&hbIsSampled != 0 {
		if record &^= hbIsSampled; !hbSample(gp, cell, addr, record, kind, at) {
			return
		}
	}
	// Its goroutine and place are known before it is in the cell, where others find it.
	g.name(gp)
	where := g.frame
	if at.callpc|at.fp != 0 {
		where, at.callpc = hbContext(gp, where, at)
	}
	hbRemember(gp, addr, 1, record, kind, where, at.pc)
	if !g.renew(cell, addr, record, kind, at) {
		hbInsert(g, cell, addr, record, kind, where, at)
	}
	g.touched = g.epoch
}

// hbRun checks and records an access of whole granules from addr to end, the first of which it has to record, as
// hbAccess does each of them. The history has them as one. It returns where those begin that it left.
//
//go:nosplit
//go:noinline
func hbRun(gp *g, addr, end uintptr, kind hbKind, at hbPlace) uintptr {
	end = min(end&^7, addr+8*hbMostGranules)
	g, record := hbOfG(gp), hbOfG(gp).epoch|hbMask
	g.name(gp)
	where := g.frame
	if at.callpc|at.fp != 0 {
		where, at.callpc = hbContext(gp, where, at)
	}
	hbRemember(gp, addr, (end-addr)/8, record, kind, where, at.pc)
	for cell := hbCellOf(addr); addr < end; addr += 8 {
		known := cell.w == record || kind == hbRead && cell.r == record ||
			hbSampling.stationary && g.leaves(cell, addr, hbMask, kind)
		if !known && !g.renew(cell, addr, record, kind, at) {
			hbInsert(g, cell, addr, record, kind, where, at)
		}
		cell = (*hbCell)(unsafe.Pointer(uintptr(unsafe.Pointer(cell)) + unsafe.Sizeof(hbCell{})))
	}
	g.touched = g.epoch
	return end
}

// name notes the goroutine that has the slot.
//
//go:nosplit
func (g *hbGo) name(gp *g) {
	if !g.named {
		g.named, g.occupant().goid = true, gp.goid
	}
}

// hbContext returns the calling context of an access in a function that the context where may not have entered, and
// the place behind its call, or 0.
//
//go:nosplit
func hbContext(gp *g, where uint32, at hbPlace) (uint32, uintptr) {
	if at.callpc != 0 {
		return hbCall(where, at.callpc, hbLeaf), at.callpc
	} else if at.fp != 0 && at.fp < hbEntered(gp, where) {
		return hbReach(gp, where, at.fp)
	}
	return where, 0
}

// renew makes an access in the common case, without a lock: the records in the cell are ordered before it, and
// the last access of its kind was of the same bytes or made in the same epoch, or there is none. The record takes the
// place of that one. It reports whether all of that still held when the record was in its place. The trace has the
// access before that: accesses ordered after it come later, and where it did not hold hbInsert adds it once more.
//
//go:nosplit
func (g *hbGo) renew(cell *hbCell, addr uintptr, record uint64, kind hbKind, at hbPlace) bool {
	const same = hbMask | hbIsAtomic | hbIsSplit | hbIsLocked
	w, r := atomic.Load64(&cell.w), atomic.Load64(&cell.r)
	if w&(hbIsSplit|hbIsLocked) != 0 || w != 0 && !g.knows(w) || r != 0 && !g.knows(r) {
		return false
	}
	old, word := w, &cell.w
	if kind&hbWrite == 0 {
		old, word = r, &cell.r
	}
	all := record
	switch {
	case (old^record)&^hbMask == 0: // of one epoch
		all |= old
	case (old^record)&same == 0 && hbSlotOf(old) != 0: // the number of an hbSplit has no slot
	case old != 0:
		return false
	}
	if hbTrace.on {
		hbTraceAccess(g, addr, record, kind, w, r, at)
	}
	if !atomic.Cas64(word, old, all) || w|old == 0 && !hbIsSoiled(addr) {
		return false
	}
	if kind&hbWrite == 0 {
		return atomic.Load64(&cell.w) == w && atomic.Load64(&cell.r) == all
	}
	// The read stays: an access ordered after this write is ordered after a read that is before it.
	return atomic.Load64(&cell.r) == r
}

// hbInsert makes it in all other cases.
//
//go:nosplit
//go:noinline
func hbInsert(g *hbGo, cell *hbCell, addr uintptr, record uint64, kind hbKind, where uint32, at hbPlace) {
	w := cell.lockIn(addr)
	r := cell.r
	if hbTrace.on {
		hbTraceAccess(g, addr, record, kind, w, r, at)
	}
	// Races are looked for before the record takes the place of another one.
	var earlier hbEarlier
	if w&hbIsSplit != 0 && (*hbSplit)(hbSplits.at(uint32(r))).renew(g, record, kind) {
		cell.unlock(w)
	} else if w&hbIsSplit != 0 {
		earlier = hbOnSplit(g, cell, record, kind)
	} else {
		earlier = g.racing(w, r, record&hbMask, kind)
		var ok bool
		if kind&hbWrite != 0 {
			w, r, ok = g.writeInPlace(w, r, record)
		} else {
			r, ok = g.readInPlace(r, record)
		}
		if ok {
			cell.r = r
			cell.unlock(w)
		} else {
			hbSplitUp(g, cell, w, record, kind)
		}
	}
	if earlier.record != 0 {
		hbReport(g, addr&^7, record, kind, where, at.pc, earlier)
	}
}

// The three rare steps of hbAccess run on the system stack. They are functions of their own so
// that their frames do not burden it.

//go:nosplit
//go:noinline
func hbOnSplit(g *hbGo, cell *hbCell, record uint64, kind hbKind) (earlier hbEarlier) {
	systemstack(func() { earlier = hbSplitAccess(g, uint32(cell.r), record, kind, cell) })
	return earlier
}

//go:nosplit
//go:noinline
func hbSplitUp(g *hbGo, cell *hbCell, w, record uint64, kind hbKind) {
	systemstack(func() { hbSplitCell(g, cell, w, cell.r, record, kind) })
}

//go:nosplit
//go:noinline
func hbReport(g *hbGo, addr uintptr, record uint64, kind hbKind, where uint32, pc uintptr, earlier hbEarlier) {
	systemstack(func() { hbFound(g, addr, record, kind, where, pc, earlier) })
}

// writeInPlace returns the two words of a cell after a write; ok is false where two
// words do not suffice.
//
//go:nosplit
func (g *hbGo) writeInPlace(w, r, record uint64) (w2, r2 uint64, ok bool) {
	mask := record & hbMask
	switch {
	case hbCovers(mask, w):
		w2 = record
	case (w^record)&^hbMask == 0: // of one epoch
		w2 = w | mask
	default:
		return w, r, false
	}
	// A later access that is not ordered after a read that is ordered before this
	// write, is not ordered after the write either.
	if r2 = r; r != 0 && (record&hbIsAtomic == 0 || r&hbIsAtomic == 0 || g.knows(r)) {
		r2 = hbWithout(r, mask)
	}
	return w2, r2, true
}

// readInPlace does so for a read, which leaves the cell's first word as it is.
//
//go:nosplit
func (g *hbGo) readInPlace(r, record uint64) (r2 uint64, ok bool) {
	switch {
	case r == 0:
		return record, true
	case (r^record)&^hbMask == 0:
		return r | record&hbMask, true
	case hbCovers(record&hbMask, r) && (record&hbIsAtomic == 0 || r&hbIsAtomic != 0) && g.knows(r):
		return record, true
	}
	return r, false
}

// lockIn locks the cell of addr as lock does, when its page is known to be dirty: the page may be evicted until
// the cell is locked.
//
//go:nosplit
func (c *hbCell) lockIn(addr uintptr) uint64 {
	for n := 0; ; n++ {
		hbSoil(addr, hbDirtyCells)
		w := c.lock()
		if hbIsSoiled(addr) {
			return w
		}
		c.unlock(w)
		hbPause(n)
	}
}

// lock locks a cell and returns its first word without the lock bit.
//
//go:nosplit
func (c *hbCell) lock() uint64 {
	for n := 0; ; n++ {
		w := atomic.Load64(&c.w)
		if w&hbIsLocked == 0 && atomic.Cas64(&c.w, w, w|hbIsLocked) {
			return w
		}
		hbPause(n)
	}
}

// unlock unlocks it, with w as its first word.
//
//go:nosplit
func (c *hbCell) unlock(w uint64) { hbStoreRelease(&c.w, w) }

// hbSplit is the history of a granule in up to 8 lanes: sets of bytes that were always
// accessed together, each a variable of FastTrack's. The lock of the granule's cell
// guards it.
type hbSplit struct {
	_ sys.NotInHeap

	n     uint64
	lanes [8]hbLane
}

// hbLane keeps the last write, and of the reads since then the last where they are ordered
// (a record), else each goroutine's last (a clock).
type hbLane struct {
	mask   uint64
	write  hbRecord
	reads  hbReads
	atomic hbReads // reads by sync/atomic, which atomic writes do not conflict with
}

type hbReads struct {
	last hbRecord
	all  hbClock // 0: last alone
}

// renew makes an access in the common case: it is of whole lanes, and their records are ordered before it. It reports
// whether it did. The cell is locked.
//
//go:nosplit
func (s *hbSplit) renew(g *hbGo, record uint64, kind hbKind) bool {
	mask := record & hbMask
	if kind&hbAtomic != 0 || kind == hbWrite && mask == hbMask { // of the whole granule, which is split no more
		return false
	}
	rest := mask
	for k := range min(s.n, uint64(len(s.lanes))) {
		l := &s.lanes[k]
		both := l.mask & mask
		if both != 0 && (both != l.mask || !l.isBefore(g)) {
			return false
		}
		rest &^= both
	}
	if rest != 0 {
		return false
	}
	for k := range min(s.n, uint64(len(s.lanes))) {
		switch l := &s.lanes[k]; {
		case l.mask&mask == 0:
		case kind == hbRead:
			l.reads.last = record
		default:
			l.write, l.reads.last = record, 0
		}
	}
	return true
}

// isBefore reports whether g is ordered after all that a lane holds, and that is a write and a read at the most.
//
//go:nosplit
func (l *hbLane) isBefore(g *hbGo) bool {
	return uint64(l.reads.all|l.atomic.all)|l.atomic.last == 0 &&
		(l.write == 0 || g.knows(l.write)) && (l.reads.last == 0 || g.knows(l.reads.last))
}

// All that follows runs on the system stack, with the cell locked.

func hbFreeSplit(i uint32) {
	s := (*hbSplit)(hbSplits.at(i))
	for k := range s.n {
		s.lanes[k].reads.all.release()
		s.lanes[k].atomic.all.release()
	}
	hbSplits.release(i)
}

// hbSplitCell splits a cell with the words w and r, records an access that they have no
// room for, and unlocks the cell.
func hbSplitCell(g *hbGo, cell *hbCell, w, r, record uint64, kind hbKind) {
	i := hbSplits.take()
	if i == 0 { // keep the newer access
		hbLose(hbLostCells)
		if kind&hbWrite != 0 {
			cell.r = 0
			cell.unlock(record)
		} else {
			cell.r = record
			cell.unlock(w)
		}
		return
	}
	s := (*hbSplit)(hbSplits.at(i))
	s.n = 0
	// The bytes that both, the write alone and the read alone are about.
	for _, mask := range [...]uint64{w & r & hbMask, w &^ r & hbMask, r &^ w & hbMask} {
		if mask == 0 {
			continue
		}
		lane := &s.lanes[s.n]
		*lane = hbLane{mask: mask}
		if w&mask != 0 {
			lane.write = w
		}
		switch {
		case r&mask == 0:
		case r&hbIsAtomic != 0:
			lane.atomic.last = r
		default:
			lane.reads.last = r
		}
		s.n++
	}
	cell.r = uint64(i)
	cell.w = hbIsSplit | hbIsLocked
	hbSplitAccess(g, i, record, kind, cell) // races were looked for before
}

// hbSplitAccess checks and records an access of a split cell, and unlocks the cell.
func hbSplitAccess(g *hbGo, i uint32, record uint64, kind hbKind, cell *hbCell) (earlier hbEarlier) {
	s := (*hbSplit)(hbSplits.at(i))
	mask := record & hbMask
	rest := mask
	for k := uint64(0); k < s.n; k++ {
		lane := &s.lanes[k]
		both := lane.mask & mask
		switch {
		case both == 0:
			continue
		case hbIsWord(lane.mask, mask):
			lane.mask = mask
		case both != lane.mask:
			s.divide(k, both)
		}
		rest &^= both
		if e := lane.access(g, record, kind); e.record != 0 {
			earlier = e
		}
	}
	if rest != 0 {
		lane := &s.lanes[s.n]
		*lane = hbLane{mask: rest}
		s.n++
		lane.access(g, record, kind)
	}
	if kind == hbWrite && mask == hbMask { // one record says it all
		hbFreeSplit(i)
		cell.r = 0
		cell.unlock(record)
		return earlier
	}
	cell.unlock(hbIsSplit)
	return earlier
}

// divide leaves lane k the bytes in mask, and has a new one, with the same history, for its others.
func (s *hbSplit) divide(k, mask uint64) {
	lane, other := &s.lanes[k], &s.lanes[s.n]
	*other = *lane
	other.reads.all.retain()
	other.atomic.all.retain()
	lane.mask, other.mask = mask, lane.mask&^mask
	s.n++
}

// access is FastTrack's rule for one variable.
func (l *hbLane) access(g *hbGo, record uint64, kind hbKind) (earlier hbEarlier) {
	earlier = l.racing(g, kind)
	switch {
	case kind == hbRead:
		l.reads.add(g, record)
	case kind&hbWrite == 0:
		l.atomic.add(g, record)
	default:
		l.forgetReads(g, kind)
		l.write = record
	}
	return earlier
}

// racing returns an access that one of a kind, which g makes, races with.
func (l *hbLane) racing(g *hbGo, kind hbKind) (earlier hbEarlier) {
	if l.write != 0 && !(kind&hbAtomic != 0 && l.write&hbIsAtomic != 0) && !g.knows(l.write) {
		earlier = hbEarlier{l.write, hbWrite}
	}
	if kind&hbWrite == 0 {
		return earlier
	}
	if e := l.reads.after(g); e != 0 {
		earlier = hbEarlier{e, hbRead}
	}
	if e := l.atomic.after(g); e != 0 && kind&hbAtomic == 0 {
		earlier = hbEarlier{e | hbIsAtomic, hbRead}
	}
	return earlier
}

// forgetReads forgets the reads that a write takes the place of.
func (l *hbLane) forgetReads(g *hbGo, kind hbKind) {
	l.reads.clear()
	if kind&hbAtomic == 0 || l.atomic.after(g) == 0 {
		l.atomic.clear()
	}
}

// add adds a read. Reads that are ordered before it need not be kept, so that a clock of
// all is made only where the last one is not.
func (r *hbReads) add(g *hbGo, record hbRecord) {
	if r.all == 0 {
		if r.last == 0 || g.knows(r.last) {
			r.last = record
			return
		}
		r.all = r.all.with(hbSlotOf(r.last), hbClockOf(r.last))
	}
	r.all = r.all.with(hbSlotOf(record), hbClockOf(record))
	r.last = record
}

// after returns a read that g is not ordered after, or 0.
func (r *hbReads) after(g *hbGo) hbRecord {
	if r.all == 0 {
		if r.last == 0 || g.knows(r.last) {
			return 0
		}
		return r.last
	}
	slot, clock := r.all.beyond(g.whole(), hbSlotOf(g.epoch))
	if slot == 0 {
		return 0
	}
	return uint64(slot)<<40 | uint64(clock)<<8 | r.last&hbMask
}

func (r *hbReads) clear() {
	r.all.release()
	*r = hbReads{}
}

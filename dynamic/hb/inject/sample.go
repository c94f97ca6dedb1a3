//go:build interlock_hb

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// Sampling records fewer accesses, for a lower cost. Synchronisation is followed as without, and each access is
// checked against those that are recorded, so that no order is missed and nothing is reported falsely; a race is
// found if the earlier of its two accesses is recorded.
//
// Pacer (Bond, Coons and McKinley, PLDI 2010) has periods in which all accesses are recorded, and others in which
// an access is checked and forgets the recorded ones that it takes the place of: a race is then found with the
// probability of a period, whichever race it is. Pacer's periods are those between two garbage collections, for all
// threads at once, so that clocks stand still in others. Ours are so many accesses of one goroutine. Their length
// does not depend on whether they are recorded, so that the share of recorded accesses is that of the periods, and a
// goroutine that makes few accesses has its chance.

// hbSampling is set before the main goroutine begins.
var hbSampling struct {
	mark uint64 // hbIsSampled, or 0 where every access is recorded
	rate uint64 // of 2^32 periods, as many as are recorded
	seed uint64

	stationary bool // those of stationary granules are not recorded: see hbGo.leaves
	loops      bool // those in loops are the more rarely recorded: see InterlockLoop
	bursts     bool // those of functions that are often entered are not, for most entries: see isHot
}

// hbPeriodLength is how many accesses a period has.
const hbPeriodLength = 256

// hbPeriod is the present period of a goroutine.
type hbPeriod struct {
	random   uint64 // state of the generator; 0: none yet
	left     uint32 // accesses
	recorded bool
}

// hbSetSampling sets the sampling: by a number of periods of a million that are recorded, or "" for all, and the
// names of accesses that are left out beside that, with commas between.
func hbSetSampling(rate, modes string, seed uint64) {
	s := &hbSampling
	if s.rate = 1 << 32; rate != "" {
		s.rate = hbNumber(rate) << 32 / 1e6
	}
	s.stationary, s.loops, s.bursts = hbLists(modes, "sos"), hbLists(modes, "lis"), hbLists(modes, "burst")
	if rate != "" || s.loops || s.bursts {
		s.mark = hbIsSampled
	}
	if s.stationary {
		hbReserveOwners()
	}
	if s.loops {
		hbAllLoops = hbReserve(hbMaxSlots * unsafe.Sizeof(hbLoops{}))
	}
	if s.seed = seed; seed == 0 {
		s.seed = uint64(nanotime())
	}
}

// hbLists reports whether a list with commas has a name.
func hbLists(list, name string) bool {
	for len(list) >= len(name) {
		if list[:len(name)] == name && (len(list) == len(name) || list[len(name)] == ',') {
			return true
		}
		for len(list) > 0 && list[0] != ',' {
			list = list[1:]
		}
		list = list[min(1, len(list)):]
	}
	return false
}

// hbSample reports whether an access is to be recorded. Else it is checked, or known to be recorded already. In the
// epoch of a goroutine that samples hbIsSampled is set, so that no access is taken for known before it is here.
//
//go:nosplit
//go:noinline
func hbSample(gp *g, cell *hbCell, addr uintptr, record uint64, kind hbKind, at hbPlace) bool {
	g := hbOfG(gp)
	p := &g.period
	if p.left == 0 {
		p.begin(hbSlotOf(record))
	}
	p.left--
	recorded := p.recorded
	if hbSampling.loops {
		recorded = hbLoopsOf(hbSlotOf(record)).isRecorded(hbFrameAt(g.frame).depth, recorded)
	}
	w, r := atomic.Load64(&cell.w), atomic.Load64(&cell.r)
	switch {
	case hbHas(w, record), kind&hbWrite == 0 && hbHas(r, record):
		return false
	case recorded && !(hbSampling.bursts && hbFrameAt(g.frame).isHot()):
		return true
	case w|r != 0:
		hbPass(g, gp, cell, addr, record, kind, at)
	}
	return false
}

// skips reports whether an access of a granule of the heap is one that hbSample has nothing to do for, which is most of
// them. It counts in the period as there.
//
//go:nosplit
func (g *hbGo) skips(cell *hbCell, addr uintptr, kind hbKind) bool {
	p := &g.period
	if p.left == 0 || hbSampling.loops {
		return false
	}
	w, r := cell.w, cell.r
	switch record := g.epoch&^hbIsSampled | 1<<(addr&7); {
	case w|r == 0 && (p.recorded || hbSampling.stationary):
		return false
	case w|r != 0 && !hbHas(w, record) && (kind == hbWrite || !hbHas(r, record)):
		return false
	}
	p.left--
	return true
}

// hbHas reports whether a record has all bytes of another of the same epoch.
//
//go:nosplit
func hbHas(r, record hbRecord) bool { return (r^record)&^hbMask == 0 && record&hbMask&^r == 0 }

// begin begins a period of a slot. The recorded accesses are the same in each run with a seed, if slots and accesses
// are.
//
//go:nosplit
func (p *hbPeriod) begin(slot uint32) {
	if p.random == 0 {
		p.random = (hbSampling.seed + uint64(slot)) * 0x9e3779b97f4a7c15
		p.random ^= p.random>>32 | 1
	}
	p.left, p.recorded = hbPeriodLength, p.draw() < hbSampling.rate
	if hbSampling.loops {
		hbLoopsOf(slot).begin(p)
	}
}

// draw returns a number below 2^32, by xorshift64* (Vigna).
//
//go:nosplit
func (p *hbPeriod) draw() uint64 {
	p.random ^= p.random >> 12
	p.random ^= p.random << 25
	p.random ^= p.random >> 27
	return p.random * 0x2545f4914f6cdd1d >> 32
}

// isHot reports whether the last entry of a function in a calling context is to be left out. Entries are cold in bursts
// of ten, which thin out: the first ten, ten of each hundred up to a thousand, ten of each thousand up to ten
// thousand, and ten of each ten thousand then. So LiteRace samples (Marino, Musuvathi and Narayanasamy, PLDI 2009), and
// SO_n (Li, 2012) by the code that its compiler has not optimised yet.
//
//go:nosplit
func (f *hbFrame) isHot() bool {
	n := max(f.entries, 1) - 1
	every := uint32(100)
	for every < 10_000 && n >= 10*every {
		every *= 10
	}
	return n%every >= 10
}

// hbPass checks an access that is not recorded, of a granule of which others are, and forgets those that it takes the
// place of: an access that races with one of them and comes later races with this one as well.
//
//go:nosplit
//go:noinline
func hbPass(g *hbGo, gp *g, cell *hbCell, addr uintptr, record uint64, kind hbKind, at hbPlace) {
	var earlier hbEarlier
	mask := record & hbMask
	w := cell.lockIn(addr)
	if w&hbIsSplit != 0 {
		earlier = hbPassSplit(g, cell, record, kind)
	} else {
		r := cell.r
		earlier = g.racing(w, r, mask, kind)
		if kind&hbWrite != 0 {
			w = hbWithout(w, mask)
		}
		if r != 0 && g.replaces(r, kind) {
			r = hbWithout(r, mask)
		}
		cell.r = r
		cell.unlock(w)
	}
	if earlier.record != 0 {
		g.name(gp)
		where, _ := hbContext(gp, g.frame, at)
		hbReport(g, addr&^7, record, kind, where, at.pc, earlier)
	}
}

// replaces reports whether an access takes the place of a recorded read: whatever the read races with later, the access
// races with, or has raced with the read.
//
//go:nosplit
func (g *hbGo) replaces(r hbRecord, kind hbKind) bool {
	plain := r&hbIsAtomic == 0
	switch kind {
	case hbWrite:
		return true
	case hbWrite | hbAtomic:
		return plain || g.knows(r)
	case hbAtomic:
		return !plain && g.knows(r)
	}
	return g.knows(r)
}

// hbPassSplit does so for a split cell, which it unlocks.
//
//go:nosplit
func hbPassSplit(g *hbGo, cell *hbCell, record uint64, kind hbKind) (earlier hbEarlier) {
	systemstack(func() {
		i := uint32(cell.r)
		s := (*hbSplit)(hbSplits.at(i))
		for k := uint64(0); k < s.n; {
			lane := &s.lanes[k]
			if lane.mask&record&hbMask == 0 {
				k++
				continue
			}
			if e := lane.racing(g, kind); e.record != 0 {
				earlier = e
			}
			if !hbCovers(record&hbMask, lane.mask) || !lane.pass(g, kind) {
				k++
				continue
			}
			s.n--
			*lane = s.lanes[s.n] // nothing is left of it
		}
		if s.n > 0 {
			cell.unlock(hbIsSplit)
			return
		}
		hbSplits.release(i)
		cell.r = 0
		cell.unlock(0)
	})
	return earlier
}

// pass forgets the records that an access takes the place of, and reports whether nothing is left.
func (l *hbLane) pass(g *hbGo, kind hbKind) bool {
	if kind&hbWrite != 0 {
		l.write = 0
		l.forgetReads(g, kind)
	}
	if kind&hbAtomic == 0 && l.reads.after(g) == 0 {
		l.reads.clear()
	}
	if l.atomic.after(g) == 0 {
		l.atomic.clear()
	}
	return l.write == 0 && l.reads.last == 0 && l.atomic.last == 0
}

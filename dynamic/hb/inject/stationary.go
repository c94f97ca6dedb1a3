//go:build interlock_hb

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// Much memory that goroutines share is written before they share it, and only read afterwards: no access of such memory
// races (SOS: Li, Srisa-an and Dwyer, 2011; Li's thesis, 2012, chapter 2). Which accesses of a granule are recorded
// depends on its owner, a word: the record of the write in the epoch of the granule's allocation, and flags.
//
//	initial         that epoch lasts: nobody else can have learned of the granule. None is recorded
//	owned           only the slot that allocated it has accessed it since. Its writes are recorded (hbIsRewritten)
//	lost            another slot has read it, nobody has written it: none is recorded. Package variables begin so
//	non-stationary  hbIsShared: all are recorded
//
// Memory is non-stationary from where another slot accesses a granule that the owner has written after the epoch of the
// allocation, and from where it is written when it is lost. So write-write and write-read races are all found: each
// write is in the owner or recorded, and no read is left out that is not compared with it. Of read-write races that
// of the first write which is recorded is missed, or of the first one by another slot. In the thesis an object is
// lost where a reference to it is stored, which no hook shows; here it is so at its allocator's next release at the
// latest.
const (
	hbIsLost      = 1 << 59
	hbIsRewritten = 1 << 60
	hbIsShared    = 1 << 63 // and nothing else
)

// The sum with addr&^7 is the address of a granule's owner.
var hbHeapOwners, hbDataOwners uintptr

func hbReserveOwners() {
	hbHeapOwners = hbReserve(hbHeapSize) - hbHeapStart
	hbDataOwners = hbReserve(hbDataSize+8) - hbDataStart
}

//go:nosplit
func hbOwnerOf(addr uintptr) *uint64 {
	if addr-hbHeapStart < hbHeapSize {
		return (*uint64)(unsafe.Pointer(addr&^7 + hbHeapOwners))
	}
	return (*uint64)(unsafe.Pointer(addr&^7 + hbDataOwners))
}

// hbSetOwner notes when a range of the heap is allocated, and by which slot.
//
//go:nosplit
func hbSetOwner(addr, size uintptr) {
	if addr-hbHeapStart >= hbHeapSize {
		return
	}
	epoch := uint64(0)
	if g := hbOfG(getg()); g != nil {
		epoch = g.epoch &^ hbIsSampled
	}
	for end := addr + size; addr < end; addr += 8 {
		*hbOwnerOf(addr) = epoch
	}
}

// leaves reports whether an access is not to be recorded, as its granule is stationary or read by its owner alone.
//
//go:nosplit
//go:noinline
func (g *hbGo) leaves(cell *hbCell, addr uintptr, mask uint64, kind hbKind) bool {
	for owner := hbOwnerOf(addr); ; {
		o := atomic.Load64(owner)
		own := hbSlotOf(o^g.epoch) == 0 && o&hbIsLost == 0
		switch {
		case o == hbIsShared:
			return false
		case kind == hbRead && own:
			return true
		case kind == hbRead && o&hbIsRewritten == 0 && !g.conflicts(o, mask, kind):
			if o&hbIsLost != 0 || o == 0 || atomic.Cas64(owner, o, o|hbIsLost) {
				return true
			}
		case kind != hbWrite || !own:
			cell.take(addr, owner, hbIsShared)
			return false
		case o&hbIsRewritten != 0:
			return false
		case hbClockOf(o) != hbClockOf(g.epoch):
			cell.take(addr, owner, hbIsRewritten)
			return false
		case o&mask == mask || atomic.Cas64(owner, o, o|mask): // initial
			return true
		}
	}
}

// take has a cell take over the record of its granule's owner, and the owner a state from which nothing leads back.
//
//go:nosplit
func (c *hbCell) take(addr uintptr, owner *uint64, state uint64) {
	w := c.lockIn(addr)
	for o := atomic.Load64(owner); o != hbIsShared; o = atomic.Load64(owner) {
		next := uint64(hbIsShared)
		if state == hbIsRewritten {
			next = o | state
		}
		if !atomic.Cas64(owner, o, next) {
			continue
		}
		if o&hbMask != 0 && o&hbIsRewritten == 0 {
			w = o &^ hbIsLost
		}
		break
	}
	c.unlock(w)
}

//go:build interlock_hb

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// Much of what goroutines share is written by the goroutine that has allocated it, and only read afterwards: no access
// of such memory races (SOS: Li, Srisa-an and Dwyer, 2011; Li's thesis, 2012, chapter 2). A granule is in one of three
// states, which its owner stands for:
//
//	initial         the slot of the goroutine that has allocated it, while no other has accessed it
//	lost            0: another has; so is each package variable from the start
//	non-stationary  hbShared: it has been written since, or accessed by sync/atomic
//
// Accesses are recorded and checked in the last state alone, which the first write of a lost granule begins. A race of
// that write, or of one before it, with an earlier access is missed. In the thesis an object is lost where a reference
// to it is stored, which no hook shows.
const hbShared = ^uint32(0)

// What is to be added to addr>>3<<2 for the address of a granule's owner.
var hbHeapOwners, hbDataOwners uintptr

func hbReserveOwners() {
	hbHeapOwners = hbReserve(hbHeapSize/2) - hbHeapStart>>3<<2
	hbDataOwners = hbReserve(hbDataSize/2+8) - hbDataStart>>3<<2
}

//go:nosplit
func hbOwnerOf(addr uintptr) *uint32 {
	if addr-hbHeapStart < hbHeapSize {
		return (*uint32)(unsafe.Pointer(addr>>3<<2 + hbHeapOwners))
	}
	return (*uint32)(unsafe.Pointer(addr>>3<<2 + hbDataOwners))
}

// hbSetOwner notes who allocates a range of the heap.
//
//go:nosplit
func hbSetOwner(addr, size uintptr) {
	if addr-hbHeapStart >= hbHeapSize {
		return
	}
	slot := uint32(0)
	if g := hbOfG(getg()); g != nil {
		slot = hbSlotOf(g.epoch)
	}
	for end := addr + size; addr < end; addr += 8 {
		*hbOwnerOf(addr) = slot
	}
}

// hbIsStationary reports whether a granule is stationary once an access by the goroutine with a slot is made.
//
//go:nosplit
func hbIsStationary(addr uintptr, slot uint32, kind hbKind) bool {
	owner := hbOwnerOf(addr)
	switch o := atomic.Load(owner); {
	case o == hbShared:
		return false
	case kind&hbAtomic != 0:
	case o == slot:
		return true
	case kind == hbRead:
		if o != 0 {
			atomic.Cas(owner, o, 0) // unless another has written it meanwhile
		}
		return true
	}
	atomic.Store(owner, hbShared)
	return false
}

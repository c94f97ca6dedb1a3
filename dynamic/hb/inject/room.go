//go:build interlock_hb

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// hbRoom bounds the memory of the heap's cells, which grows with the heap: two bytes for one that is
// accessed. Where as many pages have cells as may have, those of others are forgotten, in the order of their
// addresses, round and round. mu guards all of it.
type hbRoom struct {
	mu     hbSpin
	limit  uintptr // pages
	backed uintptr // pages that have hbBacked
	top    uintptr // index of the page behind the last one that ever had
	hand   uintptr // where the next one is looked for
}

var hbPages = hbRoom{limit: ^uintptr(0)}

const (
	hbDefaultMemory = 4 << 30
	hbPageCells     = 1 << hbPageShift / 8
	hbPageShadow    = hbPageCells * unsafe.Sizeof(hbCell{})
)

// hbBound bounds the memory of cells, and of the histories of those that are split, to half of so many bytes each.
func hbBound(bytes uintptr) {
	hbPages.limit = max(bytes/2/hbPageShadow, 128)
	hbSplits.limit = min(hbSplits.limit, uint32(bytes/2/hbSplits.size))
}

// hbBack counts the page of addr, and makes room for it.
//
//go:nosplit
//go:noinline
func hbBack(addr uintptr) {
	systemstack(func() {
		p := &hbPages
		p.mu.lock()
		b := hbDirtOf(addr)
		lost := uintptr(0)
		if *b&hbBacked == 0 {
			if p.backed >= p.limit {
				lost = p.evict(64)
			}
			atomic.Or8(b, hbBacked)
			p.backed++
			p.top = max(p.top, (addr-hbHeapStart)>>hbPageShift+1)
		}
		p.mu.unlock()
		for range lost {
			hbLose(hbLostPages)
		}
	})
}

// evict empties n pages, and returns how many of them held something. It runs on the system stack.
func (p *hbRoom) evict(n uintptr) (lost uintptr) {
	for ; n > 0; p.hand++ {
		if p.hand >= p.top {
			p.hand = 0
		}
		addr := uintptr(hbHeapStart) + p.hand<<hbPageShift
		if *hbDirtOf(addr)&hbBacked == 0 {
			continue
		}
		if hbEvictPage(addr) {
			lost++
		}
		p.backed--
		n--
	}
	return lost
}

// hbEvictPage empties the page at addr, and reports whether it held something. While all of its cells are locked
// nobody can add to it. Goroutines that wait for one find it open and empty then, in a page that they mark again. A
// cell that is cleared meanwhile, as its memory is allocated, is open too early: a goroutine that locks it then sees
// the page's mark, and waits as well.
func hbEvictPage(addr uintptr) bool {
	first := hbCellOf(addr)
	b := hbDirtOf(addr)
	atomic.Or8(b, hbEvicted)
	for i := range uintptr(hbPageCells) {
		c := (*hbCell)(unsafe.Pointer(uintptr(unsafe.Pointer(first)) + i*unsafe.Sizeof(hbCell{})))
		if w := c.lock(); w&hbIsSplit != 0 {
			hbFreeSplit(uint32(c.r))
		}
	}
	held := *b&hbDirtyCells != 0
	atomic.And8(b, ^uint8(hbDirtyCells|hbBacked))
	madvise(unsafe.Pointer(first), hbPageShadow, _MADV_DONTNEED)
	atomic.And8(b, ^uint8(hbEvicted))
	return held
}

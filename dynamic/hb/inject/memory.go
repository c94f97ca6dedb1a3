//go:build interlock_hb

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// All memory of the engine lies outside of the Go heap, in ranges that are reserved
// at the start and that the system backs as they are touched. Nothing in it is a Go
// pointer: blocks are named by their index in a pool, 0 being none.

// The runtime keeps the heap of a program built with race detection in this range.
const (
	hbHeapStart = 0xc000000000
	hbHeapSize  = 0xe000000000 - hbHeapStart
)

// Shadow memory. A granule of 8 bytes has a cell of 16 and, where something
// synchronises by it, the number of the first of its sync objects. A page of the heap is dirty where
// its shadow may hold something, so that memory which is allocated elsewhere need not be cleared.
const (
	hbPageShift  = 12
	hbDirtyCells = 1
	hbDirtySyncs = 2
	hbBacked     = 4 // the system has been asked for memory for its cells: see hbRoom
	hbEvicted    = 8 // its cells are being emptied
)

// Set by raceinit, and never changed: the sums with addr>>3<<4 are addresses of
// cells, those with addr>>3<<2 addresses of sync objects.
var (
	hbHeapCells, hbHeapSyncs uintptr
	hbDataCells, hbDataSyncs uintptr
	hbDataStart, hbDataSize  uintptr // package variables
	hbDirty                  uintptr // a byte a page of the heap
	hbForeignSyncs           uintptr // [hbForeignBuckets]uint32
)

// hbPool hands out blocks of one size. mu guards next and free.
type hbPool struct {
	base, size uintptr
	limit      uint32 // number of blocks
	mu         hbSpin
	next       uint32
	free       uint32 // a list through the blocks' first words
}

var (
	hbNodes  hbPool // of vector clocks
	hbSyncs  hbPool
	hbSplits hbPool // cells with more than two records
	hbFrames hbPool // calling contexts
)

// hbLost counts data that the engine could not keep. Races may be missed where a counter is
// not 0; nothing is reported falsely.
var hbLost [5]atomic.Uint64

const (
	hbLostCells  = iota // accesses forgotten, as hbSplits was full
	hbLostFrames        // callers missing in stacks, as hbFrames was full
	hbLostSlots         // goroutines that have the slot of another that nothing orders before them
	hbLostClocks        // releases without a tick, as a clock was at its end
	hbLostPages         // pages of the heap with accesses that were forgotten, as memory was at its bound
)

// hbLose counts a loss, and reports it when there are 1, 2, 4, 8 … of the kind.
//
//go:nosplit
func hbLose(kind int) {
	// A later read may see a write that is forgotten: the trace ends here.
	if hbTrace.on && kind != hbLostFrames {
		hbTrace.limit = min(hbTrace.limit, uintptr(*hbTrace.next))
	}
	if n := hbLost[kind].Add(1); n&(n-1) == 0 {
		systemstack(func() { hbReportLosses() })
	}
}

// hbReserve reserves n bytes, zeroed as they are first touched.
func hbReserve(n uintptr) uintptr {
	const noReserve = 0x4000 // MAP_NORESERVE
	n = alignUp(n, 1<<16)
	p, err := mmap(nil, n, _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE|noReserve, -1, 0)
	if err != 0 {
		hbDie("reserving address space for shadow memory failed: lift the limit (ulimit -v, vm.overcommit_memory=2)")
	}
	madvise(p, n, _MADV_NOHUGEPAGE) // a page touched is not to cost two megabytes
	return uintptr(p)
}

// hbFewerTests is the next step where one process has more goroutines or locks than there is room for.
const hbFewerTests = "run fewer tests in one process (-- -run=..., -- -parallel=1), or use -engine=watch"

// hbDie ends the process: an engine at fault reports nothing. Behind the colon of why is the next step.
func hbDie(why string) {
	write(2, unsafe.Pointer(unsafe.StringData("interlock: happens-before engine: ")), 34)
	write(2, unsafe.Pointer(unsafe.StringData(why)), int32(len(why)))
	write(2, unsafe.Pointer(unsafe.StringData("\n")), 1)
	exit(3)
}

func (p *hbPool) init(size uintptr, limit uint32) {
	p.size, p.limit, p.next = size, limit, 1
	p.base = hbReserve(size * uintptr(limit))
}

//go:nosplit
func (p *hbPool) at(i uint32) unsafe.Pointer { return unsafe.Pointer(p.base + uintptr(i)*p.size) }

// alloc returns a zeroed block, or 0 where the pool is exhausted.
func (p *hbPool) alloc() uint32 {
	i := p.take()
	if i != 0 {
		memclrNoHeapPointers(p.at(i), p.size)
	}
	return i
}

// take returns a block with its former contents, or 0.
func (p *hbPool) take() (i uint32) {
	p.mu.lock()
	switch {
	case p.free != 0:
		i = p.free
		p.free = *(*uint32)(p.at(i))
	case p.next < p.limit:
		i = p.next
		p.next++
	}
	p.mu.unlock()
	return i
}

func (p *hbPool) release(i uint32) {
	p.mu.lock()
	*(*uint32)(p.at(i)) = p.free
	p.free = i
	p.mu.unlock()
}

// hbSpin is a lock for sections of a few nanoseconds that neither grow the stack nor
// can be preempted. The zero value is open.
type hbSpin struct{ held uint32 }

//go:nosplit
func (s *hbSpin) lock() {
	for n := 0; !atomic.Cas(&s.held, 0, 1); n++ {
		hbPause(n)
	}
}

// unlock needs no more than a store behind all others, which is much cheaper than atomic.Store.
//
//go:nosplit
func (s *hbSpin) unlock() {
	publicationBarrier()
	s.held = 0
}

// hbPause waits for a lock that was taken n times before.
//
//go:nosplit
func hbPause(n int) {
	if n < 30 {
		procyield(10)
	} else {
		osyield()
	}
}

// hbCellOf returns the cell of an address, nil for memory that is neither heap nor data.
//
//go:nosplit
func hbCellOf(addr uintptr) *hbCell {
	if addr-hbHeapStart < hbHeapSize {
		return (*hbCell)(unsafe.Pointer(addr>>3<<4 + hbHeapCells))
	}
	if addr-hbDataStart < hbDataSize {
		return (*hbCell)(unsafe.Pointer(addr>>3<<4 + hbDataCells))
	}
	return nil
}

// hbForeignBuckets is how many lists the sync objects of foreign memory have: memory that a program has mapped itself
// (syscall.Mmap), or that C has allocated. The engine does not learn when such memory is released, so that their
// sync objects stay.
const hbForeignBuckets = 1 << 16

// hbSyncOf returns where the number of the first sync object of an address's granule stands; for foreign memory,
// that of its bucket.
//
//go:nosplit
func hbSyncOf(addr uintptr) *uint32 {
	if addr-hbHeapStart < hbHeapSize {
		return (*uint32)(unsafe.Pointer(addr>>3<<2 + hbHeapSyncs))
	}
	if addr-hbDataStart < hbDataSize {
		return (*uint32)(unsafe.Pointer(addr>>3<<2 + hbDataSyncs))
	}
	return (*uint32)(unsafe.Pointer(hbForeignSyncs + addr>>3*0x9e3779b97f4a7c15>>48<<2))
}

// hbDirtOf returns the mark of the page of an address of the heap.
//
//go:nosplit
func hbDirtOf(addr uintptr) *uint8 {
	return (*uint8)(unsafe.Pointer(hbDirty + (addr-hbHeapStart)>>hbPageShift))
}

// hbSoil notes that a page's shadow may hold something. None of its callers has locked a cell.
//
//go:nosplit
func hbSoil(addr uintptr, what uint8) {
	if addr-hbHeapStart < hbHeapSize {
		b := hbDirtOf(addr)
		if *b&what == 0 {
			if what == hbDirtyCells && *b&hbBacked == 0 {
				hbBack(addr)
			}
			atomic.Or8(b, what)
		}
	}
}

// hbIsSoiled reports whether it is noted of a page that it has cells. It stays so while one of them is locked.
//
//go:nosplit
func hbIsSoiled(addr uintptr) bool {
	return addr-hbHeapStart >= hbHeapSize || *hbDirtOf(addr)&(hbDirtyCells|hbEvicted) == hbDirtyCells
}

// hbClear forgets all about a range of the heap that is allocated anew, which nobody
// else can reach.
//
//go:nosplit
func hbClear(addr, size uintptr) {
	if addr-hbHeapStart >= hbHeapSize {
		return
	}
	for end := addr + size; addr < end; {
		stop := min(end, (addr>>hbPageShift+1)<<hbPageShift)
		if dirty := *hbDirtOf(addr); dirty&(hbDirtyCells|hbDirtySyncs) != 0 {
			if hbTrace.on {
				hbTraceEvent(hbOfG(getg()), hbTraceForget, addr, 0, uint64(stop-addr))
			}
			first := uintptr(unsafe.Pointer(hbCellOf(addr)))
			for at := first; at < first+(stop-addr&^7+7)>>3<<4; at += unsafe.Sizeof(hbCell{}) {
				if cell := (*hbCell)(unsafe.Pointer(at)); cell.w|cell.r != 0 {
					hbForget(cell)
				}
			}
			if dirty&hbDirtySyncs != 0 {
				for a := addr &^ 7; a < stop; a += 8 {
					if s := hbSyncOf(a); *s != 0 {
						hbDropSyncs(s)
					}
				}
			}
			if stop-addr == 1<<hbPageShift {
				atomic.And8(hbDirtOf(addr), ^uint8(hbDirtyCells|hbDirtySyncs))
			}
		}
		addr = stop
	}
}

// hbForget empties a cell.
//
//go:nosplit
func hbForget(cell *hbCell) {
	if cell.w&hbIsSplit != 0 { // its page may be evicted at this moment
		w := cell.lock()
		if w&hbIsSplit != 0 {
			i := uint32(cell.r)
			systemstack(func() { hbFreeSplit(i) })
		}
	}
	cell.w, cell.r = 0, 0
}

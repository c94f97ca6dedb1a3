//go:build interlock_hb

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// hbFrame is a calling context: the call at pc, made in the context parent. The contexts of
// all goroutines are one tree, so that a stack is one number, and entering a function
// that its caller called last as well costs a comparison.
//
// depth is how far from the base of its stack the called function's frame is. Frames that a
// panic or Goexit has unwound are recognised by it: racefuncexit is not called for them.
type hbFrame struct {
	_ sys.NotInHeap

	pc     uintptr
	parent uint32
	depth  uint32
	last   uint32 // the child that was entered last
	then   uint32 // the sibling that was entered after it the last time
	next   uint32 // in the bucket

	entries uint32 // where these are counted: see isHot
}

const (
	hbRootFrame = 1
	hbLeaf      = ^uint32(0) // depth of a call that is not entered
	hbBuckets   = 1 << 18
)

var (
	hbFrameTable uintptr // [hbBuckets]uint32

	hbDeferReturn, hbDeferReturnSize uintptr // where the runtime's deferreturn is
)

//go:nosplit
func hbFrameAt(i uint32) *hbFrame {
	return (*hbFrame)(unsafe.Pointer(hbFrames.base + uintptr(i)*unsafe.Sizeof(hbFrame{})))
}

// hbEnter notes that a function begins with a caller that goes on at callpc. fp is its frame pointer, with callpc
// behind it. A deferred function is called by the runtime's deferreturn, and counts as called by the function
// that calls that: where the only frame of a goroutine is its first function's, nothing else names it.
//
//go:nosplit
func hbEnter(g *hbGo, callpc uintptr, depth uint32, fp uintptr) {
	if callpc-hbDeferReturn < hbDeferReturnSize && *(*uintptr)(unsafe.Pointer(fp + 8)) == callpc {
		callpc = *(*uintptr)(unsafe.Pointer(*(*uintptr)(unsafe.Pointer(fp)) + 8))
	}
	i := g.frame
	f := hbFrameAt(i)
	for f.depth >= depth && i != hbRootFrame {
		i = f.parent
		f = hbFrameAt(i)
	}
	g.frame = hbCall(i, callpc, depth)
	if hbSampling.bursts {
		hbFrameAt(g.frame).entries++
	}
}

// hbLeave notes that it ends.
//
//go:nosplit
func hbLeave(g *hbGo, depth uint32) {
	i := g.frame
	f := hbFrameAt(i)
	for f.depth >= depth && i != hbRootFrame {
		i = f.parent
		f = hbFrameAt(i)
	}
	g.frame = i
}

// hbCall returns the context of a call that is made in the context parent, or parent itself
// where there is no room for it.
//
//go:nosplit
func hbCall(parent uint32, pc uintptr, depth uint32) uint32 {
	from := hbFrameAt(parent)
	before := from.last
	if before != 0 {
		c := hbFrameAt(before)
		if c.pc == pc && c.depth == depth { // as the last time
			return before
		}
		// Most functions call the same ones in the same order, round and round.
		if i := c.then; i != 0 && hbFrameAt(i).pc == pc && hbFrameAt(i).depth == depth {
			from.last = i
			return i
		}
	}
	h := uint64(pc)*0x9e3779b97f4a7c15 ^ uint64(parent)*0xc2b2ae3d27d4eb4f + uint64(depth)
	h *= 0x9e3779b97f4a7c15
	bucket := (*uint32)(unsafe.Pointer(hbFrameTable + uintptr(h>>46)<<2))
	first := atomic.Load(bucket)
	for i := first; i != 0; {
		f := hbFrameAt(i)
		if f.pc == pc && f.parent == parent && f.depth == depth {
			if !hbSampling.bursts { // entries that are counted come here each time
				from.last = i
				if before != 0 {
					hbFrameAt(before).then = i
				}
			}
			return i
		}
		i = f.next
	}
	i := parent
	systemstack(func() { i = hbNewFrame(bucket, parent, pc, depth) })
	return i
}

// hbPlace is where the program goes on behind an access.
type hbPlace struct {
	pc     uintptr
	callpc uintptr // where the caller goes on of the runtime's function that pc is in; else 0
	fp     uintptr // frame pointer of the function that pc is in, where that may not have called racefuncenter; else 0
}

// hbEntered returns where the frame begins of the function that the context where has entered last.
//
//go:nosplit
func hbEntered(gp *g, where uint32) uintptr { return gp.stack.hi - uintptr(hbFrameAt(where).depth) }

// hbReach returns the context of an access in a function, with its frame at fp, that the context where has not
// entered, and where the last function that it has entered goes on. The compiler calls racefuncenter in no function of
// packages sync, internal/sync and sync/atomic.
//
//	f                   entered by where
//	  WaitGroup.Wait    not entered
//	    race.Write      not entered, with its frame at fp
//
//go:nosplit
//go:noinline
func hbReach(gp *g, where uint32, fp uintptr) (uint32, uintptr) {
	entered := hbEntered(gp, where)
	var calls [6]uintptr // from the innermost
	n := 0
	for n < len(calls) && fp >= gp.stack.lo && fp < entered {
		caller := *(*uintptr)(unsafe.Pointer(fp))
		if caller == 0 {
			break // of the goroutine's first function
		}
		calls[n] = *(*uintptr)(unsafe.Pointer(fp + 8))
		fp = caller
		n++
	}
	if n == 0 {
		return where, 0
	}
	for k := n - 1; k >= 0; k-- {
		where = hbCall(where, calls[k], hbLeaf)
	}
	return where, calls[n-1]
}

// hbNewFrame adds a context. Two that add the same at once leave it twice, to no harm.
func hbNewFrame(bucket *uint32, parent uint32, pc uintptr, depth uint32) uint32 {
	i := hbFrames.alloc()
	if i == 0 {
		hbLose(hbLostFrames)
		return parent
	}
	f := hbFrameAt(i)
	*f = hbFrame{pc: pc, parent: parent, depth: depth}
	if hbTrace.on {
		hbTraceAdd(hbTraceFrame, uintptr(i), pc, parent, 0)
	}
	for {
		f.next = atomic.Load(bucket)
		if atomic.Cas(bucket, f.next, i) {
			return i
		}
	}
}

// hbMemo is an access that was recorded, as the history keeps it for reports.
type hbMemo struct {
	granule uintptr // address of the first one, with the kind in its low bits
	record  hbRecord
	pc      uintptr // with the number of granules, 1 to hbMostGranules, from hbGranulesShift on
	frame   uint32
	check   uint32 // of the others: a reader while it is overwritten sees that they do not fit
}

const (
	hbGranulesShift = 48 // no code has a higher address
	hbMostGranules  = 1<<16 - 1
)

//go:nosplit
func (m *hbMemo) sum() uint32 {
	place := uint32(m.pc)<<3 ^ uint32(m.pc>>hbGranulesShift)<<9
	return uint32(m.granule) ^ uint32(m.record>>8)<<1 ^ uint32(m.record>>40)<<7 ^ place ^ m.frame<<5
}

// isOf reports whether it is an access of the granule at addr.
func (m *hbMemo) isOf(addr uintptr) bool { return addr-m.granule&^7 < m.pc>>hbGranulesShift<<3 }

// hbHistory is the history of a P, a ring. Only code on the P writes it; reports read
// it as it is, and take the entries that fit. next is also read while it is written.
type hbHistory struct {
	_    sys.NotInHeap
	base uintptr
	next uint32
	idle *hbHistory // the next one that no P has
}

var (
	hbHistories    [1024]hbHistory // raceprocctx is the address of one
	hbHistoryCount atomic.Uint32
	hbIdleHistory  *hbHistory // the first one that no P has
)

const hbHistorySize = 1 << 14 // entries of each, a power of two

//go:nosplit
func (h *hbHistory) at(i uint32) *hbMemo {
	return (*hbMemo)(unsafe.Pointer(h.base + uintptr(i&(hbHistorySize-1))*unsafe.Sizeof(hbMemo{})))
}

// hbRemember adds an access of so many granules to the history.
//
//go:nosplit
func hbRemember(gp *g, addr, granules uintptr, record hbRecord, kind hbKind, frame uint32, pc uintptr) {
	pp := gp.m.p.ptr()
	if pp == nil || pp.raceprocctx == 0 {
		return
	}
	h := (*hbHistory)(unsafe.Pointer(pp.raceprocctx))
	i := h.next
	h.next++
	m := h.at(i)
	m.granule, m.record, m.pc, m.frame = addr&^7|uintptr(kind), record, pc|granules<<hbGranulesShift, frame
	m.check = m.sum()
}

// hbRecall returns the history's record of an earlier access of one of the bytes in mask; without a pc if it is lost.
// In one epoch a plain access may come beside one of sync/atomic: only that of the record is part of the race.
func hbRecall(addr uintptr, e hbEarlier, mask uint64) hbMemo {
	for i := range hbHistoryCount.Load() {
		h := &hbHistories[i]
		for k := range min(h.next, hbHistorySize) {
			m := *h.at(h.next - 1 - k)
			epochs := (m.record ^ e.record) &^ (hbMask | hbIsSplit)
			same := m.isOf(addr) && hbKind(m.granule)&hbWrite == e.kind && epochs == 0 && m.record&mask != 0
			if same && m.check == m.sum() {
				m.pc &= 1<<hbGranulesShift - 1
				return m
			}
		}
	}
	return hbMemo{}
}

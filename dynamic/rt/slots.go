//go:build (amd64 || arm64) && !plan9

package rt

import (
	"math/bits"
	"runtime"
	"sync/atomic"
)

const (
	slotCount = 32       // windows held at the same time, at most
	stackMax  = 32 << 10 // bytes of a stack's text; the runtime cuts at 100 frames
)

// slot is one published window. Its fields are written while seq is even and
// constant while it is odd, so that who reads the same odd seq before and
// after has read one window.
type slot struct {
	seq      atomic.Uint64
	addr     atomic.Uintptr
	size     atomic.Uintptr
	site     atomic.Uint32
	mode     atomic.Uint32 // a mode
	goid     atomic.Int64
	mask     uint64      // filter bits; guarded by windowTable.mu
	hit      atomic.Bool // another goroutine has reached the window
	captured atomic.Bool // the stack's text is there
	over     atomic.Bool // the window has shown what is news, and need not last longer
}

var slots [slotCount]slot

// texts holds the stack of the goroutine in the window, taken as soon as the
// window is published, so that a collision can be written even if that
// goroutine never comes back. Written by the owner of the slot until captured is
// set; read under windowTable.mu.
var texts [slotCount]struct {
	n   int
	buf [stackMax]byte
}

// windowTable guards the slots and the filter.
var windowTable struct {
	mu spinlock

	held atomic.Uint64 // slots published; stored under mu
	open atomic.Uint64 // filter bits open to all; stored under mu
}

// spinlock guards a few instructions. It is invisible to synctest
// bubbles and to -race.
type spinlock struct{ taken atomic.Bool }

func (l *spinlock) lock() {
	for !l.taken.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
}

func (l *spinlock) unlock() { l.taken.Store(false) }

// publish makes a visible in a slot, or returns -1 if all are taken.
func publish(a *access, now int64) (i int) {
	windowTable.mu.lock()
	defer windowTable.mu.unlock()
	held := windowTable.held.Load()
	if i = bits.TrailingZeros64(^held); i >= slotCount {
		return -1
	}
	s := &slots[i]
	s.addr.Store(a.addr)
	s.size.Store(a.size)
	s.site.Store(a.site)
	s.mode.Store(uint32(a.mode))
	s.goid.Store(a.goid)
	s.hit.Store(false)
	s.captured.Store(false)
	s.over.Store(false)
	s.mask = filterMask(a.addr, a.size)
	s.seq.Add(1)
	if held == 0 {
		noise.since.Store(now)
	}
	windowTable.held.Store(held | 1<<i)
	setFilter()
	return i
}

// withdraw ends the window in slot i, releases the slot, and reports whether another
// goroutine has reached the window.
func withdraw(i int, now int64) (hit bool) {
	windowTable.mu.lock()
	defer windowTable.mu.unlock()
	hit = slots[i].hit.Load()
	slots[i].seq.Add(1)
	windowTable.held.Store(windowTable.held.Load() &^ (1 << i))
	if windowTable.held.Load() == 0 {
		noise.spent.Add(now - noise.since.Swap(0))
	}
	setFilter()
	return hit
}

// rehearse goes once through what a window needs, so that the first one is not
// late by page faults.
func rehearse() {
	i := publish(&access{addr: 1 << 20, size: 1}, start)
	captureStack(i)
	withdraw(i, start)
}

// setFilter sets the filter to what the table asks for. requires: windowTable.mu.
func setFilter() {
	filterBits := windowTable.open.Load() | sectionMask()
	if injected.site != 0 {
		filterBits = ^uint64(0)
	}
	for held := windowTable.held.Load(); held != 0; held &= held - 1 {
		filterBits |= slots[bits.TrailingZeros64(held)].mask
	}
	atomic.StoreUint64(&filter.bits, filterBits)
}

// setOpen opens the filter to the bits given and closes it to others, held
// ones apart.
func setOpen(bits uint64) {
	windowTable.mu.lock()
	windowTable.open.Store(bits)
	setFilter()
	windowTable.mu.unlock()
}

// window is a consistent copy of a published slot.
type window struct {
	access
	seq uint64
}

// load returns the window that slot i holds, if it holds one.
func load(i int) (w window, ok bool) {
	s := &slots[i]
	w.seq = s.seq.Load()
	w.access = access{addr: s.addr.Load(), size: s.size.Load(), site: s.site.Load(), goid: s.goid.Load()}
	w.mode = mode(s.mode.Load())
	return w, w.seq&1 == 1 && s.seq.Load() == w.seq
}

// captureStack takes the stack's text of the goroutine that holds slot i.
func captureStack(i int) {
	texts[i].n = runtime.Stack(texts[i].buf[:], false)
	slots[i].captured.Store(true)
}

// copyText copies the stack's text of window w, seen in slot i, to buf. It
// returns -1 if the slot has been used again since.
func copyText(i int, w *window, buf []byte) int {
	s := &slots[i]
	for s.seq.Load() == w.seq && !s.captured.Load() {
		runtime.Gosched()
	}
	windowTable.mu.lock()
	defer windowTable.mu.unlock()
	// The window may have ended; its text is there until the slot's next owner
	// has published.
	if s.seq.Load() > w.seq+1 {
		return -1
	}
	return copy(buf, texts[i].buf[:texts[i].n])
}

//go:build (amd64 || arm64) && !plan9

package rt

import (
	"math/bits"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"
)

const (
	slotCount = 32       // windows held at the same time, at most
	stackMax  = 32 << 10 // bytes of a stack's text; the runtime cuts at 100 frames
)

// slot is one published window. Its fields are written while seq is even and
// constant while it is odd, so that a reader that finds the same odd seq before
// and after has read one window.
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
	over     atomic.Bool // the window has shown a new race, and need not last longer
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

	// All windows and sections lie in [low, high). Stored under mu, and no fresher where they are read than the filter.
	low, high atomic.Uintptr
}

// spinlock guards a few instructions. It is invisible to synctest
// bubbles and to -race.
type spinlock struct{ taken atomic.Uint32 } // its methods are inlined in all builds, those of atomic.Bool are not

func (l *spinlock) lock() {
	for !l.taken.CompareAndSwap(0, 1) {
		runtime.Gosched()
	}
}

func (l *spinlock) unlock() { l.taken.Store(0) }

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

// rehearse goes once through the steps of a window, so that the first one is not
// late by page faults.
func rehearse() {
	i := publish(&access{addr: 1 << 20, size: 1}, start)
	captureStack(i)
	withdraw(i, start)
}

// setFilter sets the filter to the addresses of the table. requires: windowTable.mu.
func setFilter() {
	filterBits := windowTable.open.Load()
	if injected.site != 0 {
		filterBits = ^uint64(0)
	}
	low, high := ^uintptr(0), uintptr(0)
	add := func(mask uint64, addr, size uintptr) {
		if size != 0 { // else a section that has no variable yet
			filterBits |= mask
			low, high = min(low, addr), max(high, addr+size)
		}
	}
	for held := windowTable.held.Load(); held != 0; held &= held - 1 {
		s := &slots[bits.TrailingZeros64(held)]
		add(s.mask, s.addr.Load(), s.size.Load())
	}
	for open := openSections(); open != 0; {
		o := nextSection(&open)
		add(o.mask, o.addr.Load(), o.size.Load())
	}
	windowTable.low.Store(low)
	windowTable.high.Store(high)
	atomic.StoreUint64(&filter.bits, filterBits)
}

// mayMeet reports whether an access may overlap a window or the variable of a section. A bit of the filter stands
// for one address in 64, and a window that is held for long, or a section, has four of them.
func mayMeet(a *access) bool {
	return a.addr < windowTable.high.Load() && windowTable.low.Load() < a.addr+a.size
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

// before is beforeAccess of AtomRace, the slow path: it looks whether somebody
// is at a conflicting access, and perhaps waits here for somebody to come. When
// it returns, the access follows. A window is published before others are
// looked for, so that of two goroutines that come together one sees the other.
//
//go:noinline
func before(p unsafe.Pointer, size uintptr, id uint32, m mode) {
	beforeAccess(p, access{addr: address(p), size: size, site: id, mode: m})
}

// beforeAccess is before for the access a at the address of p.
func beforeAccess(p unsafe.Pointer, a access) {
	if injected.site != 0 && a.watchable() {
		injectFault(&a)
	}
	bit := uintptr(p) >> 3 & 63
	if windowTable.open.Load()>>bit&1 != 0 {
		visitSite(&a, bit)
	} else if a.watchable() && mayMeet(&a) {
		meet(getg(), &a)
	}
	// While p's object is in a slot it must not be freed and its address used
	// again: that would be a collision on two objects.
	runtime.KeepAlive(p)
}

// beforeMap is before for a map, which is watched as the first word of its
// header, which no variable shares.
//
//go:noinline
func beforeMap(p unsafe.Pointer, site uint32, m mode) { before(p, 8, site, m) }

// beforeElement is beforeMap for the element with a key, if that is not 0.
func beforeElement(p unsafe.Pointer, key uint64, site uint32, m mode) {
	beforeAccess(p, access{addr: address(p), size: 8, key: key, site: site, mode: m})
}

// Operations of synchronisation are accesses like others, where nothing orders them by itself:
//
//   - A send reads the channel and a close writes it, as for the race detector. If one goroutine is
//     about to close it and another to send on it, the close may come first, and the send panics.
//   - Add and Go write the counter of a WaitGroup atomically, and Wait reads it: but only while it is
//     zero, since calls that find it above may come at the same time as Wait (package sync).

// beforeChannel is before for a channel, which is watched as the first word of its header, as a map is.
//
//go:noinline
func beforeChannel(p unsafe.Pointer, site uint32, m mode) { before(p, 8, site, m) }

// beforeCounter is before for the counter of a WaitGroup, if that is zero.
//
//go:noinline
func beforeCounter(p unsafe.Pointer, site uint32, m mode) {
	if countersKnown && p != nil && atomic.LoadUint64((*uint64)(p))>>32 == 0 {
		before(p, 8, site, m)
	}
}

// countersKnown reports whether a WaitGroup's counter is the upper half of its first word. Written at
// start only.
var countersKnown = unsafe.Alignof(sync.WaitGroup{}) == 8 && findCounter()

// findCounter reports whether the counter of a WaitGroup is where it is expected.
func findCounter() bool {
	var wg sync.WaitGroup
	word := (*uint64)(unsafe.Pointer(&wg))
	wg.Add(3)
	counted := atomic.LoadUint64(word) == 3<<32
	wg.Add(-3)
	return counted && atomic.LoadUint64(word) == 0
}

// visitSite is called before an access while the filter is open to its address, which has that bit. One of
// costEvery calls is timed.
func visitSite(a *access, bit uintptr) {
	n, began := countCall(bit), int64(0)
	if n%costEvery == 0 {
		began = nanotime()
	}
	if a.watchable() {
		g := getg()
		if goidOffset != 0 {
			a.goid = goid(g)
		}
		if isolation.on {
			isolateAccess(a, g)
			return
		}
		if ns, now := consider(g, a, n); ns != 0 {
			hold(g, a, now, ns)
			return
		}
		meet(g, a)
	} else if a.addr == 0 {
		counters.shards[bit].onStack.Add(1)
	}
	if began != 0 {
		noteCost(nanotime() - began)
	}
}

// meet looks for windows of other goroutines that conflict with a, and for
// sections on its variable. The access follows.
func meet(g unsafe.Pointer, a *access) {
	meetWindows(g, a)
	if atomic.LoadUint64(&sectionGate.open) != 0 {
		meetSections(g, a)
	}
}

func meetWindows(g unsafe.Pointer, a *access) {
	for held := windowTable.held.Load(); held != 0; held &= held - 1 {
		i := bits.TrailingZeros64(held)
		w, ok := load(i)
		if !ok || !w.mode.conflicts(a.mode) || !overlap(w.addr, w.size, a.addr, a.size) {
			continue
		}
		if a.goid == 0 {
			a.goid = goid(g)
		}
		if w.goid != a.goid && known(a.site) {
			collide(i, &w, a)
		}
	}
}

// collide counts and, once a pair of sites, records that a came while w was
// held in slot i.
func collide(i int, w *window, a *access) {
	slots[i].hit.Store(true)
	counters.collisions.Add(1)
	key := pairKey(w.site, a.site)
	if p := pairPlace(key); p != nil && p.Load() == key {
		return
	}
	out.mu.lock()
	defer out.mu.unlock()
	n := copyText(i, w, out.other[:])
	p := pairPlace(key)
	if p == nil {
		counters.notWritten.Add(1)
	}
	// Where the text is gone, so is the window; there will be others.
	if n >= 0 && p != nil && p.Swap(key) != key {
		writeRace(w, out.other[:n], a)
		if !caught(w.site) || !caught(a.site) {
			slots[i].over.Store(true)
		}
		settlePair(w.site, a.site, nanotime())
	}
}

// hold holds a window for ns nanoseconds directly before access a.
func hold(g unsafe.Pointer, a *access, now, ns int64) {
	if a.goid == 0 {
		a.goid = goid(g)
	}
	i := publish(a, now)
	if i < 0 {
		counters.noSlot.Add(1)
		settle(a.site, false, now)
		meet(g, a)
		return
	}
	captureStack(i)
	meetWindows(g, a)
	delay(ns, texts[i].buf[:texts[i].n], &slots[i].over)
	end := nanotime()
	hit := withdraw(i, end)
	counters.windows.Add(1)
	counters.delayNS.Add(uint64(end - now))
	settle(a.site, hit, end)
	writeDueStats(end)
	if atomic.LoadUint64(&sectionGate.open) != 0 { // not before the delay: a section may end meanwhile
		meetSections(g, a)
	}
}

// An injected violation tries an oracle, which judges of each run whether it was
// correct: the write of one site is lost, as if another goroutine stored the old
// value behind it. The next access to the variable finds that.
var injected struct {
	site uint32 // or 0; set at start

	pending    bool           // the site has written, and nobody came since; guarded by windowTable.mu, as the next fields
	addr, size uintptr        // of the variable
	old        uint64         // its old value
	object     unsafe.Pointer // keeps it alive
}

// readInjected reads INTERLOCK_PLANT, the id of a site. Its variable must be a
// number: anything else may hold pointers, which the garbage collector has to
// hear of.
func readInjected() (problem string) {
	text := env("INTERLOCK_PLANT")
	if text == "" {
		return ""
	}
	id, err := strconv.ParseUint(text, 10, 32)
	if err != nil || !known(uint32(id)) {
		return "INTERLOCK_PLANT is no site of the table: " + strconv.Quote(text)
	}
	injected.site = uint32(id)
	return ""
}

// injectFault is called before an access, on the slow path, which every access takes
// while something is injected.
func injectFault(a *access) {
	windowTable.mu.lock()
	defer windowTable.mu.unlock()
	if injected.pending && overlap(injected.addr, injected.size, a.addr, a.size) {
		storeNumber(injected.object, injected.size, injected.old)
		injected.pending, injected.object = false, nil
	}
	if a.site != injected.site || a.mode&writes == 0 || a.addr&(a.size-1) != 0 || a.size > 8 || a.size&(a.size-1) != 0 {
		return
	}
	hidden := a.addr // from escape analysis, as in publishSection
	p := *(*unsafe.Pointer)(unsafe.Pointer(&hidden))
	injected.addr, injected.size, injected.object = a.addr, a.size, p
	injected.old = contentsOf(p, a.size, true).words[0]
	injected.pending = true
}

// storeNumber stores a number of 1, 2, 4 or 8 bytes.
func storeNumber(p unsafe.Pointer, size uintptr, v uint64) {
	switch size {
	case 8:
		atomic.StoreUint64((*uint64)(p), v)
	case 4:
		atomic.StoreUint32((*uint32)(p), uint32(v))
	case 2:
		*(*uint16)(p) = uint16(v)
	case 1:
		*(*uint8)(p) = uint8(v)
	}
}

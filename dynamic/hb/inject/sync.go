//go:build interlock_hb

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// hbSync is the release at an address: the clock of the goroutine that made it, as a
// shared tree and, unless slot is 0, its own clock beside it, which the tree does not
// have. mu guards these and base. Those of one granule, such as the slots of a channel of
// bytes, are a list, which only grows; so are those of one bucket of foreign memory: see hbSyncOf.
//
// base is the knowledge of all goroutines that a loop has started: thousands of them that share a mutex or a
// WaitGroup differ in their own moments and those of the go statements alone, which are few, while comparing two
// clocks takes as long as their difference.
type hbSync struct {
	_ sys.NotInHeap

	mu    hbSpin
	slot  uint32
	at    uint32 // clock of slot
	clock hbClock
	base  hbClock // clock knows all of it
	next  uint32
	addr  uintptr
}

// hbSyncAt returns the sync object of an address, locked; nil where there is none and make is false.
//
//go:nosplit
func hbSyncAt(addr uintptr, make bool) *hbSync {
	list := hbSyncOf(addr)
	s := hbFindSync(atomic.Load(list), addr)
	if s == nil && make {
		systemstack(func() { s = hbNewSync(list, addr) })
		hbSoil(addr, hbDirtySyncs)
	}
	if s != nil {
		s.mu.lock()
	}
	return s
}

//go:nosplit
func hbFindSync(i uint32, addr uintptr) *hbSync {
	for i != 0 {
		s := (*hbSync)(unsafe.Pointer(hbSyncs.base + uintptr(i)*unsafe.Sizeof(hbSync{})))
		if s.addr == addr {
			return s
		}
		i = s.next
	}
	return nil
}

// hbNewSync adds a sync object to a list, or returns the one that another goroutine has
// added in the meantime. It runs on the system stack.
func hbNewSync(list *uint32, addr uintptr) *hbSync {
	i := hbSyncs.alloc()
	if i == 0 {
		hbDie("sync objects take more memory than the engine has for them: " + hbFewerTests)
	}
	s := (*hbSync)(hbSyncs.at(i))
	s.addr = addr
	for {
		first := atomic.Load(list)
		if other := hbFindSync(first, addr); other != nil {
			hbSyncs.release(i)
			return other
		}
		s.next = first
		if atomic.Cas(list, first, i) {
			return s
		}
	}
}

// hbDropSyncs forgets the sync objects of memory that is allocated anew.
//
//go:nosplit
func hbDropSyncs(list *uint32) {
	i := *list
	*list = 0
	systemstack(func() {
		for i != 0 {
			s := (*hbSync)(hbSyncs.at(i))
			next := s.next
			s.clock.release()
			s.base.release()
			hbSyncs.release(i)
			i = next
		}
	})
}

// within reports whether g knows all that was released in s, as far as that is seen at once:
// a goroutine that knows the moment of a release knows all that the releasing goroutine knew then. Of a moment that a
// finalizer has seen, not a release, that is not certain, nor of one that several releases share.
//
//go:nosplit
func (s *hbSync) within(g *hbGo) bool {
	if s.slot == 0 {
		return s.clock == g.clock || s.clock == 0
	}
	return g.knowsAt(s.slot, s.at) && s.at > hbSlotAt(s.slot).seen
}

// acquire orders g after all that was released in s.
//
//go:nosplit
func (s *hbSync) acquire(g *hbGo) {
	if !s.within(g) {
		systemstack(func() { g.learn(s) })
	}
}

// learn adds the releases in s to the knowledge of g. It runs on the system stack.
func (g *hbGo) learn(s *hbSync) {
	if g.clock == s.base {
		g.clock.release()
		g.clock = s.clock.retain()
	}
	g.clock = g.clock.join(s.clock)
	g.from = hbMoment{}
	if s.slot != 0 {
		if g.clock == s.clock {
			g.from, g.beside = hbMoment{s.slot, s.at}, hbMoment{}
		}
		g.clock = g.clock.with(s.slot, s.at)
	}
}

// release puts the knowledge of g in the place of the releases in s.
//
//go:nosplit
func (s *hbSync) release(g *hbGo) {
	if s.clock != g.clock || g.by != 0 {
		systemstack(func() { s.put(g.whole().retain(), g.base) })
	}
	s.slot, s.at = hbSlotOf(g.epoch), hbClockOf(g.epoch)
	g.tick()
}

// hbMeet orders two goroutines that meet at a channel without a buffer after all that the other has done, and
// reports whether it did so: no sync object is needed, as nobody else learns of it. The channel is locked.
//
//go:nosplit
func hbMeet(sg *sudog) bool {
	gp := getg()
	g, h := hbOfG(gp), hbOfG(sg.g)
	if hbTrace.on || g == nil || h == nil || gp.raceignore != 0 {
		return false
	}
	systemstack(func() { g.meet(h) })
	return true
}

// meet has both know the same, as one clock. It runs on the system stack.
func (g *hbGo) meet(h *hbGo) {
	c := g.whole()
	if c == h.whole() {
		c.release()
	} else {
		c = c.join(h.clock)
		h.clock.release()
	}
	// Where these two alone have the clock, as after their last meeting, it is not copied.
	c = c.with(hbSlotOf(g.epoch), hbClockOf(g.epoch)).with(hbSlotOf(h.epoch), hbClockOf(h.epoch))
	g.clock, h.clock = c, c.retain()
	g.from, h.from = hbMoment{}, hbMoment{}
	g.tick()
	h.tick()
}

// put puts c, in exchange for the reference to it, in the place of the releases in s. c knows all of base.
func (s *hbSync) put(c, base hbClock) {
	s.clock.release()
	s.clock = c
	if s.base != base {
		s.base.release()
		s.base = base.retain()
	}
}

// merge adds the knowledge of g to the releases in s. Nothing is compared where all of that came from one release
// that s knows of: of thousands of goroutines that share a mutex and a WaitGroup, each has learned from the mutex all
// that those before it knew, and they have been to the WaitGroup as well.
//
//go:nosplit
func (s *hbSync) merge(g *hbGo) {
	if s.within(g) {
		s.release(g)
		return
	}
	systemstack(func() {
		c := s.clock
		if s.slot != 0 {
			c = c.with(s.slot, s.at)
		}
		switch {
		case g.from.isIn(c):
			if g.beside.slot != 0 {
				c = c.with(g.beside.slot, g.beside.at)
			}
		case s.base != g.clock:
			c = c.join(g.clock)
			s.base.release()
			s.base = g.clock.retain()
		}
		if g.by != 0 {
			c = c.with(g.by, g.byAt)
		}
		s.clock = c.with(hbSlotOf(g.epoch), hbClockOf(g.epoch))
		s.slot, s.at = 0, 0
	})
	g.tick()
}

// isIn reports whether a goroutine that knows c knows all that was released at the moment: see within.
func (m hbMoment) isIn(c hbClock) bool {
	return m.slot != 0 && c.get(m.slot) >= m.at && m.at > hbSlotAt(m.slot).seen
}

// exchange has g know the releases in s, and s all that g knew, as a channel's buffer slot does.
//
//go:nosplit
func (s *hbSync) exchange(g *hbGo) {
	if s.within(g) {
		s.release(g)
		return
	}
	systemstack(func() {
		before := g.whole().retain()
		g.learn(s)
		s.put(before, g.base)
	})
	s.slot, s.at = hbSlotOf(g.epoch), hbClockOf(g.epoch)
	g.tick()
}

// hbAtomicBegin comes before an operation of sync/atomic at addr, hbAtomicEnd behind it. In between the
// address's sync object, if it is not nil, is locked, so that the value that the operation sees and
// the releases before it agree. A load of a word that nobody has stored yet has none, so that words that are
// only read take no memory. Those by which a sync.Mutex is locked are accesses alone, without an hbGo:
// race.Acquire orders them, for the same address. Those of Unlock come behind its race.Release, and are
// ordered before the next Lock as well.
//
//go:nosplit
func hbAtomicBegin(addr unsafe.Pointer, kind hbKind, acquires bool, pc uintptr) (*hbGo, *hbSync) {
	gp := getg()
	g := hbOfG(gp)
	if g == nil || gp.raceignore != 0 {
		return nil, nil
	}
	a := uintptr(addr)
	if a-gp.stack.lo < gp.stack.hi-gp.stack.lo {
		return nil, nil
	}
	at := hbPlace{pc: pc, fp: *(*uintptr)(unsafe.Pointer(getcallerfp()))} // of the caller of the operation
	cell, in := hbCellOf(a), hbKindOf(pc)
	switch {
	case hbTrace.on:
		g.hush(gp, pc, at.fp)
	case in == hbInUnlock:
		g.resume(a)
	case in == hbInLock && g.isResumable(a) && cell != nil && cell.w == (g.epoch-hbTick)|1<<(a&7)|hbIsAtomic:
		return nil, nil // race.Acquire resumes the epoch that the word was accessed in
	}
	if cell != nil { // foreign memory has none, but its atomics synchronise as all others
		mask := uint64(1) << (a & 7)
		if record := g.epoch | mask | hbIsAtomic; record != cell.w && (kind&hbWrite != 0 || record != cell.r) {
			hbAccess(gp, cell, a, mask, kind|hbAtomic, at)
		}
	}
	if in == hbInLock || in == hbInLockSlow {
		g.quiet = false
		return nil, nil
	}
	s := hbSyncAt(a, kind&hbWrite != 0)
	if s != nil && acquires {
		s.acquire(g)
	}
	if s != nil && acquires && hbTrace.on {
		hbTraceSync(g, hbTraceAcquire, a)
	}
	return g, s
}

// resume takes back the tick of a release of a sync.Mutex that g holds, where it was the last of the mutex and g has
// done nothing since: nobody can have learned of it, nor can before the next release, which is of all that g
// does until then. So critical sections that no other goroutine comes between are of one epoch, and accesses of one
// of them need not be recorded in the next.
//
//	mu.Lock(); n++; mu.Unlock()
//	mu.Lock(); n++; mu.Unlock()	// of the same epoch
//
// It holds for a mutex alone: readers of an RWMutex learn of a release, and leave no trace at its place.
//
//go:nosplit
func (g *hbGo) resume(addr uintptr) {
	if g.isResumable(addr) {
		g.epoch -= hbTick
	}
}

// hbHold resumes the epoch of a goroutine that has locked the mutex at addr, where internal/race was called for that.
//
//go:nosplit
func hbHold(addr, pc uintptr) {
	gp := getg()
	if g := hbOfG(gp); g != nil && gp.raceignore == 0 && !hbTrace.on && g.isResumable(addr) {
		if in := hbKindOf(pc); in == hbInLock || in == hbInLockSlow {
			g.epoch -= hbTick
		}
	}
}

// isResumable reports whether the last that g has done was a release at addr, with the last clock that nobody else
// has seen.
//
//go:nosplit
func (g *hbGo) isResumable(addr uintptr) bool {
	before := hbClockOf(g.epoch) - 1
	if g.touched == g.epoch || g.seen > before {
		return false
	}
	s := hbFindSync(atomic.Load(hbSyncOf(addr)), addr)
	return s != nil && s.slot == hbSlotOf(g.epoch) && s.at == before
}

// hbAtomicEnd releases where the operation has stored something. One that has read as well has
// acquired before, so that none of the releases in s is lost.
//
//go:nosplit
func hbAtomicEnd(addr unsafe.Pointer, g *hbGo, s *hbSync, stored bool) {
	if g == nil {
		return
	}
	if s == nil {
		// The first store may have come since the load began, and the load may have seen it.
		if s = hbSyncAt(uintptr(addr), false); s == nil {
			g.quiet = false
			return
		}
		s.acquire(g)
		if hbTrace.on {
			hbTraceSync(g, hbTraceAcquire, uintptr(addr))
		}
	}
	if stored {
		if hbTrace.on {
			hbTraceSync(g, hbTraceRelease, uintptr(addr))
		}
		s.release(g)
	}
	s.mu.unlock()
	g.quiet = false
}

// hbKinds remembers the kinds of functions, by hash of pc. Two goroutines may write one at once: the last write is
// read only with the pc that it is for.
var hbKinds [4096]struct{ pc, op uintptr }

const (
	hbOutsideSync = 1 + iota
	hbInsideSync  // whatever does not lock
	hbInAtomic    // sync/atomic
	hbInLock      // of a sync.Mutex: Lock, TryLock
	hbInLockSlow
	hbInUnlock
	hbInUnlockSlow // the mutex is another's
	hbInRWMutexRead
	hbInRWMutex
)

// hbKindOf returns the kind of the function that goes on at pc.
//
//go:nosplit
func hbKindOf(pc uintptr) uintptr {
	k := &hbKinds[pc*0x9e3779b97f4a7c15>>52]
	if atomic.Loaduintptr(&k.pc) == pc {
		if op := atomic.Loaduintptr(&k.op); op>>8 == pc&(1<<56-1) {
			return op & 0xff
		}
	}
	var kind uintptr
	systemstack(func() { kind = hbFindKind(pc) })
	atomic.Storeuintptr(&k.op, pc<<8|kind)
	atomic.Storeuintptr(&k.pc, pc)
	return kind
}

// hbFindKind does so by the name of the function. It runs on the system stack.
func hbFindKind(pc uintptr) uintptr {
	f := findfunc(pc)
	if !f.valid() {
		return hbOutsideSync
	}
	u, at := newInlineUnwinder(f, pc-1)
	name := u.srcFunc(at).name()
	const mutex, rwMutex = "sync.(*Mutex).", "sync.(*RWMutex)."
	// Mutex of package sync is that of internal/sync, and its name may be the only one left of the two.
	if len(name) > 9 && name[:9] == "internal/" {
		name = name[9:]
	}
	switch {
	case len(name) > len(mutex) && name[:len(mutex)] == mutex:
		switch name[len(mutex):] {
		case "Unlock":
			return hbInUnlock
		case "unlockSlow":
			return hbInUnlockSlow
		case "lockSlow":
			return hbInLockSlow
		}
		return hbInLock
	case len(name) > len(rwMutex) && name[:len(rwMutex)] == rwMutex:
		if rest := name[len(rwMutex):]; rest[0] == 'R' || rest == "TryRLock" || rest == "rUnlockSlow" {
			return hbInRWMutexRead
		}
		return hbInRWMutex
	case len(name) > 5 && name[:5] == "sync.":
		return hbInsideSync
	case len(name) > 12 && name[:12] == "sync/atomic.":
		return hbInAtomic
	}
	return hbOutsideSync
}

//go:build interlock_hb

package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

// hbGo is a slot: the state of the goroutine (or heap of timers) that has it, which alone
// changes it, or the goroutine that acts for it while it is blocked. g.racectx is its address.
type hbGo struct {
	_ sys.NotInHeap

	epoch   uint64   // slot and clock, as a record without a mask
	clock   hbClock  // its knowledge of the other slots
	base    hbClock  // its knowledge at its start: see hbSync
	by      uint32   // the slot of the goroutine that started it, while that is not in clock; 0: it is
	byAt    uint32   // the clock of that slot, which it knows as well
	from    hbMoment // a goroutine that knows it knows all of clock, except beside; see merge
	beside  hbMoment // the part of clock that has come from by since then
	frame   uint32   // calling context
	touched uint64   // epoch of the last access that was recorded
	named   bool     // its occupant's goid is set: a goroutine has none yet when it gets a slot
	seen    uint32   // the last clock that others may know without the releases at it: see within
	next    uint32   // in the queue of free slots
	quiet   bool     // it is in an operation that the trace has as a whole
	traced  uintptr  // the address of an operation that the trace has half of
	period  hbPeriod

	last      uint32 // index into occupants of the present one
	occupants [4]hbOccupant
}

// hbMoment is a clock of a slot; slot 0 is none.
type hbMoment struct{ slot, at uint32 }

// hbOccupant is a goroutine that has, or had, a slot from some clock on.
type hbOccupant struct {
	goid  uint64
	from  uint32
	frame uint32 // calling context of the go statement
	pc    uintptr
	ended bool
}

// hbSlotQueue holds all slots. A slot that is free again waits in a queue: it is best given to a
// goroutine that knows all that its last owner did, since the accesses of two owners of one slot
// look ordered. mu guards the queue and next.
type hbSlotQueue struct {
	mu         hbSpin
	base       uintptr
	next       uint32 // slots below it have been used; slot 0 never is
	head, tail uint32 // of the queue
	free       uint32 // its length
}

var hbSlots hbSlotQueue

// hbManySlots is how many slots there may be before one is given to a goroutine that nothing
// orders after its last owner.
const hbManySlots = 4096

//go:nosplit
func hbOfG(gp *g) *hbGo { return (*hbGo)(unsafe.Pointer(gp.racectx)) }

//go:nosplit
func hbSlotAt(slot uint32) *hbGo {
	return (*hbGo)(unsafe.Pointer(hbSlots.base + uintptr(slot)*unsafe.Sizeof(hbGo{})))
}

// tick begins a new epoch, behind a release.
//
//go:nosplit
func (g *hbGo) tick() {
	if hbClockOf(g.epoch) == hbMaxClock {
		g.seen = hbMaxClock // a goroutine that knows this moment need not know releases at it from here on
		hbLose(hbLostClocks)
		return
	}
	g.epoch += hbTick
}

// knowsAt reports whether it knows the steps in a slot until a clock.
//
//go:nosplit
func (g *hbGo) knowsAt(slot, clock uint32) bool {
	return slot == hbSlotOf(g.epoch) || slot == g.by && g.byAt >= clock || g.clock.get(slot) >= clock
}

// whole returns the goroutine's clock with the entries of all slots. Until the first call, a goroutine shares the clock
// of the one that started it. It runs on the system stack.
func (g *hbGo) whole() hbClock {
	if g.by != 0 {
		g.clock = g.clock.with(g.by, g.byAt)
		g.beside = hbMoment{g.by, g.byAt}
		g.by = 0
	}
	return g.clock
}

//go:nosplit
func (g *hbGo) occupant() *hbOccupant { return &g.occupants[g.last] }

// at returns the occupant of the slot at a clock; nil where that is forgotten.
func (g *hbGo) at(clock uint32) *hbOccupant {
	for k := range uint32(len(g.occupants)) {
		if o := &g.occupants[(g.last-k)%uint32(len(g.occupants))]; o.from != 0 && o.from <= clock {
			return o
		}
	}
	return nil
}

// hbStart returns a slot for a goroutine that parent, or nobody, starts at pc. It runs on the
// system stack.
func hbStart(parent *hbGo, pc uintptr) *hbGo {
	g := hbFreeSlot(parent)
	if parent != nil {
		if g.by != hbSlotOf(parent.epoch) {
			g.whole()
		}
		g.clock = g.clock.join(parent.whole())
		g.from = hbMoment{}
		g.by, g.byAt = hbSlotOf(parent.epoch), hbClockOf(parent.epoch)
		g.base.release()
		g.base = parent.clock.retain()
		if hbTrace.on {
			hbTraceEvent(parent, hbTraceGo, uintptr(hbSlotOf(g.epoch)), pc, 0)
		}
		parent.tick()
	}
	g.tick()
	g.frame, g.named, g.period.left = hbRootFrame, false, 0
	if hbSampling.loops {
		hbLoopsOf(hbSlotOf(g.epoch)).n = 0
	}
	g.last = (g.last + 1) % uint32(len(g.occupants))
	o := g.occupant()
	*o = hbOccupant{from: hbClockOf(g.epoch), frame: hbRootFrame, pc: pc}
	if parent != nil {
		o.frame = parent.frame
	}
	return g
}

// hbEnd frees a slot. It runs on the system stack.
func hbEnd(g *hbGo) {
	g.occupant().ended = true
	slot := hbSlotOf(g.epoch)
	s := &hbSlots
	s.mu.lock()
	g.next = 0
	if s.free == 0 {
		s.head = slot
	} else {
		hbSlotAt(s.tail).next = slot
	}
	s.tail = slot
	s.free++
	s.mu.unlock()
}

// hbFreeSlot returns a slot that nobody has: one with a last owner that is all before parent, else
// one that was never used, else the one that has been free for longest.
func hbFreeSlot(parent *hbGo) *hbGo {
	s := &hbSlots
	s.mu.lock()
	g := s.afterLast(parent)
	if g == nil && (s.next < hbManySlots || s.free == 0) {
		if s.next == hbMaxSlots {
			hbDie("more goroutines at one time than the engine has clocks for: " + hbFewerTests)
		}
		g = hbSlotAt(s.next)
		g.epoch = uint64(s.next)<<40 | hbSampling.mark
		s.next++
	}
	taken := g == nil
	if taken {
		g = s.take(0, s.head)
	}
	s.mu.unlock()
	if taken {
		hbLose(hbLostSlots)
		return g
	}
	// The parent knows all that the last owner has released. Nothing orders later acquisitions of that
	// one before the new owner.
	g.clock.release()
	g.base.release()
	g.clock, g.base, g.by, g.from = 0, 0, 0, hbMoment{}
	return g
}

// afterLast returns, of the slots that have been free for longest, one with a last owner that is
// all before parent.
func (s *hbSlotQueue) afterLast(parent *hbGo) *hbGo {
	if parent == nil {
		return nil
	}
	before := uint32(0)
	for i, n := s.head, uint32(0); n < min(16, s.free); n++ {
		g := hbSlotAt(i)
		if parent.knowsAt(i, g.final()) {
			return s.take(before, i)
		}
		before, i = i, g.next
	}
	return nil
}

// final returns the last clock of a slot's last owner that matters: it has released
// or accessed something then.
func (g *hbGo) final() uint32 {
	if g.touched == g.epoch {
		return hbClockOf(g.epoch)
	}
	return hbClockOf(g.epoch) - 1
}

// take takes slot i, which stands behind slot before, out of the queue.
func (s *hbSlotQueue) take(before, i uint32) *hbGo {
	g := hbSlotAt(i)
	if before == 0 {
		s.head = g.next
	} else {
		hbSlotAt(before).next = g.next
	}
	if s.tail == i {
		s.tail = before
	}
	s.free--
	return g
}

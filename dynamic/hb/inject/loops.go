//go:build interlock_hb

package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

// Accesses in loops are recorded the more rarely the more often a loop has gone round: LIS, loop iteration sampling
// (Li's thesis, 2012, chapter 3). The heads of loops are calls here, see hb.CountLoops. With a rate of α, an access in
// iteration S of a loop is recorded with the probability α/10^⌈lg S⌉: class ⌈lg S⌉. Functions that are called in a
// loop belong to it, and of loops in each other the highest class counts.
const hbLoopClasses = 8

// hbLoops are the loops that a goroutine is in. Each slot has its own.
type hbLoops struct {
	_ sys.NotInHeap

	n  uint32
	at [16]hbLoop // the innermost last; loops in more others than that are not counted

	// Of each class in this period, and of accesses in all.
	recorded       [hbLoopClasses]bool
	sampled, total [hbLoopClasses]uint64
}

type hbLoop struct {
	id    uint32
	depth uint32 // that of the function's frame, as hbFrame has it
	class uint32
}

var hbAllLoops uintptr // [hbMaxSlots]hbLoops

//go:nosplit
func hbLoopsOf(slot uint32) *hbLoops {
	return (*hbLoops)(unsafe.Pointer(hbAllLoops + uintptr(slot)*unsafe.Sizeof(hbLoops{})))
}

// InterlockLoop is called where the iteration with number n in this activation of the function begins, and returns the
// last one of its class.
//
//go:nosplit
//go:noinline
func InterlockLoop(n, id uint32) (last uint32) {
	gp := getg()
	g := hbOfG(gp)
	if g == nil || !hbSampling.loops {
		return ^uint32(0)
	}
	class, last := hbLoopClass(n)
	l := hbLoopsOf(hbSlotOf(g.epoch))
	depth := uint32(gp.stack.hi - sys.GetCallerSP())
	l.leave(depth, id)
	if l.n < uint32(len(l.at)) {
		if l.n > 0 {
			class = max(class, l.at[l.n-1].class)
		}
		l.at[l.n] = hbLoop{id, depth, class}
		l.n++
	}
	return last
}

// InterlockLoopEnd is called behind a loop.
//
//go:nosplit
//go:noinline
func InterlockLoopEnd(id uint32) {
	gp := getg()
	if g := hbOfG(gp); g != nil && hbSampling.loops {
		hbLoopsOf(hbSlotOf(g.epoch)).leave(uint32(gp.stack.hi-sys.GetCallerSP()), id)
	}
}

// leave leaves a loop of the function with its frame at a depth, and all loops in it.
//
//go:nosplit
func (l *hbLoops) leave(depth, id uint32) {
	l.unwind(depth)
	for k := l.n; k > 0 && l.at[k-1].depth == depth; k-- {
		if l.at[k-1].id == id {
			l.n = k - 1
			return
		}
	}
}

// unwind leaves the loops of functions that have returned, or panicked, where one with its frame at a depth goes on.
//
//go:nosplit
func (l *hbLoops) unwind(depth uint32) {
	for l.n > 0 && l.at[l.n-1].depth > depth {
		l.n--
	}
}

// hbLoopClass returns ⌈lg n⌉, or the last class, and the last iteration of that class.
//
//go:nosplit
func hbLoopClass(n uint32) (class, last uint32) {
	for last = 1; n > last; last *= 10 {
		if class++; class == hbLoopClasses-1 {
			return class, ^uint32(0)
		}
	}
	return class, last
}

// isRecorded reports whether a period's access is recorded, in the function with its frame at a depth, and counts it
// (Algorithm 5).
//
//go:nosplit
func (l *hbLoops) isRecorded(depth uint32, outside bool) bool {
	l.unwind(depth)
	if l.n == 0 || l.at[l.n-1].class == 0 {
		return outside
	}
	class := l.at[l.n-1].class
	l.total[class]++
	if l.recorded[class] {
		l.sampled[class]++
	}
	return l.recorded[class]
}

// begin decides for a period which classes are recorded (Algorithm 6). Where more of a class has been recorded than
// its rate says, as its accesses come in bunches, the rate is lowered in proportion, and raised where it was less.
//
//go:nosplit
func (l *hbLoops) begin(p *hbPeriod) {
	rate := hbSampling.rate
	for class := 1; class < hbLoopClasses; class++ {
		rate /= 10
		target := rate
		if l.sampled[class] != 0 {
			target = uint64(float64(rate) * float64(rate) / (1 << 32) * float64(l.total[class]) / float64(l.sampled[class]))
		}
		l.recorded[class] = p.draw() < target
	}
}

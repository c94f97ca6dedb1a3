package rt

import (
	"math/rand"
	"testing"
)

// Every access that overlaps a window and begins at most 24 bytes before it
// finds its filter bit set.
func TestFilterMaskCoversOverlaps(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 200_000 {
		addr, size := uintptr(1<<20+r.Intn(1<<12)), uintptr(1+r.Intn(80))
		mask := filterMask(addr, size)
		q, qsize := addr-24+uintptr(r.Intn(24+int(size))), uintptr(1+r.Intn(48))
		if overlap(addr, size, q, qsize) && mask>>(q>>3&63)&1 == 0 {
			t.Fatalf("filterMask(%#x, %d) = %#x lacks the bit of [%#x, +%d)", addr, size, mask, q, qsize)
		}
	}
}

func TestFilterMaskIsNarrow(t *testing.T) {
	for addr := uintptr(1 << 20); addr < 1<<20+1024; addr += 8 {
		n := 0
		for m := filterMask(addr, 8); m != 0; m &= m - 1 {
			n++
		}
		if n != 4 {
			t.Fatalf("filterMask(%#x, 8) has %d bits, want 4: the granule and three below", addr, n)
		}
	}
	if m := filterMask(1<<20, 4096); m != ^uint64(0) {
		t.Errorf("filterMask of 4096 bytes = %#x, want all ones", m)
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, asize, b, bsize uintptr
		want               bool
	}{
		{100, 8, 100, 8, true},
		{100, 8, 108, 8, false},
		{108, 8, 100, 8, false},
		{100, 8, 107, 1, true},
		{107, 1, 100, 8, true},
		{100, 24, 108, 8, true},
	} {
		if got := overlap(c.a, c.asize, c.b, c.bsize); got != c.want {
			t.Errorf("overlap(%d, %d, %d, %d) = %v", c.a, c.asize, c.b, c.bsize, got)
		}
	}
}

func TestSiteStateRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	flags := siteKnown | siteArmed | siteNear
	for range 10_000 {
		due, level := r.Uint32(), uint(r.Intn(maxLevel+1))
		s := flags.withLevel(uint(r.Intn(40))).withDue(r.Uint32()).withLevel(level).withDue(due)
		if s.due() != due || s.level() != level {
			t.Fatalf("got due %d, level %d; put %d, %d", s.due(), s.level(), due, level)
		}
		if !s.is(siteKnown) || !s.is(siteArmed) || !s.is(siteNear) || s.is(siteReached|siteSuspicious) {
			t.Fatalf("flags of %#x are not those put in", uint64(s))
		}
	}
	if got := siteState(0).withLevel(1000).level(); got != maxLevel {
		t.Errorf("level 1000 is kept as %d, want %d", got, maxLevel)
	}
	if ticks(0) == 0 || ticks(1<<30) <= ticks(0) {
		t.Error("ticks must grow from more than 0")
	}
}

func TestVisitConflicts(t *testing.T) {
	const addr = 0xc000123458
	visitBy := func(addr uintptr, goid int64, site uint32, m mode) visit {
		return makeVisit(addr>>3, &access{addr: addr, size: 8, goid: goid, site: site, mode: m})
	}
	v := visitBy(addr, 7, 5, writes)
	if v.site() != 5 {
		t.Errorf("site of a visit = %d, want 5", v.site())
	}
	for _, c := range []struct {
		w    visit
		want bool
	}{
		{visitBy(addr, 8, 6, 0), true},
		{visitBy(addr, 8, 6, atomically), true},
		{visitBy(addr+4, 8, 6, 0), true},     // the same granule
		{visitBy(addr, 7, 6, writes), false}, // the same goroutine
		{visitBy(addr+8, 8, 6, writes), false},
		{0, false},
	} {
		if v.conflicts(c.w) != c.want || c.w.conflicts(v) != c.want {
			t.Errorf("%#x and %#x: conflicts is not %v both ways", uint64(v), uint64(c.w), c.want)
		}
	}
	if visitBy(addr, 7, 5, 0).conflicts(visitBy(addr, 8, 6, 0)) {
		t.Error("two reads conflict")
	}
	if visitBy(addr, 7, 5, atomically|writes).conflicts(visitBy(addr, 8, 6, atomically|writes)) {
		t.Error("two atomic accesses conflict")
	}
}

func TestPairKey(t *testing.T) {
	if pairKey(3, 9) != pairKey(9, 3) || pairKey(3, 9) == pairKey(3, 8) || pairKey(1, 1) == 0 {
		t.Error("pairKey must not depend on the order, tell pairs apart and not be 0")
	}
}

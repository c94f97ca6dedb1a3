package rt

import (
	"testing"

	"github.com/interlock-go/interlock/dynamic/rt/policy"
)

// An access to a range and one to any part of it make both sites near, as long
// as the range is short; of a long one, some parts.
func TestNoticeRange(t *testing.T) {
	const base = 1 << 30
	near := func(size, at uintptr, n uint64) bool {
		withEngine(t)
		notice(&sites[1], &access{addr: base, size: size, site: 1, goid: 7}, 100, n)
		notice(&sites[2], &access{addr: base + at, size: 8, site: 2, goid: 8, mode: writes}, 300, n)
		forgetHistory()
		return sites[1].load().is(siteNear) && sites[2].load().is(siteNear)
	}
	for at := uintptr(0); at < 512; at += 8 {
		if !near(512, at, 5) {
			t.Errorf("a write at byte %d of a range of 512 is not noticed", at)
		}
	}
	if near(512, 512, 5) {
		t.Error("a write behind the range is noticed")
	}
	noticed := 0
	for n := range uint64(100) {
		if near(8000, 4000, n) {
			noticed++
		}
	}
	if noticed == 0 || noticed == 100 {
		t.Errorf("a write in a range of 8000 bytes is noticed in %d of 100 tries, want some", noticed)
	}
}

func forgetHistory() {
	for i := range history {
		history[i].visit.Store(0)
	}
	for i := range gaps {
		gaps[i].sites.Store(0)
		gaps[i].least.Store(0)
		gaps[i].most.Store(0)
		gaps[i].news.Store(false)
	}
}

// What two goroutines do at one address, in either order and however far apart, leaves
// a gap: the least from the last visit, the most from the first.
func TestGaps(t *testing.T) {
	withEngine(t)
	historyWays = measuringWays
	defer func() {
		historyWays = 1
		forgetHistory()
	}()
	const addr = 1 << 30
	come := func(site uint32, goid int64, m mode, now int64) {
		notice(&sites[site], &access{addr: addr, size: 8, site: site, goid: goid, mode: m}, now, 0)
	}
	come(1, 7, writes, 1_000)
	come(1, 7, writes, 5_000) // again
	come(2, 8, 0, 5_000_000)  // another goroutine reads
	come(3, 8, 0, 6_000_000)  // and once more: the first side is still there
	come(2, 9, 0, 7_000_000)  // two that read do not race
	come(1, 7, writes, 500_000_000)
	for _, want := range []struct {
		first, then uint32
		least, most int64
	}{
		{1, 2, 4_995_000, 6_999_000}, {1, 3, 5_995_000, 5_999_000},
		{2, 1, 495_000_000, 495_000_000}, {3, 1, 494_000_000, 494_000_000},
	} {
		g := gapOf(uint64(want.first)<<32 | uint64(want.then))
		if least, most := g.least.Load(), g.most.Load(); least != want.least || most != want.most {
			t.Errorf("least %d and most %d, want %+v", least, most, want)
		}
	}
	if g := gapOf(2<<32 | 3); g.least.Load() != 0 {
		t.Error("two reads have left a gap")
	}
}

// Most of the budget is left for windows.
func TestPerturbationsStayWithinTheirShare(t *testing.T) {
	withEngine(t)
	spent := int64(0)
	for ms := int64(1_000_000); perturbable(start, ms); spent += ms {
		perturbed.spent.Add(ms)
	}
	perturbed.spent.Store(0)
	if least, most := noise.floor/5, noise.floor/4; spent < least || spent > most {
		t.Errorf("%d ns of a budget of %d", spent, noise.floor)
	}
}

// Pauses are those of the seed and the place, so that a replay makes them again. Another place, another time or another
// seed has others.
func TestPausesAreThoseOfTheSeed(t *testing.T) {
	withEngine(t)
	before := random
	defer func() { random = before }()
	for _, seed := range []uint64{1, 2} {
		random = mix(seed)
		different := map[int64]bool{}
		for place := range uint64(8) {
			for times := range int32(4) {
				length := pauseAt(mix(place), times)
				if again := pauseAt(mix(place), times); again != length || length < wakeup {
					t.Errorf("a pause of %d ns, and then of %d", length, again)
				}
				different[length] = true
			}
		}
		if len(different) < 16 {
			t.Errorf("%d lengths at 8 places, 4 times each, want most of 32", len(different))
		}
	}
}

// A goroutine that is not held has not paid for the text of its stack: it may be in a loop that acquires a lock all
// the time. The least times are compared, which other processes do not change.
func TestPassingAnEventIsCheap(t *testing.T) {
	withEngine(t)
	place := uint64(0)
	for !noise.turns.Has(policy.Acquiring, place) {
		place++
	}
	least := func(f func()) int64 {
		best := int64(1 << 62)
		for range 200 {
			begin := nanotime()
			for range 50 {
				f()
			}
			best = min(best, nanotime()-begin)
		}
		return best
	}
	perturbed.spent.Store(noise.floor) // its share of the budget is used up
	defer perturbed.spent.Store(0)
	passing := least(func() { perturb(policy.Acquiring, place) })
	if reading := least(func() { InBubble() }); passing > reading/2 {
		t.Errorf("passing the event 50 times took %d ns, reading the stack %d", passing, reading)
	}
}

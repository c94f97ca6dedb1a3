package rt

import "testing"

// An access to a range and one to any part of it make both sites near, as long
// as the range is short; of a long one, some parts.
func TestNoticeRange(t *testing.T) {
	const base = 1 << 30
	near := func(size, at uintptr, n uint64) bool {
		withEngine(t)
		notice(&sites[1], &access{addr: base, size: size, site: 1, goid: 7}, n)
		notice(&sites[2], &access{addr: base + at, size: 8, site: 2, goid: 8, mode: writes}, n)
		for i := range visits {
			visits[i].Store(0)
		}
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

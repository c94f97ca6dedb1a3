package rt

import (
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/interlock-go/interlock/dynamic/rt/mapkey"
)

var keepShared any

func addrOf[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

type node struct {
	key         int
	left, right *node
}

// sum and sumMonitored are the same walk, as a program has it and as the
// rewriter makes it.
func sum(n *node) (s int) {
	for n != nil {
		s += n.key
		if s&1 == 0 {
			n = n.left
		} else {
			n = n.right
		}
	}
	return s
}

func sumMonitored(n *node) (s int) {
	for n != nil {
		s += *R(&n.key, 1)
		if s&1 == 0 {
			n = *R(&n.left, 2)
		} else {
			n = *R(&n.right, 3)
		}
	}
	return s
}

func list(length int) *node {
	var n *node
	for i := range length {
		n = &node{i, n, n}
	}
	return n
}

// BenchmarkWalk measures the fast path: plain, idle, and with one window held
// somewhere, so that 4 of 64 addresses take the slow path.
func BenchmarkWalk(b *testing.B) {
	n := list(1000)
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			sum(n)
		}
	})
	b.Run("idle", func(b *testing.B) {
		for b.Loop() {
			sumMonitored(n)
		}
	})
	b.Run("held", func(b *testing.B) {
		withEngine(b)
		held := new([8]int)
		keepShared = held
		i := publish(&access{addr: addrOf(held), size: 8, site: 1, mode: writes, goid: -1}, nanotime())
		captureStack(i)
		b.Cleanup(func() { withdraw(i, nanotime()) })
		for b.Loop() {
			sumMonitored(n)
		}
	})
}

// BenchmarkSlow measures the slow path where nothing is due.
func BenchmarkSlow(b *testing.B) {
	withEngine(b)
	setOpen(^uint64(0))
	b.Cleanup(func() { setOpen(0) })
	p := new(int)
	keepShared = p
	for b.Loop() {
		before(unsafe.Pointer(p), 8, 1, 0)
	}
}

// withEngine sets the engine up without files, with sites 1 to 3 that are not
// due, and the filter closed.
func withEngine(tb testing.TB) {
	findGoid()
	noise.noiseSettings = defaultNoise
	start = nanotime()
	sites, shared = make([]site, 4), make([]atomic.Bool, 1)
	for i := range sites {
		sites[i].state.Store(uint64((siteKnown | siteReached).withDue(inWindow - 1)))
	}
	out.statsDue.Store(1 << 62)
	pace.room = 1 << 62
	tb.Cleanup(func() { sites = nil })
}

func TestFastPathGivesPointerBack(t *testing.T) {
	n, m := new(int), map[string]int{"a": 1}
	if R(n, 1) != n || W(n, 1) != n {
		t.Error("R and W must give their pointer back")
	}
	if AR(n, 1) != n || AW(n, 1) != n {
		t.Error("AR and AW must give their pointer back")
	}
	if s := []int{1, 2}; &RS(s, 1)[0] != &s[0] || len(WS(s[:1], 1)) != 1 || RS([]struct{}(nil), 1) != nil {
		t.Error("RS and WS must give their slice back")
	}
	s := []int{1, 2}
	if &RN(s, 1, 1)[1] != &s[1] || len(WN(s, 5, 1)) != 2 || len(WA(s[:1], 1, 1)) != 1 || WA([]struct{}(nil), 1, 1) != nil {
		t.Error("RN, WN and WA must give their slice back")
	}
	if Len([]int{1, 2}) != 2 {
		t.Error("Len must be len")
	}
	MW(m, 1)["b"] = 2
	if MR(m, 1)["b"] != 2 {
		t.Error("MR and MW must give their map back")
	}
	if len(MR(map[string]int(nil), 1)) != 0 || R[int](nil, 1) != nil {
		t.Error("nil must pass")
	}
}

// An access that overlaps a window or the variable of a section may meet them, whatever else is held. What lies
// beside all of them may not.
func TestMayMeet(t *testing.T) {
	withEngine(t)
	const first, second, between = 1 << 30, 1<<30 + 4096, 1<<30 + 640
	a := publish(&access{addr: first, size: 8, site: 1}, start)
	b := publish(&access{addr: second, size: 16, site: 1}, start)
	o := takeRecord(1, 1, start)
	o.addr.Store(between)
	o.size.Store(4)
	setOpen(0)
	check := func(addr, size uintptr, want bool) {
		t.Helper()
		if mayMeet(&access{addr: addr, size: size}) != want {
			t.Errorf("%d bytes at %d: got %t", size, addr, !want)
		}
	}
	for _, at := range []uintptr{first, between, second} {
		check(at, 1, true)
		check(at-8, 9, true)
	}
	check(second+15, 1, true)
	check(second+16, 1, false)
	check(first-8, 8, false)
	check(first-8, 8192, true)
	withdraw(a, start)
	check(first, 8, false)
	withdraw(b, start)
	check(second, 8, false)
	check(between, 8, true)
	closeSection(o.index())
	check(between, 8, false)
}

// Keys are numbered while the steps of a run are written: two entries of a map are two variables there.
func TestKeysOfSteps(t *testing.T) {
	if openKey("a") != 0 {
		t.Error("a key is numbered that nobody asks for")
	}
	isolation.writes = true
	defer func() { isolation.writes = false }()
	if a, b := openKey("a"), openKey("b"); mapkey.Of("a") != 0 && (a == b || a != openKey("a")) {
		t.Errorf("keys %d and %d", a, b)
	}
}

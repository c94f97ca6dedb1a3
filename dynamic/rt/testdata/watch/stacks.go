package main

import (
	"runtime"
	"sync"
	"sync/atomic"

	"interlock.invalid/rt"
)

// Programs whose stacks grow and shrink at every call of the monitor. What they
// access lies on the stack of the goroutine that accesses it, so that no window may
// be held and no section be opened, but for section 2 of growing.

// leaves holds functions with one call of the monitor, or one section, each.
var leaves = []func(site uint32){
	func(site uint32) { var v node; *rt.W(&v.n, site) = 1 },
	func(site uint32) { var v node; _ = *rt.R(&v.next, site) },
	func(site uint32) { var v node; atomic.AddInt64(rt.AW(&v.n, site), 1) },
	func(site uint32) { var v node; _ = atomic.LoadInt64(rt.AR(&v.n, site)) },
	func(site uint32) { var v node; clear(rt.WS(v.s[:], site)) },
	func(site uint32) {
		var v node
		for range rt.RS(v.s[:], site) {
		}
	},
	func(site uint32) { var v, w node; copy(rt.WN(v.s[:], 2, site), rt.RN(w.s[:], 2, site)) },
	func(site uint32) { var v node; _ = append(rt.WA(v.s[:1], 2, site), 1, 2) },
	func(site uint32) { var v node; _ = append(rt.WA(v.s[:], 1, site), 1) },
	func(site uint32) { m := map[int]int{}; rt.MW(m, site)[1] = rt.MR(m, site)[2] },
	func(site uint32) { m := map[int]int{}; rt.MWK(m, 1, site)[1] = rt.MRK(m, 2, site)[2] },
	func(site uint32) {
		var v node
		_ = *rt.Tested(rt.Enter(&v.n, site, 1, 0), 1, rt.TestLess, v.n)
		rt.Entered(1)
		rt.Gap(1)
		_ = *rt.End(&v.n, site, 1, 0)
		rt.Ended(1)
	},
	func(site uint32) {
		var v node
		*rt.Enter(&v.n, site, 1, rt.Writes) = 1
		rt.Entered(1)
		*rt.End(&v.n, site, 1, rt.Writes) = 2
		rt.Ended(1)
	},
	func(site uint32) {
		m := map[int]int{}
		_ = rt.EnterKey(m, nil, 1, site, 1, 0)[1]
		rt.Entered(1)
		rt.EndKey(m, 1, site, 1, rt.Writes)[1] = 2
		rt.Stored(m, 1, site)
		rt.Ended(1)
	},
	func(site uint32) {
		m := map[int]int{}
		_ = len(rt.EnterMap(m, nil, site, 1, 0))
		rt.Entered(1)
		_ = len(rt.EndMap(m, site, 1, 0))
		rt.Ended(1)
	},
	func(site uint32) {
		var v node
		rt.Arm(1, site)
		_ = *rt.TestedAt(rt.Bind(&v.n, site, 0), site, rt.TestZero, 0)
		rt.Bound(site)
		rt.Entered(1)
		rt.ArmEnd(1, site, 0)
		*rt.Bind(&v.n, site, rt.Writes) = 1
		rt.Bound(site)
		rt.Ended(1)
	},
	growing,
}

// growing has a section on shared memory, whose goroutine's stack moves in it.
func growing(site uint32) {
	if site%8 != 0 {
		return
	}
	a := new(account)
	keepLast(a)
	_ = *rt.Enter(&a.n, 1000, 2, 0)
	rt.Entered(2)
	narrow(100, 0, func(uint32) {}, 1)
	_ = *rt.End(&a.n, 1000, 2, 0)
	rt.Ended(2)
}

type node struct {
	n    int64
	s    [4]int
	next *node
}

var last atomic.Pointer[account]

func keepLast(a *account) { last.Store(a) }

// narrow calls leaf below n small frames and m somewhat larger ones.
//
//go:noinline
func narrow(n, m int, leaf func(uint32), site uint32) {
	if n > 0 {
		narrow(n-1, m, leaf, site)
	} else {
		wider(m, leaf, site)
	}
}

//go:noinline
func wider(m int, leaf func(uint32), site uint32) int {
	if m > 0 {
		return wider(m-1, leaf, site) + m
	}
	leaf(site)
	return 0
}

// below calls leaf at many depths, in a new goroutine each, so that the stack is
// full at each of its words once.
func below(leaf func(site uint32), depths int) {
	var wg sync.WaitGroup
	room := make(chan bool, 16)
	for i := 0; i < depths; i++ {
		room <- true
		wg.Add(1)
		go func() {
			defer wg.Done()
			narrow(i%67, i%7, leaf, uint32(1+i%999))
			<-room
		}()
	}
	wg.Wait()
}

func init() {
	programs["cleanStacksGrow"] = func() {
		for _, leaf := range leaves {
			below(leaf, 67*7)
		}
	}
	// The collector shrinks stacks that have been deep, while they are used.
	programs["cleanStacksShrink"] = func() {
		var done atomic.Bool
		both(
			func() {
				for !done.Load() {
					runtime.GC()
				}
			},
			func() {
				for _, leaf := range leaves {
					below(func(site uint32) {
						narrow(400, 0, func(uint32) {}, 1)
						for n := uint32(0); n < 20; n++ {
							leaf(site)
							narrow(int(n), 0, leaf, site)
						}
					}, 30)
				}
				done.Store(true)
			})
	}
}

//go:build (amd64 || arm64) && !plan9

package rt

import (
	"sync/atomic"
	"time"
	"unsafe"
)

const (
	slowCost   = 60        // nanoseconds that a call of the slow path costs, about
	costShare  = 8         // the slow path may cost one part in this many of the time,
	burst      = 300_000   // and these nanoseconds in any case, each time the filter opens
	firstBurst = 3_000_000 // a program's start has many sites that run once
	closedMin  = 1_000_000
	closedMax  = 50_000_000
	paceEvery  = 64 // calls of a shard between looks at the clock
)

// pace is about the time since the filter opened.
var pace struct {
	mu     spinlock
	open   bool        // guarded by mu
	since  int64       // guarded by mu
	calls  uint64      // calls before; guarded by mu
	burst  int64       // guarded by mu
	reopen *time.Timer // guarded by mu; nil until the filter first closes
}

// shard counts for some goroutines, on a cache line of its own.
type shard struct {
	calls   atomic.Uint64
	onStack atomic.Uint64
	_       [48]byte
}

// counters are those of evidence.Counters.
var counters struct {
	shards [16]shard

	windows, collisions, delayNS, noSlot, overBudget, badSite, notWritten atomic.Uint64
}

// seed is that of the run. Set at start.
var seed uint64

func shardOf(g unsafe.Pointer) uint64 { return uint64(uintptr(g)>>9^uintptr(g)>>14) & 15 }

// countCall counts a call of the slow path, looks at the pace now and then,
// and gives a random number.
func countCall(g unsafe.Pointer) uint64 {
	i := shardOf(g)
	n := counters.shards[i].calls.Add(1)
	if n%paceEvery == 0 {
		keepPace()
	}
	return mix(seed + n<<4 + i)
}

// calls sums the calls of the slow path.
func calls() (n uint64) {
	for i := range counters.shards {
		n += counters.shards[i].calls.Load()
	}
	return n
}

// keepPace closes the filter when the slow path has cost too much since it
// opened, for as long as it takes to get even.
func keepPace() {
	now := nanotime()
	if statsAreDue(now) {
		writeStats(now)
	}
	// A timer set from inside a bubble would wait for the bubble's clock.
	if clockFaked() {
		return
	}
	pace.mu.lock()
	defer pace.mu.unlock()
	if !pace.open {
		return
	}
	cost := int64(calls()-pace.calls) * slowCost
	elapsed := now - pace.since
	if cost <= pace.burst+elapsed/costShare {
		return
	}
	pace.open = false
	setOpen(false)
	closed := time.Duration(min(max(cost*costShare-elapsed, closedMin), closedMax))
	if pace.reopen == nil {
		pace.reopen = time.AfterFunc(closed, openFilter)
	} else {
		pace.reopen.Reset(closed)
	}
}

// openFilter opens the filter to all addresses.
func openFilter() {
	pace.mu.lock()
	defer pace.mu.unlock()
	pace.open = true
	pace.since = nanotime()
	pace.calls = calls()
	pace.burst = burst
	if pace.reopen == nil {
		pace.burst = firstBurst
	}
	setOpen(true)
}

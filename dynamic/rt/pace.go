//go:build (amd64 || arm64) && !plan9

package rt

import (
	"runtime"
	"sync/atomic"
	"time"
)

const (
	costShare  = 16        // the slow path may cost one part in this many of the time
	mostCost   = 1000      // nanoseconds that one call is taken to cost at most: a longer one was preempted
	burst      = 300_000   // nanoseconds that it may take beyond its share for a while,
	firstBurst = 3_000_000 // and at the start, where many sites run that run once
	paceEvery  = 64        // calls of a shard between looks at the clock
	costEvery  = 64        // calls of which one is timed, at random
)

// pace is a leaky bucket: calls of the slow path fill it, time drains it. When
// it is full, every filter bit that still brings many calls is closed, which
// are those of hot addresses; once it is drained, all are opened.
var pace struct {
	mu       spinlock
	full     int64       // nanoseconds; guarded by mu
	room     int64       // the most that full may be; guarded by mu
	at       int64       // when full was true; guarded by mu
	open     uint64      // filter bits; guarded by mu
	reopen   *time.Timer // guarded by mu; nil until a bit was closed first outside of bubbles
	reopenAt int64       // when to open the filter where no timer does, or 0; guarded by mu
	stack    [64]byte    // the first line of a stack's text; guarded by mu
}

// slowCost is how many nanoseconds a call of the slow path takes, as a moving average of
// the measurements of noteCost. Machines differ by more than double here, by their
// clocks and caches. Two goroutines that store at once lose one measurement.
var slowCost atomic.Int64

// firstCost is the cost of a call if nothing has been measured.
const firstCost = 100

// noteCost adds a measurement: a call without a window has taken ns. The second reading of the clock stands for the
// work before the first one.
func noteCost(ns int64) {
	old := slowCost.Load()
	slowCost.Store(old + (min(ns, mostCost)-old)/16)
}

// shard counts for one filter bit, on a cache line of its own.
type shard struct {
	calls   atomic.Uint64
	onStack atomic.Uint64
	_       [48]byte
}

// counters are those of evidence.Counters.
var counters struct {
	shards [64]shard

	windows, collisions, delayNS, noSlot, overBudget, badSite, notWritten, noGap, held, thrashed atomic.Uint64
}

// random is the run's seed, mixed, so that seeds in a row share no numbers.
// Set at start.
var random uint64

// countCall counts a call of the slow path with an address of filter bit i,
// looks at the pace now and then, and returns a random number.
func countCall(i uintptr) uint64 {
	n := counters.shards[i].calls.Add(1)
	if n%paceEvery == 0 {
		keepPace(i)
	}
	return mix(random + n<<6 + uint64(i))
}

// calls sums the calls of the slow path.
func calls() (n uint64) {
	for i := range counters.shards {
		n += counters.shards[i].calls.Load()
	}
	return n
}

// keepPace accounts for paceEvery calls with filter bit i, and closes it if
// the bucket is full.
func keepPace(i uintptr) {
	now := nanotime()
	writeDueStats(now)
	if isolation.on {
		return
	}
	pace.mu.lock()
	defer pace.mu.unlock()
	pace.full = max(pace.full-(now-pace.at)/costShare, 0) + paceEvery*slowCost.Load()
	pace.at = now
	if pace.reopenAt != 0 && now >= pace.reopenAt {
		openAll()
	}
	if pace.full <= pace.room || pace.open>>i&1 == 0 {
		return
	}
	if pace.room == firstBurst {
		pace.full, pace.room = burst, burst
	}
	scheduleOpening(now)
	pace.open &^= 1 << i
	setOpen(pace.open)
}

// scheduleOpening sees to it that the filter, of which a bit is about to be closed, is
// opened again. A timer that is set in a testing/synctest bubble waits for the bubble's
// clock, and one that was set outside must not be touched there: then the next call that reads
// the pace next, by way of another bit, opens the filter. requires: pace.mu.
func scheduleOpening(now int64) {
	const drained = burst * costShare
	nobody := pace.open == ^uint64(0)
	// The first bit that is closed has set the timer. To ask for the bubble takes
	// microseconds, and up to 64 bits are closed in a row.
	if !nobody && pace.reopenAt == 0 {
		return
	}
	switch {
	case bubbled(pace.stack[:runtime.Stack(pace.stack[:], false)]):
		if nobody {
			pace.reopenAt = now + drained
		}
		return
	case pace.reopen == nil:
		pace.reopen = time.AfterFunc(drained, openFilter)
	default:
		pace.reopen.Reset(drained)
	}
	pace.reopenAt = 0
}

// openFilter opens the filter to all addresses.
func openFilter() {
	pace.mu.lock()
	defer pace.mu.unlock()
	openAll()
}

// openAll is openFilter for a caller that holds pace.mu.
func openAll() {
	pace.open, pace.reopenAt = ^uint64(0), 0
	setOpen(pace.open)
}

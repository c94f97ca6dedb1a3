package locks

import (
	"sync/atomic"
	"time"

	"github.com/interlock-go/interlock/dynamic/rt"
)

// A program that acquires locks all the time would pay for each acquisition. So when it has made many
// in a short time, locks are not watched for a while. Notes from before a pause are void behind
// it, as releases were not seen: that is another epoch.

// epoch counts the beginnings and ends of pauses: it is odd in one.
var epoch atomic.Uint32

const (
	batch   = 64   // acquisitions of a goroutine between looks at the clock
	room    = 8192 // acquisitions that the process may make at any pace
	leisure = 4000 // nanoseconds between two acquisitions that cost nothing worth speaking of
	search  = 256  // acquisitions that cost as much as the search for a circle of waits
	rest    = 2 * time.Millisecond
)

// bucket is a leaky one, of the process: acquisitions fill it, time drains it. Goroutines may come and go faster than
// each of them acquires many.
type bucket struct {
	mu   spinlock
	full int64 // acquisitions; guarded by mu
	at   int64 // when full was true, by rt.Now; guarded by mu
}

// overflows adds acquisitions and reports whether these are too many. The excess is not kept: a bubble has no pauses,
// and later acquisitions must not pay for it.
func (b *bucket) overflows(acquisitions, now int64) bool {
	b.mu.lock()
	defer b.mu.unlock()
	b.full = min(max(b.full-(now-b.at)/leisure, 0)+acquisitions, room+search)
	b.at = now
	return b.full > room
}

var spent bucket

// paid adds the cost of the running goroutine, in acquisitions, and begins a pause if the process spends too fast.
func (g self) paid(acquisitions int64) {
	after := g.unpaid.Add(acquisitions)
	if after < batch || !g.unpaid.CompareAndSwap(after, 0) {
		return
	}
	if !spent.overflows(after, rt.Now()) || rt.InBubble() || !watching.CompareAndSwap(true, false) {
		return
	}
	epoch.Add(1)
	time.AfterFunc(rest, func() {
		watching.Store(true) // first, so that a lock noted in the new epoch has its release noted too
		epoch.Add(1)
	})
}

package locks

import (
	"sync/atomic"
	"time"

	"github.com/interlock-go/interlock/dynamic/rt"
)

// A goroutine that acquires locks all the time would pay for each one. So when it has acquired many,
// in a short time, locks are not watched for a while. What was noted before a pause is void behind
// it, as releases were not seen: that is another epoch.

// epoch counts the beginnings and ends of pauses: it is odd in one.
var epoch atomic.Uint32

const (
	burst   = 256        // acquisitions between looks at the clock
	first   = 32 * burst // which a goroutine may make at any pace
	leisure = 4000       // nanoseconds between two acquisitions that cost nothing worth speaking of
	search  = burst      // what the search for a circle of waits costs
	rest    = 2 * time.Millisecond
)

// paid takes up what the running goroutine has spent, in acquisitions, and begins a pause if it spends
// that fast.
func (g self) paid(acquisitions int64) {
	before := g.events / burst
	if g.events += acquisitions; g.events/burst == before {
		return
	}
	now := rt.Now()
	fast := now-g.since256 < burst*leisure
	g.since256 = now
	if !fast || g.events <= first || rt.InBubble() || !watching.CompareAndSwap(true, false) {
		return
	}
	epoch.Add(1)
	time.AfterFunc(rest, func() {
		watching.Store(true) // first, so that what is noted in the new epoch has its release noted too
		epoch.Add(1)
	})
}

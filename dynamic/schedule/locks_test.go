package schedule

import (
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/evidence"
)

// order is a record of two goroutines that acquire locks in opposite orders, with a gap between.
func order(met bool, gap time.Duration) *evidence.Record {
	step := func(gid int64, holds, wants uint64, at time.Duration) evidence.LockStep {
		return evidence.LockStep{
			GID: gid, Holds: evidence.LockSite{Site: holds}, Wants: evidence.LockSite{Site: wants}, AtNS: int64(at),
		}
	}
	steps := []evidence.LockStep{step(1, 10, 11, 0), step(2, 20, 21, gap)}
	return &evidence.Record{Kind: evidence.Order, Met: met, Locks: steps}
}

func TestHoldsAreAsLongAsTheGap(t *testing.T) {
	var l Locks
	l.Observe(order(false, 100*time.Millisecond))
	for try := range enoughTries {
		holds := l.Plan(time.Second)
		length := holds[Acquisitions{10, 11}]
		if len(holds) != 2 || holds[Acquisitions{20, 21}] != length || length < time.Duration(try+1)*100*time.Millisecond {
			t.Errorf("try %d: holds %v", try+1, holds)
		}
	}
	if holds := l.Plan(time.Second); len(holds) > 0 {
		t.Errorf("after %d tries: %v", enoughTries, holds)
	}
}

func TestACircleThatCameAboutIsNotTriedAgain(t *testing.T) {
	var l Locks
	r := order(true, time.Millisecond)
	l.Observe(r)
	if n := len(l.Predicted()); n != 1 {
		t.Errorf("%d predicted before", n)
	}
	deadlock := *r
	deadlock.Kind = evidence.Deadlock
	l.Observe(&deadlock)
	if holds, n := l.Plan(time.Second), len(l.Predicted()); len(holds) > 0 || n > 0 {
		t.Errorf("%v, %d predicted", holds, n)
	}
}

func TestWhatNoHoldBringsAboutIsNotPredicted(t *testing.T) {
	var l Locks
	r := order(true, time.Millisecond)
	l.Observe(r)
	for range enoughHolds {
		l.Observe(&evidence.Record{Kind: evidence.Held, Locks: r.Locks[:1]})
	}
	if n := len(l.Predicted()); n > 0 {
		t.Errorf("%d predicted", n)
	}
	var other Locks
	other.Observe(order(false, time.Millisecond)) // one goroutine may have started the other
	if n := len(other.Predicted()); n > 0 {
		t.Errorf("%d predicted that were not met", n)
	}
}

func TestHoldsFitTheBudget(t *testing.T) {
	var l Locks
	for i := range uint64(10) {
		r := order(false, 100*time.Millisecond)
		for j := range r.Locks {
			r.Locks[j].Holds.Site += 100 * i
		}
		l.Observe(r)
	}
	if holds := l.Plan(400 * time.Millisecond); len(holds) != 4 { // 150 ms each
		t.Errorf("%d acquisitions in %v", len(holds), holds)
	}
}

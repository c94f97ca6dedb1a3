// Package bubble runs monitored accesses where the clock is faked.
package bubble

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"interlock.invalid/rt"
)

type state struct{ a, b int }

var keep any

// Waiting in the monitor is not being durably blocked: the fake clock stands
// still meanwhile, and Wait waits for it.
func TestClean(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, begin := new(state), time.Now()
		keep = s
		go func() {
			time.Sleep(time.Hour)
			*rt.W(&s.a, 1) = 1
		}()
		time.Sleep(time.Hour)
		synctest.Wait()
		if *rt.R(&s.a, 2) != 1 || time.Since(begin) != time.Hour {
			t.Errorf("after %v s.a = %d, want an hour and 1", time.Since(begin), s.a)
		}
		// Enough accesses to fill the bucket, which must not set a timer here.
		for range 200_000 {
			*rt.W(&s.b, 3)++
		}
		if time.Since(begin) != time.Hour {
			t.Errorf("the clock went on to %v", time.Since(begin))
		}
	})
}

func TestRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(state)
		keep = s
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { *rt.W(&s.a, 4)++ })
		}
		wg.Wait()
	})
}

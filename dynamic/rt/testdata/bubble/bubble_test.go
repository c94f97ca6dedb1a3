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

// A bubble whose clock has passed that of the wall is one all the same: a window
// does not move its clock, and the timer that opens the filter again is not set in
// it, nor is one that was set outside touched.
func TestClock(t *testing.T) {
	hot(new(state))
	synctest.Test(t, func(t *testing.T) {
		const long = 50 * 365 * 24 * time.Hour
		s := new(state)
		keep = s
		begin := time.Now()
		time.Sleep(long)
		for i := range 5 {
			at := time.Now()
			done := make(chan bool)
			go func() {
				hot(s)
				close(done)
			}()
			<-done
			*rt.W(&s.a, uint32(6+i))++
			if moved := time.Since(at); moved != 0 {
				t.Errorf("the clock moved by %v while goroutines ran", moved)
			}
			go func() {
				time.Sleep(time.Hour)
				*rt.W(&s.a, uint32(12+i))++
			}()
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			*rt.W(&s.a, uint32(18+i))++
		}
		if d := time.Since(begin); d != long+10*time.Hour {
			t.Errorf("the bubble has lasted %v", d)
		}
	})
	hot(new(state))
}

// hot makes enough accesses to fill the bucket, more than once.
func hot(s *state) {
	keep = s
	for range 300_000 {
		*rt.W(&s.b, 5)++
	}
}

package hidden

import (
	"errors"
	"sync"
	"testing"
	"time"
)

// gap has one goroutine write at once and another one after a while; nothing orders the two.
func gap(d time.Duration) {
	var n int
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		n = 1
	}()
	go func() {
		defer wg.Done()
		time.Sleep(d)
		n = 2
	}()
	wg.Wait()
	_ = n
}

// Gap of 1 ms: two writes, 1 ms apart.
func TestRaceGap1(*testing.T) { gap(time.Millisecond) }

// Gap of 10 ms: two writes, 10 ms apart.
func TestRaceGap10(*testing.T) { gap(10 * time.Millisecond) }

// Gap of 100 ms: two writes, 100 ms apart.
func TestRaceGap100(*testing.T) { gap(100 * time.Millisecond) }

// Gap of 500 ms: two writes, 500 ms apart.
func TestRaceGap500(*testing.T) { gap(500 * time.Millisecond) }

// Read after write: a cache is filled in the background and read after a pause.
func TestRaceCacheFilled(t *testing.T) {
	cache := struct{ value string }{}
	go func() { cache.value = "filled" }()
	time.Sleep(20 * time.Millisecond)
	if cache.value == "" {
		t.Log("not filled yet")
	}
}

// Write before read: what is read at once is written 30 ms later.
func TestRaceStopFlag(*testing.T) {
	stop, done := false, make(chan bool)
	go func() {
		defer close(done)
		for range 3 {
			if stop {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	time.Sleep(30 * time.Millisecond)
	stop = true
	<-done
}

// Clean: the same with a lock.
func TestCleanGap10(*testing.T) {
	var mu sync.Mutex
	var n int
	var wg sync.WaitGroup
	wg.Add(2)
	for i := range 2 {
		go func() {
			defer wg.Done()
			time.Sleep(time.Duration(i) * 10 * time.Millisecond)
			mu.Lock()
			n++
			mu.Unlock()
		}()
	}
	wg.Wait()
}

// One access each: a map entry is added and counted once, in this order.
func TestRaceMapOnce(*testing.T) {
	m := map[string]int{}
	done := make(chan bool)
	go func() {
		m["a"] = 1
		close(done)
	}()
	time.Sleep(5 * time.Millisecond)
	_ = len(m)
	<-done
}

// One append each: two goroutines append to a slice, 3 ms apart.
func TestRaceAppendOnce(*testing.T) {
	var list []int
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			time.Sleep(time.Duration(3*i) * time.Millisecond)
			list = append(list, i)
		}()
	}
	wg.Wait()
}

// Straggler: the test returns, and the goroutine that it started writes later.
func TestRaceStraggler(*testing.T) {
	go func() {
		time.Sleep(5 * time.Millisecond)
		shared.n++
	}()
	shared.n++
}

var shared struct{ n, late int }

// Two stragglers: both write after the test.
func TestRaceTwoStragglers(*testing.T) {
	for i := range 2 {
		go func() {
			time.Sleep(time.Duration(5+10*i) * time.Millisecond)
			shared.late++
		}()
	}
}

// Rare branch: one in eight iterations writes what the other goroutine reads once.
func TestRaceRareBranch(*testing.T) {
	hot := 0
	done := make(chan bool)
	go func() {
		defer close(done)
		for i := range 16 {
			if i%8 == 7 {
				hot = i
			}
			time.Sleep(time.Millisecond)
		}
	}()
	time.Sleep(12 * time.Millisecond)
	_ = hot
	<-done
}

// Error path: the error is stored by a worker that fails 8 ms after the others were asked.
func TestRaceErrorPath(*testing.T) {
	var err error
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			time.Sleep(time.Duration(2*i) * time.Millisecond)
			if i == 3 {
				err = errFailed
			} else if err != nil {
				return
			}
		}()
	}
	wg.Wait()
}

var errFailed = errors.New("failed")

// Timer: the function of a timer clears what is set behind its start, and no other goroutine runs until then.
func TestRaceTimer(*testing.T) {
	var timer *time.Timer
	done := make(chan bool)
	timer = time.AfterFunc(time.Millisecond, func() {
		timer = nil
		close(done)
	})
	timer.Reset(time.Millisecond) // in a run without noise this orders the two
	<-done
}

// Clean: the function of a timer is let go on by a channel.
func TestCleanTimer(*testing.T) {
	var timer *time.Timer
	set, done := make(chan bool), make(chan bool)
	timer = time.AfterFunc(time.Millisecond, func() {
		<-set
		timer.Stop()
		close(done)
	})
	close(set)
	<-done
}

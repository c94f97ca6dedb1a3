package hidden

import (
	"sync"
	"testing"
	"time"
)

// Closed twice: three goroutines find the channel open, and close it.
func TestRaceClosedTwice(*testing.T) {
	done := make(chan bool)
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			select {
			case <-done:
			default:
				close(done)
			}
		}()
	}
	wg.Wait()
}

// Sent on when closed: the last of five values is sent 4 ms before the channel is closed, and nothing orders the two.
func TestRaceSentWhenClosed(*testing.T) {
	values := make(chan int, 8)
	w := later(9*time.Millisecond, func() { close(values) })
	for i := range 5 {
		values <- i
		time.Sleep(time.Millisecond)
	}
	w()
}

// Checked, then sent: a goroutine sends on a channel that it finds open, and the other one has marked and closed it before
// the goroutine has begun.
func TestRaceCheckedThenSent(*testing.T) {
	var mu sync.Mutex
	closed, values, done := false, make(chan int, 1), make(chan bool)
	go func() {
		defer close(done)
		mu.Lock()
		open := !closed
		mu.Unlock()
		if open {
			values <- 1
		}
	}()
	mu.Lock()
	closed = true
	mu.Unlock()
	close(values)
	<-done
}

// Counted by itself: a goroutine adds itself to the WaitGroup, 3 ms behind the Wait.
func TestRaceCountedByItself(*testing.T) {
	var wg sync.WaitGroup
	w := later(3*time.Millisecond, func() {
		wg.Add(1)
		wg.Done()
	})
	wg.Wait()
	w()
}

// Clean: the sender closes the channel, and adds to the WaitGroup while it is counted itself.
func TestCleanClosedBySender(*testing.T) {
	values := make(chan int)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for i := range 5 {
			values <- i
			wg.Add(1)
			go wg.Done()
		}
		close(values)
	}()
	for range values {
	}
	wg.Wait()
}

// Package late has goroutines that use a test: some of them after its end.
package late

import (
	"sync"
	"testing"
	"time"
)

func TestPause(t *testing.T) {
	go func() {
		t.Log("started") // want `t may be used after the end of the test`
	}()
	time.Sleep(time.Millisecond)
}

func TestStopped(t *testing.T) {
	stop := make(chan struct{})
	go func() {
		<-stop
		t.Errorf("stopped") // want `t may be used after the end of the test`
	}()
	close(stop)
}

type poller struct {
	logf       func(string, ...any)
	stop, done chan struct{}
}

func (p *poller) run() {
	defer close(p.done)
	for {
		select {
		case <-p.stop:
			p.logf("stopped") // want `may be used after the end of the test`
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func TestLogf(t *testing.T) {
	p := &poller{t.Logf, make(chan struct{}), make(chan struct{})}
	go p.run()
	close(p.stop)
}

// Good cases.

func TestWaited(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.Log("started")
	}()
	<-done
}

func TestCounted(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			t.Log(i)
		}()
	}
	wg.Wait()
}

func TestCleanup(t *testing.T) {
	stop, done := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() {
		close(stop)
		<-done
	})
	go func() {
		defer close(done)
		<-stop
		t.Log("stopped")
	}()
}

func TestDeferred(t *testing.T) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { t.Log("started") })
}

func TestHandshake(t *testing.T) {
	c := make(chan int)
	go func() {
		t.Log("sending")
		c <- 1
	}()
	<-c
}

func TestSubtest(t *testing.T) {
	t.Run("sub", func(t *testing.T) {
		done := make(chan struct{})
		go func() {
			t.Log("started")
			close(done)
		}()
		<-done
	})
}

func TestFailsOnly(t *testing.T) {
	c := make(chan int)
	go func() {
		if n := <-c; n != 1 {
			t.Errorf("got %d", n)
		}
	}()
	c <- 1
}

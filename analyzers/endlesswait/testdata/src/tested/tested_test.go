package tested

import (
	"os"
	"testing"
)

// A test of other code passes as a rule: what is not known of the data is as it expects.
func TestLoad(t *testing.T) {
	done := make(chan bool)
	go func() {
		if err := Load(); err != nil {
			return
		}
		done <- true
	}()
	<-done
}

func TestStuck(t *testing.T) {
	done := make(chan bool)
	go func() {
		if err := Load(); err != nil {
			t.Error(err)
		}
	}()
	<-done // want `IL4003`
}

// What is registered last is called first.
func TestCleanup(t *testing.T) {
	var calls Calls
	release := make(chan bool)
	t.Cleanup(calls.Wait)
	t.Cleanup(func() { close(release) })
	go calls.Do(func() { <-release })
}

func TestCleanupStuck(t *testing.T) {
	var calls Calls
	release := make(chan bool)
	t.Cleanup(func() { close(release) })
	t.Cleanup(calls.Wait)
	go calls.Do(func() { <-release }) // want `IL4003`
}

// How large something is, the test knows.
func TestLarge(t *testing.T) {
	sent := make(chan bool, 1)
	s := NewSender(func([]byte) { sent <- true })
	b, err := os.ReadFile("x")
	if err != nil {
		t.Fatal(err)
	}
	s.Send(b)
	<-sent
	close(s.large)
}

// What a helper is handed its callers know: two senders share ten.
func receive(t *testing.T, senders, n int) {
	ch := make(chan bool)
	for range senders {
		go func() {
			for range n / senders {
				ch <- true
			}
		}()
	}
	for range n {
		<-ch // a lead
	}
}

func TestReceive(t *testing.T) {
	receive(t, 2, 10)
}

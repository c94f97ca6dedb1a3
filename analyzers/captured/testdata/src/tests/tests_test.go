//go:build go1.21

package tests

import (
	"sync"
	"testing"
)

// A helper, with the loop variables of the Go version above.
func each(keys []string, get func(string)) {
	var wg sync.WaitGroup
	for _, key := range keys { // want `loop variable key is assigned while a goroutine that captures it uses it`
		wg.Add(1)
		go func() {
			get(key)
			wg.Done()
		}()
	}
	wg.Wait()
}

func eachRight(keys []string, get func(string)) {
	var wg sync.WaitGroup
	for _, key := range keys {
		key := key
		wg.Add(1)
		go func() {
			get(key) // ok
			wg.Done()
		}()
	}
	wg.Wait()
}

func counted(n int) {
	for i := 0; i < n; i++ { // want `loop variable i is assigned`
		go println("started")
		go func() {
			println(i)
		}()
	}
}

func one(keys []string) {
	for _, key := range keys {
		done := make(chan bool)
		go func() {
			println(key) // ok: waited for
			close(done)
		}()
		<-done
	}
}

// within starts f, and waits for it.
func within(f func()) {
	done := make(chan bool)
	go func() {
		f()
		close(done)
	}()
	<-done
}

func waited(keys []string) {
	for _, key := range keys {
		within(func() { println(key) }) // ok
	}
}

func TestErr(t *testing.T) {
	var err error
	go func() {
		err = run() // want `variable err is shared`
	}()
	err = run()
	if err != nil {
		t.Log(err)
	}
}

func TestRight(t *testing.T) {
	var err error
	done := make(chan bool)
	go func() {
		err = run() // ok
		close(done)
	}()
	<-done
	if err != nil {
		t.Log(err)
	}
}

func run() error { return nil }

func TestParallel(t *testing.T) {
	var last string
	var err error
	for _, name := range []string{"a", "b"} {
		name := name
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last = name // want `variable last is shared .* so do the other goroutines`
		})
		t.Run(name, func(t *testing.T) {
			err = run() // ok: one after the other
		})
	}
	last = err.Error() // the subtests wait for the end of the test
	if err != nil {
		t.Fatal(err, last)
	}
}

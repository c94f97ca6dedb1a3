// Package leftbehind has waits of goroutines that are the last ones, in functions with names such as lastToSend, and
// waits beside other goroutines.
package leftbehind

import (
	"context"
	"errors"
	"sync"
)

func lastToSend(ctx context.Context, get func() string) (string, error) {
	ch := make(chan string)
	go func() {
		ch <- get() // want `IL4003: send of ch may wait for ever`
	}()
	select {
	case s := <-ch:
		return s, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func lastToReceive(connect func() bool) error {
	trigger := make(chan struct{})
	go func() {
		<-trigger // want `IL4003: receive of trigger may wait for ever`
	}()
	if !connect() {
		return errors.New("not connected")
	}
	close(trigger)
	return nil
}

// Both senders may be the last ones, beside each other.
func lastOfTwo(get func() string) string {
	ch := make(chan string)
	for range 2 {
		go func() {
			ch <- get() // want `IL4003: send of ch may wait for ever`
		}()
	}
	return <-ch
}

// The function itself waits as well.
func bothWait(connect func() bool) {
	var group sync.WaitGroup
	trigger := make(chan struct{})
	group.Add(1)
	go func() {
		defer group.Done()
		<-trigger // want `IL4003: receive of trigger may wait for ever`
	}()
	if connect() {
		close(trigger)
	}
	group.Wait()
}

// The function itself waits.
func starter(connect func() bool) {
	ready := make(chan struct{})
	go func() {
		if connect() {
			ready <- struct{}{}
		}
	}()
	<-ready // want `IL4003: receive of ready may wait for ever`
}

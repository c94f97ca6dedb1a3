package loops

import (
	"fmt"
	"os"
)

// Ring has a goroutine that serves until it cannot.
type Ring struct {
	slots   []int
	window  int
	started chan bool
}

// NewRing refuses what its goroutine would refuse.
func NewRing(n, window int) *Ring {
	if n == 0 && window != 0 {
		panic("no slots")
	}
	r := &Ring{slots: make([]int, n), window: window, started: make(chan bool)}
	go r.serve()
	<-r.started // ok
	return r
}

// NewRingOf refuses nothing.
func NewRingOf(n, window int) *Ring {
	r := &Ring{slots: make([]int, n), window: window, started: make(chan bool)}
	go r.serve()
	<-r.started // want `IL4003`
	return r
}

func (r *Ring) serve() {
	if len(r.slots) == 0 && r.window != 0 {
		return
	}
	close(r.started)
}

// An error comes first.
func Answer() ([]byte, error) {
	errs, answers := make(chan error, 1), make(chan []byte)
	go func() {
		b, err := os.ReadFile("x")
		if err != nil {
			errs <- fmt.Errorf("reading: %w", err)
			return
		}
		errs <- nil
		answers <- b
	}()
	if err := <-errs; err != nil {
		return nil, err
	}
	return <-answers, nil // ok
}

// The answer comes first.
func AnswerFirst() ([]byte, error) {
	errs, answers := make(chan error, 1), make(chan []byte)
	go func() {
		b, err := os.ReadFile("x")
		if err != nil {
			errs <- fmt.Errorf("reading: %w", err)
			return
		}
		answers <- b
		errs <- nil
	}()
	b := <-answers // want `IL4003`
	return b, <-errs
}

// Config says how many are started.
type Config interface{ Workers() int }

// Two loops that ask for one number ask for the same, as a rule.
func Collect(c Config) {
	done := make(chan bool)
	for i := 0; i < c.Workers(); i++ {
		go func() { done <- true }() // a lead
	}
	for i := 0; i < c.Workers(); i++ {
		<-done
	}
}

// One that asks for nothing else does.
func CollectOne(c Config) {
	done := make(chan bool)
	for i := 0; i < c.Workers(); i++ {
		go func() { done <- true }() // want `IL4003`
	}
	<-done
}

// Args returns what the command was called with.
func Args() []string { return args }

var args []string

// Two loops over what one function returns have as many rounds.
func CollectArgs() {
	done := make(chan bool)
	for range Args() {
		go func() { done <- true }() // a lead
	}
	for range Args() {
		<-done
	}
}

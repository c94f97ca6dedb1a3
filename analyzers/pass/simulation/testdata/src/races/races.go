// Package races has a program in each function. The line of its name says which goroutines race.
package races

import (
	"sync"
	"sync/atomic"
	"time"
)

type counter struct {
	mu sync.Mutex
	n  int
	m  map[string]int
}

func (c *counter) add()    { c.n++ }
func (c *counter) locked() { c.mu.Lock(); c.n++; c.mu.Unlock() }

// A method value, called by a helper's goroutine.
func methodValues() { // = read of 1 with write of 2, write of 1 with read of 2, write of 1 with write of 2
	c := &counter{}
	each(c.add, c.add)
}

func lockedValues() { // = none
	c := &counter{}
	each(c.locked, c.locked)
	c.n++
}

func each(list ...func()) {
	var wg sync.WaitGroup
	for _, f := range list {
		wg.Add(1)
		go func() { defer wg.Done(); f() }()
	}
	wg.Wait()
}

// What comes before the go statement is seen by the goroutine, and what it does by who waits.
func startedAndWaited() { // = none
	c := &counter{m: map[string]int{}}
	done := make(chan bool)
	c.m["a"] = 1
	go func() { c.m["b"] = 2; done <- true }()
	<-done
	delete(c.m, "a")
}

// What comes after the send is not.
func sentTooEarly() { // = write of 1 with read of 0
	c := &counter{m: map[string]int{}}
	done := make(chan bool)
	go func() { done <- true; c.m["b"] = 2 }()
	<-done
	_ = c.m["b"]
}

// A goroutine that is started later is ordered after its starter, and not after the other one.
func siblings() { // = write of 2 with write of 1
	c := &counter{}
	go func() { c.n = 1 }()
	time.Sleep(1)
	go func() { c.n = 2 }()
}

func flagged() { // = none
	c := &counter{}
	var ready atomic.Bool
	go func() { c.n = 1; ready.Store(true) }()
	if ready.Load() {
		c.n++
	}
}

// Code that is not known may order anything.
func unknownCode(wait func()) { // = none
	c := &counter{}
	go func() { c.n = 1 }()
	wait()
	c.n++
}

type embedding struct {
	*counter
	log []string
}

type outer struct{ embedding }

func (o *outer) guarded() {
	o.embedding.lock()
	o.log = nil
	o.embedding.unlock()
}

func (c *counter) lock()   { c.mu.Lock() }
func (c *counter) unlock() { c.mu.Unlock() }

// A method by way of an embedded pointer reads that pointer, not the struct around it.
func embedded() { // = none
	o := &outer{embedding{counter: &counter{}}}
	each(o.guarded, o.guarded)
}

// The pointer itself is read.
func replaced() { // = read of 1 with write of 2
	o := &outer{embedding{counter: &counter{}}}
	each(o.guarded, func() { o.counter = &counter{} })
}

// A copy reads all.
func copied() { // = read of 1 with write of 2
	o := &outer{embedding{counter: &counter{}}}
	each(func() { e := o.embedding; _ = e.log }, func() { o.log = nil })
}

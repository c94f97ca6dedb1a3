// Package a has a statement for each answer. Its comment says why the statement must not come under a new lock, and
// what of it lasts; "nothing" if nothing speaks against it.
package a

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

var loaded int64

type store struct {
	mu   sync.Mutex
	n    int
	m    map[string]int
	out  chan int
	wg   sync.WaitGroup
	hook func()
	to   sink
}

type sink interface{ put(int) }

type quiet struct{}

func (quiet) put(int) {}

func (s *store) waits(e error, all iter.Seq[int]) {
	s.out <- 1        // blocks: sends on a channel // lasts: sends on a channel
	<-s.out           // blocks: receives from a channel // lasts: receives from a channel
	s.wg.Wait()       // blocks: calls s.wg.Wait, which may wait or do I/O
	time.Sleep(1)     // blocks: calls time.Sleep, which may wait or do I/O
	s.hook()          // blocks: calls s.hook, which may be any code
	s.mu.Lock()       // blocks: uses the lock store.mu
	s.mu.Unlock()     // blocks: uses the lock store.mu
	s.deep()          // blocks: calls deep, which calls write, which calls os.Remove, which may wait or do I/O
	s.round(3)        // blocks: calls round, which calls back, which sends on a channel
	s.back(3)         // blocks: calls back, which sends on a channel
	_ = fmt.Sprint(e) // blocks: hands values to fmt.Sprint, whose methods may be any code
	for range all {   // blocks: ranges over a function
	}
	for range s.out { // blocks: receives from a channel
	}
	select { // blocks: waits in a select
	case <-s.out:
	case s.out <- 1:
	}
	s.forever() // blocks: calls forever, which loops without end
}

func (s *store) goesOn(list []int) {
	s.n++    // blocks: nothing // lasts: changes s.n
	select { // blocks: nothing // lasts: selects on channels
	case <-s.out:
	default:
	}
	go s.deep()                                // blocks: nothing // lasts: starts a goroutine
	defer s.deep()                             // blocks: nothing // lasts: defers a call
	s.to.put(1)                                // blocks: nothing // lasts: nothing
	f := func() { s.n++ }                      // blocks: nothing // lasts: nothing
	f()                                        // blocks: nothing // lasts: calls a function literal, which changes s.n
	slices.SortFunc(list, func(a, b int) int { // blocks: calls a function literal, which sends on a channel
		s.out <- a
		return a - b
	})
}

func (s *store) lasts(key string) {
	x := s.n + 1                  // lasts: nothing
	x++                           // lasts: nothing
	s.m[key] = x                  // lasts: changes s.m[key]
	delete(s.m, key)              // lasts: calls delete
	made := build(key)            // lasts: nothing
	made.n = x                    // lasts: changes made.n
	own := &store{}               // lasts: nothing
	own.n = x                     // lasts: nothing
	s.wg.Add(1)                   // lasts: calls s.wg.Add, which may do anything
	at := time.Now()              // lasts: nothing
	_ = at.Add(time.Second)       // lasts: nothing
	_ = at.UnmarshalText(nil)     // lasts: calls at.UnmarshalText, which may do anything
	_ = atomic.LoadInt64(&loaded) // lasts: nothing
	s.count()                     // lasts: calls count, which changes s.n
	_ = fmt.Sprint(x, made)       // lasts: nothing
}

func build(key string) *store {
	s := &store{m: map[string]int{}}
	s.n++
	return s
}

func (s *store) count() { s.n++ }

func (s *store) deep() { s.write() }

func (s *store) write() { os.Remove("x") }

// round and back call each other: what one does, both do.
func (s *store) round(n int) {
	if n > 0 {
		s.back(n - 1)
	}
}

func (s *store) back(n int) {
	s.round(n)
	s.out <- n
}

func (s *store) forever() {
	for {
		s.n++
	}
}

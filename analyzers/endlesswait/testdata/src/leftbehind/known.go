package leftbehind

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"sort"
	"strings"
	"sync"
	"time"
)

// Others end the waits of this file: they have the channel as the key of a map, in a context, or by a library.

type hub struct {
	mu   sync.Mutex
	subs map[chan string]bool
}

func (h *hub) subscribe(f func(string)) {
	ch := make(chan string)
	go func() {
		for m := range ch { // ok
			f(m)
		}
	}()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs[ch] = true
}

type directory struct{ names map[chan string]string }

func (d *directory) subscribe(name string, f func(string)) {
	ch := make(chan string)
	go func() {
		for m := range ch { // ok
			f(m)
		}
	}()
	if name != "" {
		d.names[ch] = name
	} else {
		d.names[ch] = "nobody"
	}
}

func (h *hub) publish(m string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ch := range h.subs {
		ch <- m // ok
	}
}

type progressKey struct{}

func withProgress(ctx context.Context, f func(context.Context), show func(int)) {
	progress := make(chan int)
	go func() {
		for n := range progress { // ok
			show(n)
		}
	}()
	f(context.WithValue(ctx, progressKey{}, progress))
}

type handle struct{ fd int }

func untilCollected(f func(fd int), collected func()) {
	h := &handle{3}
	gone := make(chan bool)
	runtime.SetFinalizer(h, func(*handle) { close(gone) })
	go func() {
		<-gone // ok
		collected()
	}()
	f(h.fd)
	runtime.KeepAlive(h)
}

func sortedByMatches(players []string, wins func(a, b string) bool) {
	games, won := make(chan [2]int), make(chan bool)
	go func() {
		for g := range games { // ok
			won <- wins(players[g[0]], players[g[1]]) // ok
		}
	}()
	sort.Slice(players, func(i, j int) bool {
		games <- [2]int{i, j} // ok
		return <-won          // ok
	})
	close(games)
}

type feed struct{ ch chan byte }

func (f *feed) Read(p []byte) (int, error) {
	b, ok := <-f.ch // ok
	if !ok {
		return 0, io.EOF
	}
	p[0] = b
	return 1, nil
}

func scanned() (n int) {
	f := &feed{make(chan byte)}
	go func() {
		defer close(f.ch)
		f.ch <- '1' // ok
	}()
	fmt.Fscanln(f, &n)
	return n
}

type slots [4]chan int

func (s *slots) set(at int, f func(int)) {
	ch := make(chan int)
	go func() {
		for n := range ch { // ok
			f(n)
		}
	}()
	copy(s[at:], []chan int{ch})
}

func firstOf(get func() int) int {
	a := make(chan int)
	go func() { a <- get() }() // ok
	_, v, _ := reflect.Select([]reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(a)}})
	return int(v.Int())
}

// A channel with room for all, counted by a loop.
func all(fs []func() int, use func(int)) {
	n := 0
	for _, f := range fs {
		if f != nil {
			n++
		}
	}
	ch := make(chan int, n)
	for _, f := range fs {
		if f != nil {
			go func() { ch <- f() }() // ok
		}
	}
	if n > 0 {
		use(<-ch) // ok
	}
}

// Stop returns false once the function has been started.
func unlessLate(d time.Duration, late func() error, work func() error) error {
	failed := make(chan error)
	t := time.AfterFunc(d, func() {
		failed <- late() // ok
	})
	err := work()
	if !t.Stop() {
		err = <-failed // ok
	}
	return err
}

// One question, asked in two ways.
func between(lo, hi int, get func() int) (n int) {
	got := make(chan int)
	if lo < hi {
		go func() {
			got <- get() // ok
		}()
	}
	if hi > lo {
		n = <-got // ok
	}
	return n
}

type sampler struct {
	rate float64
	out  chan int
}

func sampled(get func() int) int {
	s := &sampler{out: make(chan int)}
	go func() {
		s.out <- get() // ok
	}()
	if s.rate == 0 {
		return <-s.out // ok
	}
	return 0
}

// The start is passed by on a condition that may be the one of the receive: no goroutine is surely left.
func onCondition(name string, get func() int) (n int) {
	got := make(chan int)
	if strings.HasPrefix(name, "remote") {
		go func() {
			got <- get() // want `IL4003: send of got may wait for ever`
		}()
	}
	if name != "" {
		n = <-got // ok: a lead, as no goroutine may have been started
	}
	return n
}

// Another goroutine runs on, and asks whether it has to end.
func watched(stopped func() bool, get func() int) {
	ch, quit := make(chan int), make(chan bool)
	go func() {
		ch <- get() // want `IL4003: send of ch may wait for ever`
	}()
	go func() {
		for {
			select {
			case <-quit:
				return
			case <-time.After(time.Second):
			}
		}
	}()
	if stopped() {
		<-ch
	}
}

type logger interface{ Fatal(args ...any) }

// Fatal ends the program.
func orFatal(connect func() error, get func() int, log logger) int {
	got := make(chan int)
	go func() {
		got <- get() // ok
	}()
	if err := connect(); err != nil {
		log.Fatal(err.Error())
	}
	return <-got // ok
}

package hidden

import (
	"runtime"
	"sync"
	"testing"
)

// level has an atomic section in each method whose comment ends in 'section': from the line marked 'entry' to that
// marked 'end'. No access of the same variable but a read may come between. What is inlined is not recognised.
type level struct {
	mu    sync.Mutex
	outer sync.Mutex
	n     int
	ready bool
	news  chan bool
}

func (l *level) get() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n // get
}

func (l *level) set(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n = n // set
}

// raise: section
//
//go:noinline
func (l *level) raise(n int) {
	now := l.get() // entry get
	l.set(now + n) // end set
}

// double: section
//
//go:noinline
func (l *level) double() {
	l.mu.Lock()
	n := l.n // entry
	l.mu.Unlock()
	l.mu.Lock()
	l.n = 2 * n // end
	l.mu.Unlock()
}

// fill: section
//
//go:noinline
func (l *level) fill() {
	l.mu.Lock()
	empty := l.n == 0 // entry
	l.mu.Unlock()
	if empty {
		l.mu.Lock()
		l.n = 1 // end
		l.mu.Unlock()
	}
}

// fillOnce looks again: section
//
//go:noinline
func (l *level) fillOnce() {
	l.mu.Lock()
	empty := l.n == 0 // entry
	l.mu.Unlock()
	if empty {
		l.mu.Lock()
		if l.n == 0 {
			l.n = 1 // end
		}
		l.mu.Unlock()
	}
}

// doubleThenTell: section
//
//go:noinline
func (l *level) doubleThenTell() {
	l.mu.Lock()
	n := l.n // entry
	l.mu.Unlock()
	l.mu.Lock()
	l.n = 2 * n // end
	l.ready = true
	l.mu.Unlock()
	l.news <- true
}

// doubleAtOnce: section
//
//go:noinline
func (l *level) doubleAtOnce() {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.n    // entry
	l.n = 2 * n // end
}

type cell[T any] struct {
	mu sync.Mutex
	v  T
}

// update: section
//
//go:noinline
func (l *cell[T]) update(f func(T) T) {
	l.mu.Lock()
	v := l.v // entry
	l.mu.Unlock()
	v = f(v)
	l.mu.Lock()
	l.v = v // end
	l.mu.Unlock()
}

// meet runs the first in a goroutine, and then the second.
func meet(first, second func()) {
	done := make(chan bool, 1)
	go func() { first(); done <- true }()
	for len(done) == 0 { // orders nothing
		runtime.Gosched()
	}
	second()
	<-done
}

func newLevel() *level { return &level{n: 1, news: make(chan bool, 1)} }

func TestSplitByWrite(t *testing.T) {
	l := newLevel()
	meet(l.double, func() { l.set(3) })
}

func TestSplitInCallees(t *testing.T) {
	l := newLevel()
	meet(func() { l.raise(1) }, func() { l.set(3) })
}

func TestSplitByItself(t *testing.T) {
	l := newLevel()
	meet(func() { l.raise(1) }, func() { l.raise(2) })
}

func TestSplitGeneric(t *testing.T) {
	l := new(cell[int])
	raise := func() { l.update(func(n int) int { return n + 1 }) }
	meet(raise, raise)
}

func TestSplitTestAndUse(t *testing.T) {
	l := newLevel()
	l.n = 0
	meet(l.fill, func() { l.set(3) })
}

func TestNothingRead(t *testing.T) {
	l := newLevel()
	meet(l.double, func() { l.get() })
}

func TestNothingOneSection(t *testing.T) {
	l := newLevel()
	meet(l.doubleAtOnce, l.doubleAtOnce)
}

// The value is looked at again.
func TestNothingLooksAgain(t *testing.T) {
	l := newLevel()
	l.n = 0
	meet(l.fillOnce, func() { l.set(3) })
}

// The two halves are calls of two others.
func TestNothingTwoCalls(t *testing.T) {
	l := newLevel()
	meet(func() { l.get(); l.set(2) }, func() { l.set(3) })
}

// Another lock is held throughout.
func TestNothingGuarded(t *testing.T) {
	l := newLevel()
	guarded := func() {
		l.outer.Lock()
		defer l.outer.Unlock()
		l.raise(1)
	}
	meet(guarded, guarded)
}

func TestNothingWhenReady(t *testing.T) {
	l := newLevel()
	meet(l.doubleThenTell, func() {
		l.mu.Lock()
		if l.ready {
			l.n = 3
		}
		l.mu.Unlock()
	})
}

func TestNothingWhenTold(t *testing.T) {
	l := newLevel()
	meet(l.doubleThenTell, func() { <-l.news; l.set(3) })
}

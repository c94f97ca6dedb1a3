package hidden

import (
	"runtime"
	"sync"
	"testing"
)

// level has an atomic section in each method whose comment ends in 'section': from the line marked 'entry' to that
// marked 'end', or 'use' where that reads. No access of the same variable but a read may come between. What is inlined
// is not recognised.
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

// stack is that of figure 4.4 of Li's thesis: two goroutines find one element, and both take it.
type stack struct {
	mu    sync.Mutex
	items []int
}

func (l *stack) isEmpty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.items) == 0 // isEmpty
}

func (l *stack) pop() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.items[len(l.items)-1]
	l.items = l.items[:len(l.items)-1] // pop
	return last
}

// take: section
//
//go:noinline
func (l *stack) take() int {
	if !l.isEmpty() { // entry isEmpty
		return l.pop() // end pop
	}
	return 0
}

// takeAtOnce: section
//
//go:noinline
func (l *stack) takeAtOnce() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.items) > 0 { // entry
		last := l.items[len(l.items)-1]
		l.items = l.items[:len(l.items)-1] // end
		return last
	}
	return 0
}

// buffer is that of figure 4.2: append asks another buffer for its length and takes so many bytes then, and holds the
// lock of its own, which guards nothing of the other's.
type buffer struct {
	mu   sync.Mutex
	data []byte
}

func (l *buffer) length() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.data) // length
}

func (l *buffer) setLength(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = l.data[:n]
}

func (l *buffer) first(n int) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.data[:n] // first
}

// append: section
//
//go:noinline
func (l *buffer) append(from *buffer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := from.length()                        // entry length
	l.data = append(l.data, from.first(n)...) // use first
}

// appendAtOnce: section
//
//go:noinline
func (l *buffer) appendAtOnce(from *buffer) {
	from.mu.Lock()
	defer from.mu.Unlock()
	n := len(from.data)                       // entry
	l.data = append(l.data, from.data[:n]...) // use
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

func newStack() *stack { return &stack{items: []int{1, 2}} }

func TestSplitFigure44(t *testing.T) {
	l := newStack()
	meet(func() { l.take() }, func() { l.take() })
}

func TestNothingFigure44(t *testing.T) {
	l := newStack()
	meet(func() { l.takeAtOnce() }, func() { l.takeAtOnce() })
}

func TestSplitFigure42(t *testing.T) {
	l, from := new(buffer), &buffer{data: []byte("four")}
	meet(func() { l.append(from) }, func() { from.setLength(0) })
}

func TestNothingFigure42(t *testing.T) {
	l, from := new(buffer), &buffer{data: []byte("four")}
	meet(func() { l.appendAtOnce(from) }, func() { from.setLength(0) })
}

// Figure 4.3: nothing but a lock orders the two, so that they may come the other way round. No section is split.
func TestNothingFigure43(t *testing.T) {
	l := newLevel()
	meet(func() { l.set(2) }, func() { l.set(3) })
}

func TestNothingRead(t *testing.T) {
	l := newLevel()
	meet(l.double, func() { l.get() })
}

func TestNothingOneSection(t *testing.T) {
	l := newLevel()
	meet(l.doubleAtOnce, l.doubleAtOnce)
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

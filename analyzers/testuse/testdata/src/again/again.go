// Package again looks again, before the use, at what moves with the tested
// variable.
package again

import (
	"errors"
	"sync"
)

var errClosed = errors.New("closed")

// Ring has two ways to say that it is full.
type Ring struct {
	mu            sync.Mutex
	buf           [8]int
	head, tail, n int
}

func (r *Ring) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n == len(r.buf)
}

func (r *Ring) Put(v int) bool {
	if r.full() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if (r.tail+1)%len(r.buf) == r.head {
		return false
	}
	r.buf[r.tail] = v
	r.tail = (r.tail + 1) % len(r.buf)
	r.n++ // ok: head and tail say the same
	return true
}

func (r *Ring) Get() (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.head == r.tail {
		return 0, false
	}
	v := r.buf[r.head]
	r.head = (r.head + 1) % len(r.buf)
	r.n--
	return v, true
}

// Stack looks at a field that has nothing to do with its size.
type Stack struct {
	mu     sync.Mutex
	closed bool
	n      int
	buf    [8]int
}

func (s *Stack) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n == len(s.buf)
}

func (s *Stack) Push(v int) bool {
	if s.full() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.buf[s.n] = v
	s.n++ // want `test and use of Stack.n are not one step`
	return true
}

func (s *Stack) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// Writer says of a close that it was late, by an error of Write.
type Writer struct {
	mu     sync.Mutex
	closed bool
	buf    []byte
}

func (w *Writer) Closed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

func (w *Writer) Write(p []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errClosed
	}
	w.buf = append(w.buf[:0], p...)
	return nil
}

func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

func Pump(w *Writer) {
	for n := 0; !w.Closed(); n++ {
		if w.Write([]byte("x")) != nil {
			return
		}
		if n > 50 {
			w.Close() // ok: to close it twice is as good as once
		}
	}
}

func Last(w *Writer, sent chan<- bool) {
	if !w.Closed() {
		sent <- true
		w.Close() // want `test and use of Writer.closed are not one step`
	}
}

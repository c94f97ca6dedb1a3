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

// Soft raises first and puts back what went too far, before others can see it.
type Soft struct {
	mu   sync.Mutex
	used int
}

func (s *Soft) Used() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

func (s *Soft) Take(limit int) bool {
	if s.Used() >= limit {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used++ // ok: put back below
	if s.used > limit {
		s.used--
		return false
	}
	return true
}

func (s *Soft) Clamp(limit int) {
	if s.Used() >= limit {
		return
	}
	s.mu.Lock()
	s.used++ // ok: cut below
	if s.used > limit {
		s.used = limit
	}
	s.mu.Unlock()
}

func (s *Soft) raise(limit int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used++
	if s.used > limit {
		s.used = limit
	}
}

func (s *Soft) Raise(limit int) {
	if s.Used() < limit {
		s.raise(limit) // ok: the callee cuts it
	}
}

func (s *Soft) cut(limit int) {
	if s.used > limit {
		s.used = limit
	}
}

func (s *Soft) Cut(limit int) {
	if s.Used() < limit {
		s.mu.Lock()
		s.used++ // ok: the callee cuts it under the same lock
		s.cut(limit)
		s.mu.Unlock()
	}
}

// Hard asks once more, but not about putting anything back.
type Hard struct {
	mu   sync.Mutex
	used int
	full bool
}

func (s *Hard) Used() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

func (s *Hard) Take(limit int) bool {
	if s.Used() >= limit {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used++ // want `test and use of Hard.used are not one step`
	if s.used == limit {
		s.full = true
	}
	return true
}

// Late puts back when others have seen it.
type Late struct {
	mu   sync.Mutex
	used int
}

func (s *Late) Used() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

func (s *Late) Take(limit int) bool {
	if s.Used() >= limit {
		return false
	}
	s.mu.Lock()
	s.used++ // want `test and use of Late.used are not one step`
	s.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used > limit {
		s.used--
		return false
	}
	return true
}

// Pools looks again in a closure, by the variables that hold what was found first.
type Pools struct {
	mu sync.RWMutex
	m  map[string]*Soft
}

func (p *Pools) Of(name string) (*Soft, error) {
	p.mu.RLock()
	s, ok := p.m[name]
	p.mu.RUnlock()
	if !ok {
		if err := func() error {
			p.mu.Lock()
			defer p.mu.Unlock()
			s, ok = p.m[name]
			if ok {
				return nil
			}
			if name == "" {
				return errClosed
			}
			made := &Soft{}
			p.m[name] = made // ok: looked up again
			s = made
			return nil
		}(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (p *Pools) Blind(name string) *Soft {
	p.mu.RLock()
	s, ok := p.m[name]
	p.mu.RUnlock()
	if !ok {
		func() { // want `test and use of Pools.m are not one step`
			p.mu.Lock()
			defer p.mu.Unlock()
			if ok {
				return
			}
			made := &Soft{}
			p.m[name] = made
			s = made
		}()
	}
	return s
}

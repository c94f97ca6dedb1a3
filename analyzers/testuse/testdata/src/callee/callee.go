// Package callee has halves that lie in functions that are called.
package callee

import (
	"errors"
	"sync"
)

type item struct{ n int }

func (i *item) add(n int) { i.n += n }

type Store struct {
	mu    sync.Mutex
	items map[string]*item
	max   int
	owned map[string]*item
}

func (s *Store) has(k string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.items[k]
	return ok
}

func (s *Store) put(k string, i *item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[k] = i
}

func (s *Store) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.items)
}

func (s *Store) get(k string) *item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.items[k]
}

func (s *Store) putIfAbsent(k string, i *item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.items[k]; !ok {
		s.items[k] = i
	}
}

func (s *Store) Ensure(k string) {
	if !s.has(k) {
		s.put(k, &item{}) // want `\(\*Store\).Ensure tests Store.items for a key at line \d+ \(by \(\*Store\).has, callee.go:\d+\), and depending on the result it is set at line \d+ \(by \(\*Store\).put, callee.go:\d+\); s.mu is released in between`
	}
}

func (s *Store) EnsureToo(k string) {
	if s.get(k) == nil {
		s.put(k, &item{}) // want `is set`
	}
}

func (s *Store) EnsureRight(k string) {
	if !s.has(k) {
		s.putIfAbsent(k, &item{}) // ok: it looks again
	}
}

func (s *Store) Limited(k string) bool {
	if s.size() >= s.max {
		return false
	}
	s.put(k, &item{}) // want `tests the length of Store.items at line`
	return true
}

func (s *Store) Local(k string) {
	s.mu.Lock()
	_, ok := s.items[k]
	s.mu.Unlock()
	if !ok {
		s.put(k, &item{}) // want `is set`
	}
}

func (s *Store) Different(k, l string) {
	if !s.has(k) {
		s.put(l, &item{}) // ok: another key
	}
}

func (s *Store) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.max += n
}

func (s *Store) below() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.max < 1000
}

func (s *Store) Grow() {
	if s.below() {
		s.add(1) // want `is raised`
	}
}

func (s *Store) Note(text string) {
	note := func() { s.add(len(text)) }
	if s.below() {
		note() // ok: a limit that may be passed
	}
}

func (s *Store) vacant(k string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.items[k]; ok {
		return errors.New("there is one")
	}
	return nil
}

func (s *Store) Register(k string, i *item) error {
	if err := s.vacant(k); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[k] = i // want `is set`
	return nil
}

func Fresh(k string) *Store {
	s := &Store{items: map[string]*item{}}
	if !s.has(k) {
		s.put(k, &item{}) // ok: nobody else has it yet
	}
	return s
}

// unexported interfaces are followed: all their methods are here.
type backend interface {
	find(k string) *item
	keep(k string, i *item)
}

func (s *Store) find(k string) *item    { return s.get(k) }
func (s *Store) keep(k string, i *item) { s.put(k, i) }

type Front struct{ b backend }

func (f *Front) Ensure(k string) {
	if f.b.find(k) == nil {
		f.b.keep(k, &item{}) // want `is set`
	}
}

// Gate lets two in at a time.
type Gate struct {
	mu sync.Mutex
	n  int
	m  map[string]*int
}

func (g *Gate) inside() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.n
}

// add returns how many there are then.
func (g *Gate) add(d int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n += d
	return g.n
}

func (g *Gate) Enter() bool {
	if g.inside() >= 2 {
		return false
	}
	if g.add(1) > 2 { // ok: what add returns is asked for
		g.add(-1)
		return false
	}
	return true
}

func (g *Gate) EnterBlindly() bool {
	if g.inside() >= 2 {
		return false
	}
	g.add(1) // want `is raised`
	return true
}

func (g *Gate) Run(f func()) {
	if g.inside() >= 2 {
		return
	}
	n := g.add(1) // ok
	defer g.add(-1)
	if n <= 2 {
		f()
	}
}

func (g *Gate) has(k string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.m[k] != nil
}

// drop removes an entry, and returns what it was.
func (g *Gate) drop(k string) *int {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.m[k]
	delete(g.m, k)
	return v
}

func (g *Gate) Drop(k string, done chan *int) {
	if g.has(k) {
		if v := g.drop(k); v != nil { // ok: only one has got it
			done <- v
		}
	}
}

func (g *Gate) DropBlindly(k string, done chan *int) {
	if g.has(k) {
		done <- g.drop(k) // want `is removed`
	}
}

// Text is guarded by its own lock.
type Text struct {
	mu   sync.Mutex
	data []byte
}

func (t *Text) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.data)
}

func (t *Text) Cut(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = t.data[:n]
}

func (t *Text) First(n int) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.data[:n]...)
}

// Append holds the lock of t, which guards nothing of o.
func (t *Text) Append(o *Text) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := o.Len()
	t.data = append(t.data, o.First(n)...) // want `test and use of Text.data are not one step`
}

// Sink has a lock of its own.
type Sink struct {
	mu  sync.Mutex
	out []byte
}

func (s *Sink) Take(o *Text) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := o.Len()
	s.out = append(s.out, o.First(n)...) // want `test and use of Text.data are not one step`
}

// Owner is the only one that cuts its text, under its lock.
type Owner struct {
	mu   sync.Mutex
	text part
}

type part struct {
	mu   sync.Mutex
	data []byte
}

func (p *part) length() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.data)
}

func (p *part) cut(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.data = p.data[:n]
}

func (p *part) first(n int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]byte(nil), p.data[:n]...)
}

func (o *Owner) All() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.first(o.text.length()) // ok: who cuts it holds o.mu as well
}

func (o *Owner) Cut(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.cut(n)
}

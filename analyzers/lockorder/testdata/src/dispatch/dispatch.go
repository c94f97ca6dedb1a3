// Package dispatch takes locks through interfaces.
package dispatch

import "sync"

// Backing is what an index is over.
type Backing interface{ Touch(key string) }

type Index struct {
	mu   sync.Mutex
	keys map[string]int
	back Backing
}

func NewIndex(b Backing) *Index { return &Index{keys: map[string]int{}, back: b} }

func (x *Index) Add(key string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.keys[key]++
}

func (x *Index) Refresh() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.touchAll() // want `Index.mu and Store.mu are locked in both orders`
}

func (x *Index) touchAll() {
	for k := range x.keys {
		x.back.Touch(k)
	}
}

// Store is the backing of its index.
type Store struct {
	mu  sync.RWMutex
	val map[string]int
	idx *Index
}

func NewStore() *Store {
	s := &Store{val: map[string]int{}}
	s.idx = NewIndex(s)
	return s
}

func (s *Store) Put(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idx.Add(key) // the other order
}

func (s *Store) Touch(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.val[key]++
}

// Other has the method, but is the backing of nothing.
type Other struct {
	mu  sync.Mutex
	idx *Index
}

func (o *Other) Put(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.idx.Add(key) // ok
}

func (o *Other) Touch(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
}

// Listener receives events.
type Listener interface{ Event(int) }

type Hub struct {
	mu   sync.Mutex
	list []Listener
	byID map[int]Listener
}

func (h *Hub) Add(l Listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, l)
}

func (h *Hub) Put(id int, l Listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.byID[id] = l
}

func (h *Hub) Send(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.list {
		l.Event(n) // want `Hub.mu and View.mu are locked in both orders`
	}
}

func (h *Hub) SendRight(n int) {
	h.mu.Lock()
	list := h.list
	h.mu.Unlock()
	for _, l := range list {
		l.Event(n) // ok
	}
}

func (h *Hub) SendTo(id, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.byID[id].Event(n) // want `Hub.mu and Pane.mu are locked in both orders`
}

type View struct {
	mu  sync.Mutex
	hub *Hub
}

func (v *View) Event(int) {
	v.mu.Lock()
	defer v.mu.Unlock()
}

func (v *View) Open() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hub.Add(v)
}

type Pane struct {
	mu  sync.Mutex
	hub *Hub
}

func (p *Pane) Event(int) {
	p.mu.Lock()
	defer p.mu.Unlock()
}

func (p *Pane) Open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hub.Put(1, p)
}

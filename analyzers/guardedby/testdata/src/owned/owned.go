// Package owned: what only this goroutine can reach needs no lock.
package owned

import "sync"

type Node struct {
	mu   sync.Mutex
	val  int
	next *Node
}

func (n *Node) Set(v int) {
	n.mu.Lock()
	n.val = v
	n.mu.Unlock()
}

func (n *Node) Add(v int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.val += v
}

func (n *Node) Inc() {
	n.mu.Lock()
	n.val++
	n.val *= 2
	n.mu.Unlock()
}

func NewNode(v int) *Node {
	n := &Node{}
	n.val = v // ok
	n.fill()
	return n
}

// Only the constructor calls it, with a node that nobody has seen.
func (n *Node) fill() { n.val++ } // ok

func NewNamed() (n *Node, err error) {
	defer func() {
		if err != nil {
			n.val = 0 // ok
		}
	}()
	n = new(Node)
	n.val = 1 // ok
	return n, nil
}

func Two() int {
	n := NewNode(1)
	n.val = 2 // ok: the result of a constructor
	return n.val
}

func Start() *Node {
	n := &Node{}
	n.val = 1 // ok: not started yet
	go n.Set(2)
	n.val = 3 // want `Node.val is written without n.mu`
	return n
}

func Receive(c chan *Node) {
	n := <-c
	n.val = 7 // ok: a received object is ours by custom
	select {
	case n := <-c:
		adjust(n)
	default:
	}
}

func adjust(n *Node) { n.val-- } // ok: so it is here

var last *Node

func Publish() {
	n := &Node{}
	last = n
	n.val = 9 // ok: a lead, nothing shows who reads the variable yet
}

// A map that was swapped out under the lock is ours.
type Set struct {
	mu   sync.Mutex
	subs map[string]chan bool
}

func (s *Set) Sub(k string, c chan bool) {
	s.mu.Lock()
	s.subs[k] = c
	s.mu.Unlock()
}

func (s *Set) Unsub(k string) {
	s.mu.Lock()
	delete(s.subs, k)
	s.mu.Unlock()
}

func (s *Set) Fire() {
	s.mu.Lock()
	subs := s.subs
	s.subs = map[string]chan bool{}
	s.mu.Unlock()
	for _, c := range subs { // ok
		c <- true
	}
}

// A goroutine that never touches the field shares the object in vain.
type Stream struct {
	mu   sync.Mutex
	tr   int
	sigs int
}

func (s *Stream) Update() {
	s.mu.Lock()
	s.tr++
	s.tr *= 2
	s.mu.Unlock()
}

func (s *Stream) signals() {
	s.mu.Lock()
	s.sigs++
	s.sigs *= 2
	s.mu.Unlock()
}

func Open() *Stream {
	s := &Stream{}
	go s.signals()
	s.tr = 1   // ok
	s.sigs = 1 // want `Stream.sigs is written without s.mu`
	return s
}

// Store starts a goroutine on itself before it is complete.
type Store struct {
	mu   sync.Mutex
	imm  []int
	stop chan bool
}

func OpenStore() *Store {
	s := &Store{stop: make(chan bool)}
	go s.loop()
	s.load()
	return s
}

func (s *Store) loop() { <-s.stop }

// load is a helper of OpenStore, and nobody else's.
func (s *Store) load() { s.imm = append(s.imm, 1) } // ok

func (s *Store) Add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.imm = append(s.imm, n)
}

func (s *Store) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.imm = nil
}

// A constructor that makes its object known to what it calls hands it on to
// its own caller; one that starts a goroutine on it shares it.
type Group struct {
	mu  sync.Mutex
	jwt string
	tag string
	id  int
}

var groups = make(chan *Group, 1)

func announce(g *Group) { groups <- g }

func newGroup() *Group {
	g := &Group{}
	announce(g)
	return g
}

func runGroup() *Group {
	g := &Group{}
	go g.loop()
	return g
}

func (g *Group) loop() {
	g.mu.Lock()
	g.id++
	g.mu.Unlock()
}

func Register(jwt string) {
	g := newGroup()
	g.jwt = jwt // ok
	h := runGroup()
	h.id = 1 // want `Group.id is written without g.mu`
}

func (g *Group) Set(jwt string) {
	g.mu.Lock()
	g.jwt = jwt
	g.id++
	g.tag = jwt
	g.mu.Unlock()
}

func (g *Group) JWT() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.jwt + g.tag + g.tag
}

func Announced() *Group {
	g := &Group{}
	announce(g)
	g.jwt = "new" // ok: only what was called knows of it
	groups <- g
	g.tag = "" // ok: a lead, who receives it may not call Set yet
	return g
}

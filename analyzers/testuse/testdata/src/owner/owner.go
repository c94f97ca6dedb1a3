// Package owner has state that one goroutine alone changes.
package owner

import "sync"

type loop struct {
	mu    sync.Mutex
	peers map[string]*int
	in    chan string
}

// Start starts the only goroutine that changes peers; others only read them.
func Start() func(string) *int {
	l := &loop{peers: map[string]*int{}, in: make(chan string)}
	go l.run()
	return func(k string) *int {
		l.in <- k
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.peers[k]
	}
}

func (l *loop) run() {
	for k := range l.in {
		l.mu.Lock()
		_, ok := l.peers[k]
		l.mu.Unlock()
		if !ok {
			l.mu.Lock()
			l.peers[k] = new(int) // ok: nobody else writes
			l.mu.Unlock()
		}
	}
}

// server is run by one goroutine, beside others that ask for its term.
type server struct {
	mu   sync.Mutex
	term int
	in   chan int
}

func (s *server) get() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.term
}

func (s *server) set(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term = n
}

func (s *server) more(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term += n
}

// Serve sets the first term before anyone else knows of the server.
func Serve(in chan int) func() int {
	s := &server{in: in}
	s.set(1)
	s.more(1)
	go s.loop()
	return func() int { return s.get() }
}

func (s *server) loop() {
	for n := range s.in {
		if s.get() < n {
			s.more(n) // ok: nobody else changes it
		}
	}
}

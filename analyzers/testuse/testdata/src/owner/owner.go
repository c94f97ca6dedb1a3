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

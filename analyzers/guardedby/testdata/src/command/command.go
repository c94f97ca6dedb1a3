// Command command: nobody imports a command, so its exported functions have
// only the callers that one sees.
package main

import "sync"

type server struct {
	mu    sync.Mutex
	conns int
}

func (s *server) Handle() {
	s.mu.Lock()
	s.conns++
	s.Note()
	s.mu.Unlock()
}

func (s *server) Note() { s.conns += 0 } // ok: called under the lock

func (s *server) Drop() {
	s.mu.Lock()
	s.conns--
	s.mu.Unlock()
}

func (s *server) watch() {
	for s.conns > 0 { // want `server.conns is read without s.mu`
	}
}

func main() {
	s := new(server)
	s.conns = 1 // ok: not started yet
	go s.watch()
	go s.Handle()
	s.Drop()
}

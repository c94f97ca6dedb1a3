// Package closed: what comes before the closing of a channel comes before
// what follows on it.
package closed

import "sync"

type Session struct {
	mu   sync.Mutex
	err  error
	why  string
	done chan struct{}
	work chan int
}

func (s *Session) Close(err error) {
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
	close(s.done)
	s.mu.Lock()
	s.why = "closed"
	s.mu.Unlock()
}

func (s *Session) Err() (error, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	println(s.err, s.err, s.err, s.err, s.err, s.err, s.why)
	return s.err, s.why
}

func (s *Session) Accept() (int, error) {
	select {
	case n := <-s.work:
		return n, s.err // want `Session.err is read without s.mu`
	case <-s.done:
		println(s.why)  // want `Session.why is read without s.mu`
		return 0, s.err // ok
	}
}

func (s *Session) Wait() error {
	<-s.done
	return s.err // ok
}

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

// The end of one function is what another waits for.
type Link struct {
	mu    sync.Mutex
	lost  bool
	tries int
	ended chan struct{}
	feed  chan int
}

func (l *Link) Lose() func() {
	l.mu.Lock()
	l.lost = true
	l.tries++
	l.mu.Unlock()
	return func() { close(l.ended) }
}

func (l *Link) Again() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = !l.lost
	l.tries++
}

func (l *Link) Disconnect() bool {
	l.mu.Lock()
	ended := l.ended
	l.mu.Unlock()
	<-ended
	return l.lost // ok: waited for
}

func (l *Link) Next() int {
	<-l.feed
	return l.tries // want `Link.tries is read without l.mu`
}

// A function waits for its workers.
type server struct {
	mu   sync.Mutex
	open map[int]bool
	all  int
}

func (s *server) Serve() {
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s.handle(i)
		}()
	}
	println(s.all) // want `server.all is read without s.mu`
	wg.Wait()
	println(s.all) // ok: all have ended
}

func (s *server) handle(i int) {
	s.mu.Lock()
	s.open[i] = true
	s.all++
	s.mu.Unlock()
	s.mu.Lock()
	s.all--
	s.all += len(s.open)
	s.all *= 2
	s.mu.Unlock()
}

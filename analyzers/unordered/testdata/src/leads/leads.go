// Package leads starts no goroutine: only its types show that goroutines share their objects.
package leads

import "sync"

// Stream has a lock, though not for its deadline.
type Stream struct {
	mu       sync.Mutex
	buf      []byte
	deadline int
	name     string
	peer     string
}

// New makes a stream.
func New(name string) *Stream { return &Stream{name: name} }

func (s *Stream) SetDeadline(d int) { s.deadline = d }

func (s *Stream) Read() int {
	s.mu.Lock()
	s.buf = s.buf[1:]
	s.mu.Unlock()
	return s.wait()
}

func (s *Stream) wait() int { return s.deadline } // a lead: beside SetDeadline

// Name reads what only the maker writes.
func (s *Stream) Name() string { return s.name } // ok

// Start sets up, by its name.
func (s *Stream) Start() { s.peer = "peer" }

func (s *Stream) Peer() string { return s.peer } // ok

// Locked takes the lock on both sides.
type Locked struct {
	mu sync.Mutex
	n  int
}

func (l *Locked) Set(n int) { l.mu.Lock(); l.n = n; l.mu.Unlock() }
func (l *Locked) Get() int  { l.mu.Lock(); defer l.mu.Unlock(); return l.n } // ok

// Plain has nothing that goroutines share objects by.
type Plain struct {
	noCopy noCopy
	n      int
}

// noCopy keeps go vet from letting copies pass.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

func (p *Plain) Set(n int) { p.n = n }
func (p *Plain) Get() int  { return p.n } // ok

var limit = 10

// SetLimit may be called at any time.
func SetLimit(n int) { limit = n }

func Limit() int { return limit } // a lead: beside SetLimit

// Bar has its settings in a struct of their own.
type Bar struct {
	mu     sync.Mutex
	config struct{ max int }
}

func (b *Bar) ChangeMax(n int) { b.config.max = n }

func (b *Bar) Max() int { return b.config.max } // a lead: beside ChangeMax

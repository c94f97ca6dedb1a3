package features

import "sync"

type part struct {
	mu sync.Mutex
	n  int
}

type striped struct {
	parts  []part
	ptrs   []*part
	named  map[string]*part
	fixed  [4]sync.Mutex
	closed bool
	n      int
}

// Each round takes the lock of another element, and the loop ends behind the last one.
func (s *striped) lockAll() {
	for i := range s.parts {
		s.parts[i].mu.Lock()
	}
	s.n++ // = s.parts[*].mu
}

func (s *striped) unlockAll() {
	for i := range s.parts {
		s.parts[i].mu.Unlock()
	}
	s.n++ // = none
}

func (s *striped) Helpers() {
	s.lockAll()
	defer s.unlockAll()
	s.n++ // = s.parts[*].mu
	s.parts[1].add()
}

func (s *striped) Around() {
	s.lockAll()
	s.n++ // = s.parts[*].mu
	s.unlockAll()
	s.n++ // = none
}

// All callers hold the lock of each element.
func (p *part) add() {
	p.n++ // = p.mu, perhaps more
}

func (s *striped) Pointers() {
	for _, p := range s.ptrs {
		p.mu.Lock()
	}
	s.n++ // = s.ptrs[*].mu
	for _, p := range s.ptrs {
		p.n++ // = maybe part.mu
		p.mu.Unlock()
	}
	s.n++ // = none
}

func (s *striped) Map() {
	for _, p := range s.named {
		p.mu.Lock()
		defer p.mu.Unlock()
	}
	s.n++ // = s.named[*].mu
}

func (s *striped) Counted() {
	for i := 0; i < len(s.fixed); i++ {
		s.fixed[i].Lock()
	}
	s.n++ // = s.fixed[*]
	for i := range s.fixed {
		s.fixed[i].Unlock()
	}
	s.n++ // = none
}

// Some elements are left out: their locks may be held.
func (s *striped) Some() {
	for _, p := range s.ptrs {
		if p.n > 0 {
			p.mu.Lock()
		}
	}
	s.n++ // = maybe part.mu
}

func (s *striped) ButTheFirst() {
	for i := 1; i < len(s.parts); i++ {
		s.parts[i].mu.Lock()
	}
	s.n++ // = maybe part.mu
}

func (s *striped) Stops() {
	for _, p := range s.ptrs {
		if s.closed {
			break
		}
		p.mu.Lock()
	}
	s.n++ // = maybe part.mu
}

// Each round ends without a lock.
func (s *striped) Rounds() {
	for _, p := range s.ptrs {
		p.mu.Lock()
		p.n++ // = s.ptrs[…].mu
		p.mu.Unlock()
	}
	s.n++ // = none
}

// A function of another list releases none of these.
func (s *striped) OneReleased() {
	s.lockAll()
	s.parts[0].mu.Unlock()
	s.n++ // = maybe part.mu
	s.parts[0].mu.Lock()
	s.unlockAll()
}

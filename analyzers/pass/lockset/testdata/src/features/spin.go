package features

import "sync/atomic"

type spin struct {
	busy atomic.Int32
	n    int
}

func (s *spin) lock() {
	for !s.busy.CompareAndSwap(0, 1) {
	}
}

func (s *spin) unlock() { s.busy.Store(0) }

func (s *spin) add() {
	s.lock()
	s.n++ // = s, perhaps more
	s.unlock()
	s.n++ // = perhaps more
}

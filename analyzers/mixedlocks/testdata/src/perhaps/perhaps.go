// Package perhaps: a lock that one side holds and the other may hold.
package perhaps

import "sync"

type Block struct {
	mu   sync.Mutex
	msgs int
	size int
}

type Store struct {
	mu   sync.Mutex
	last *Block
}

func (s *Store) Skip() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.msgs == 0 || s.last.size == 0 // want `Block.size is read under s.mu, but b.mu guards it`
}

func (s *Store) Remove(b *Block, lock bool) {
	if lock {
		s.mu.Lock()
	}
	b.mu.Lock()
	b.msgs-- // ok: perhaps under s.mu, as Skip
	b.msgs--
	b.mu.Unlock()
	if lock {
		s.mu.Unlock()
	}
}

func (b *Block) Msgs() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.msgs + b.size
}

func (b *Block) Grow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.size++
}

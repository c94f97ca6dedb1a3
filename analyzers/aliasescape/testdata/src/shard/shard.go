package shard

import (
	"queue"
	"sync"
)

type Shard struct {
	lock    sync.RWMutex
	entries queue.Queue
}

func (s *Shard) Set(b []byte) { // want Set:"changes Queue.array"
	s.lock.Lock()
	s.entries.Push(b)
	s.lock.Unlock()
}

func (s *Shard) Get(i int) []byte {
	s.lock.RLock()
	entry, err := s.entries.Get(i)
	if err != nil {
		s.lock.RUnlock()
		return nil
	}
	s.lock.RUnlock()
	return decode(entry) // want `alias of Queue.array is used after s.lock: .* \(\*Shard\).Set`
}

func (s *Shard) Right(i int) []byte {
	s.lock.RLock()
	defer s.lock.RUnlock()
	entry, err := s.entries.Get(i)
	if err != nil {
		return nil
	}
	return decode(entry) // ok
}

func decode(b []byte) []byte { return append([]byte(nil), b...) }

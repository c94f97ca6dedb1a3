package leads

import "sync"

// Store is known by its name before its maker has filled it. All others come to drop with the mutex.
type Store struct {
	mu          sync.Mutex
	first, last int
	files       *files
}

// files are what all stores have open.
type files struct {
	mu   sync.Mutex
	open int
}

func (f *files) add() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open++
}

var stores = map[string]*Store{}

func Open(name string, size int, f *files) *Store {
	s := &Store{last: size, files: f}
	stores[name] = s
	if size > 3 {
		s.drop()
	}
	go s.watch()
	return s
}

func (s *Store) watch() {
	for s.Size() > 0 {
		s.Add()
	}
}

func (s *Store) Add() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.drop()
}

func (s *Store) Size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last - s.first
}

func (s *Store) drop() {
	s.files.add()
	s.first++ // a lead
}

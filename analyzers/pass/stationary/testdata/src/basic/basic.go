package basic

import (
	"encoding/json"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"
)

type Server struct {
	stillMu    sync.Mutex // nobody locks it
	stillName  string
	stillLimit int
	count      int
	hits       int64
	Exported   int
	taken      int
	inner      inner
	table      [4]int
	stillArray [4]int
}

type inner struct {
	stillA int
	moved  int
}

func New(name string) *Server {
	s := &Server{stillName: name}
	s.fill()
	if s.stillLimit == 0 {
		s.stillLimit = 7
	}
	s.inner.stillA = 1
	s.stillArray[1] = 2
	go s.serve()
	s.count = 1 // after it was shared
	return s
}

// fill is only called while the server is fresh.
func (s *Server) fill() { s.stillLimit = len(s.stillName) }

func (s *Server) serve() {
	s.inner.moved++
	atomic.AddInt64(&s.hits, int64(s.stillLimit+s.stillArray[0]))
	s.table[1]++
	touch(&s.taken)
}

func touch(p *int) { *p++ }

// Open may be copied over by other packages.
type Open struct{ value int }

// whole is copied over in this one.
type whole struct{ value int }

func (s *Server) swap(a, b *whole) { *a = *b }

// item is sorted by value.
type item struct{ key int }

func order(items []item) {
	sort.Slice(items, func(i, j int) bool { return items[i].key < items[j].key })
}

// row is decoded.
type row struct{ cell int }

func (r *row) read(b []byte) error { return json.Unmarshal(b, r) }

// raw is known to unsafe code.
type raw struct{ word int }

func word(r *raw) unsafe.Pointer { return unsafe.Pointer(r) }

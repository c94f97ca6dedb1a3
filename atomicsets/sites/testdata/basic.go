package p

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

type inner struct{ g int }

type T struct {
	mu    sync.Mutex
	n     int
	in    inner
	next  *T
	m     map[string]int
	arr   [4]int
	s     []int
	at    atomic.Int64
	empty struct{}
	anon  struct{ a int }
	fn    func(int) int
	inner
}

var G T
var N int
var Anon struct{ k int }

func use(...any) {}

func f(p *T, q *int, v T) {
	p.n = 1 // want write p.n field:T.n
	use(v.n)
}

func fields(p *T, v T) {
	p.n++          // want write p.n field:T.n in fields
	_ = p.in.g     // want read p.in.g field:inner.g in fields
	_ = p.g        // want read p.g field:inner.g in fields
	_ = p.next.n   // want read p.next field:T.next in fields; read p.next.n field:T.n in fields
	_ = v.n        // a plain local
	_ = v.next.n   // want read v.next.n field:T.n in fields
	_ = &p.n       // only the address
	p.mu.Lock()    // the receiver's address
	p.at.Add(1)    // want atomic-write p.at field:T.at in fields
	_ = p.empty    // no memory
	_ = p.arr[1]   // want read p.arr[1] element:T.arr[] in fields
	_ = p.arr[:]   // array under a slice expression
	_ = p.s[p.n]   // want read p.s field:T.s in fields; read p.s[p.n] element:T.s[] in fields; read p.n field:T.n in fields
	_ = len(p.arr) // constant
	_ = len(p.s)   // want read p.s field:T.s in fields
	_ = unsafe.Sizeof(p.n)
	_ = p.anon.a       // want read p.anon.a field:T.anon.a in fields
	p.fn(p.n)          // want read p.fn field:T.fn in fields; read p.n field:T.n in fields
	p.next.next.n += 2 // want read p.next field:T.next in fields; read p.next.next field:T.next in fields; write p.next.next.n field:T.n in fields
	_ = T{n: p.n}      // want read p.n field:T.n in fields
	for range p.arr {
	}
	for _, x := range p.arr { // want read p.arr field:T.arr in fields
		_ = x
	}
}

func globals() {
	N = 1       // want write N global:N in globals
	G.n = N     // want write G.n field:T.n in globals; read N global:N in globals
	Anon.k++    // want write Anon.k global:Anon.k in globals
	_ = &N      //
	G.mu.Lock() //
	_ = G.s[2]  // want read G.s field:T.s in globals; read G.s[2] element:T.s[] in globals
}

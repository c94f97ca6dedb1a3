// Package gates: what keeps two orders apart.
package gates

import "sync"

type A struct{ mu sync.Mutex }
type B struct{ mu sync.Mutex }

var gate sync.Mutex

func AB(a *A, b *B) { // ok: under the gate
	gate.Lock()
	defer gate.Unlock()
	a.mu.Lock()
	b.mu.Lock()
	b.mu.Unlock()
	a.mu.Unlock()
}

func BA(a *A, b *B) { // ok: under the gate, which the caller holds
	gate.Lock()
	defer gate.Unlock()
	ba(a, b)
}

func ba(a *A, b *B) {
	b.mu.Lock()
	a.mu.Lock()
	a.mu.Unlock()
	b.mu.Unlock()
}

type C struct{ mu sync.Mutex }
type D struct{ mu sync.Mutex }

func Run(c *C, d *D) { // ok: one goroutine does both
	go func() {
		c.mu.Lock()
		d.mu.Lock()
		d.mu.Unlock()
		c.mu.Unlock()
		d.mu.Lock()
		c.mu.Lock()
		c.mu.Unlock()
		d.mu.Unlock()
	}()
}

type E struct{ mu sync.Mutex }
type F struct{ mu sync.Mutex }

var readGate sync.RWMutex

func EF(e *E, f *F) {
	readGate.RLock()
	defer readGate.RUnlock()
	e.mu.Lock()
	f.mu.Lock() // want `E.mu and F.mu are locked in both orders`
	f.mu.Unlock()
	e.mu.Unlock()
}

func FE(e *E, f *F) {
	readGate.RLock()
	defer readGate.RUnlock()
	f.mu.Lock()
	e.mu.Lock()
	e.mu.Unlock()
	f.mu.Unlock()
}

func init() {
	var a A
	var b B
	b.mu.Lock() // ok: nobody else runs
	a.mu.Lock()
	a.mu.Unlock()
	b.mu.Unlock()
}

type G struct{ mu sync.Mutex }
type H struct{ mu sync.Mutex }

func GH(g *G, h *H) {
	g.mu.Lock()
	//interlock:ignore IL3001 never at the same time
	h.mu.Lock()
	h.mu.Unlock()
	g.mu.Unlock()
}

func HG(g *G, h *H) {
	h.mu.Lock()
	g.mu.Lock()
	g.mu.Unlock()
	h.mu.Unlock()
}

type I struct {
	mu   sync.Mutex
	turn chan struct{}
}
type J struct{ mu sync.Mutex }

func NewI() *I { return &I{turn: make(chan struct{}, 1)} }

func IJ(i *I, j *J) { // ok: a channel with room for one message lets one goroutine in at a time
	i.turn <- struct{}{}
	defer func() { <-i.turn }()
	i.mu.Lock()
	j.mu.Lock()
	j.mu.Unlock()
	i.mu.Unlock()
}

func JI(i *I, j *J) {
	i.turn <- struct{}{}
	j.mu.Lock()
	i.mu.Lock()
	i.mu.Unlock()
	j.mu.Unlock()
	<-i.turn
}

type K struct {
	mu    sync.Mutex
	turns chan struct{}
}
type L struct{ mu sync.Mutex }

func NewK() *K { return &K{turns: make(chan struct{}, 2)} }

func KL(k *K, l *L) {
	k.turns <- struct{}{}
	defer func() { <-k.turns }()
	k.mu.Lock()
	l.mu.Lock() // want `K.mu and L.mu are locked in both orders`
	l.mu.Unlock()
	k.mu.Unlock()
}

func LK(k *K, l *L) {
	k.turns <- struct{}{}
	l.mu.Lock()
	k.mu.Lock()
	k.mu.Unlock()
	l.mu.Unlock()
	<-k.turns
}

// Package features has a function for each way to take a lock under another.
// The comments list the orders that a line makes.
package features

import (
	"slices"
	"sync"
)

type A struct {
	mu sync.Mutex
	rw sync.RWMutex
	b  *B
}

type B struct {
	mu sync.Mutex
	n  int
}

var global sync.Mutex

func Direct(a *A, b *B) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b.mu.Lock() // = A.mu -> B.mu
	b.mu.Unlock()
}

func Released(a *A, b *B) {
	a.mu.Lock()
	a.mu.Unlock()
	b.mu.Lock() // = none
	b.mu.Unlock()
}

func (b *B) Add() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
}

func ByCall(a *A) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.b.Add() // = A.mu -> B.mu
}

func ByDefer(a *A) {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer a.b.Add() // = A.mu -> B.mu
}

func ByGoroutine(a *A) {
	a.mu.Lock()
	defer a.mu.Unlock()
	go a.b.Add() // = none
}

func ByClosure(a *A) {
	a.mu.Lock()
	defer a.mu.Unlock()
	func() {
		a.b.Add()
	}() // = A.mu -> B.mu
}

func ByCallback(a *A, list []*B) {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.ContainsFunc(list, func(b *B) bool { // = A.mu -> B.mu
		b.Add()
		return false
	})
}

func ByMethodValue(a *A) {
	a.mu.Lock()
	defer a.mu.Unlock()
	add := a.b.Add
	add() // = A.mu -> B.mu
}

// Which lock an interface hides, package crosspkg joins.
func ByInterface(a *A, l sync.Locker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l.Lock() // = none
	l.Unlock()
}

// TryLock does not wait.
func Try(a *A, b *B) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.mu.TryLock() { // = none
		b.mu.Unlock()
	}
}

func Readers(a *A, b *B) {
	a.rw.RLock()
	defer a.rw.RUnlock()
	b.mu.Lock() // = A.rw -> B.mu (read)
	b.mu.Unlock()
}

func ToReader(a *A) {
	global.Lock()
	defer global.Unlock()
	a.rw.RLock() // = global -> A.rw (read)
	a.rw.RUnlock()
}

func Gated(a *A, b *B) {
	global.Lock()
	defer global.Unlock()
	a.mu.Lock() // = global -> A.mu
	b.mu.Lock() // = A.mu -> B.mu under global, global -> B.mu under A.mu
	b.mu.Unlock()
	a.mu.Unlock()
}

func Peers(a, b *B) {
	a.mu.Lock()
	b.mu.Lock() // = B.mu -> B.mu
	b.mu.Unlock()
	a.mu.Unlock()
}

type Box[V any] struct {
	mu sync.Mutex
	v  V
}

func Generic[V any](x *Box[V], b *B) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b.Add() // = Box.mu -> B.mu
}

type Embeds struct {
	sync.Mutex
	B
}

func Embedded(e *Embeds) {
	e.Lock()
	defer e.Unlock()
	e.Add() // = Embeds.Mutex -> B.mu
}

// A lock that is held on one way only makes no order.
func Branch(a *A, b *B, yes bool) {
	if yes {
		a.mu.Lock()
	}
	b.mu.Lock() // = none
	b.mu.Unlock()
	if yes {
		a.mu.Unlock()
	}
}

// Package features has a function for each language feature that bears on who
// can reach an object. The comments say of the object that a line writes to how
// far it is known by then.
package features

import (
	"sync"
	"sync/atomic"
)

type T struct {
	n    int
	next *T
	list []*T
}

var (
	registry = map[string]*T{}
	last     *T
	ch       = make(chan *T)
	current  atomic.Pointer[T]
)

func Literal() {
	t := &T{}
	t.n = 1 // = fresh, made here
	last = t
	t.n = 2 // = shared, made here
}

func New() *T {
	t := new(T)
	t.n = 1 // = fresh, made here
	return t
}

func FromConstructor() {
	t := New()
	t.n = 1 // = fresh, made here
	registry[""] = t
	t.n = 2 // = handed, made here
}

func Parameter(t *T) {
	t.n = 1 // = shared
}

func (t *T) Receiver() {
	t.n = 1 // = shared
}

func Global() {
	last.n = 1 // = shared
}

func Value(t T) T {
	t.n = 1 // = fresh
	return t
}

func Channel() {
	t := &T{}
	t.n = 1 // = fresh, made here
	ch <- t
	t.n = 2 // = shared, made here
}

func Received() {
	t := <-ch
	t.n = 1 // = handed
}

func Selected(done chan bool) {
	t := &T{}
	select {
	case ch <- t:
		t.n = 1 // = shared, made here
	case <-done:
		t.n = 2 // = shared, made here
	}
}

func Atomic() {
	t := &T{}
	t.n = 1 // = fresh, made here
	current.Store(t)
	t.n = 2              // = handed, made here
	current.Load().n = 3 // = shared
}

func Goroutine() {
	t := &T{}
	t.n = 1 // = fresh, made here
	go t.Receiver()
	t.n = 2 // = shared, made here
}

func Captured() {
	t := &T{}
	t.n = 1 // = fresh, made here
	go func() {
		t.n = 2 // = shared
	}()
	t.n = 3 // = shared, made here
}

func Joined() {
	t := &T{}
	var wg sync.WaitGroup
	wg.Go(func() {
		t.n = 1 // = shared
	})
	wg.Wait()
	t.n = 2 // = shared, made here
}

func CalledClosure() {
	t := &T{}
	set := func() {
		t.n = 1 // = fresh
	}
	set()
	t.n = 2 // = fresh, made here
}

func Deferred() {
	t := &T{}
	defer func() {
		t.n = 1 // = shared
	}()
	last = t
}

// An object in another one is reached as far as that is.
func Linked() {
	t, u := &T{}, &T{}
	t.next = u
	u.n = 1 // = fresh, made here
	last = t
	u.n = 2      // = shared, made here
	t.next.n = 3 // = shared
}

func Listed() {
	t := &T{}
	list := []*T{t}
	t.n = 1 // = fresh, made here
	last.list = list
	t.n = 2 // = handed, made here
}

func Mapped() {
	m := map[string]*T{}
	t := &T{}
	m["a"] = t
	t.n = 1 // = fresh, made here
	registry = m
	t.n = 2 // = shared, made here
}

func Branch(yes bool) {
	t := &T{}
	if yes {
		last = t
	}
	t.n = 1 // = shared, made here
}

func Either(yes bool) {
	t := &T{}
	if yes {
		t = last
	}
	t.n = 1 // = shared
}

func Loop() {
	for range 3 {
		t := &T{}
		t.n = 1 // = fresh, made here
		last = t
	}
}

func Replaced() {
	t := &T{}
	last = t
	t = &T{}
	t.n = 1 // = fresh, made here
}

func Interface() {
	var v any = &T{}
	v.(*T).n = 1 // = fresh
	keep(v)
	v.(*T).n = 2 // = shared
}

func keep(v any) { kept = v }

var kept any

func MethodValue() {
	t := &T{}
	f := t.Receiver
	t.n = 1 // = fresh, made here
	go f()
	t.n = 2 // = shared, made here
}

func Generic[V any](v V) *Box[V] {
	b := &Box[V]{}
	b.v = v // = fresh, made here
	return b
}

type Box[V any] struct{ v V }

func UsesGeneric() {
	b := Generic(1)
	b.v = 2 // = fresh, made here
	boxes <- b
	b.v = 3 // = shared, made here
}

var boxes chan *Box[int]

type Embeds struct {
	T
	*Box[int]
}

func Embedded() {
	e := &Embeds{Box: &Box[int]{}}
	e.n = 1 // = fresh, made here
	e.v = 2 // = handed
	last = &e.T
	e.n = 3 // = shared, made here
}

func NamedResult() (t *T, err error) {
	t = &T{}
	defer func() {
		if err != nil {
			t.n = 1 // = fresh
		}
	}()
	t.n = 2 // = fresh, made here
	return t, nil
}

func Recover() {
	t := &T{}
	defer func() {
		recover()
		t.n = 1 // = handed
	}()
	panic(t)
}

// hand passes on what it is given.
func hand(t *T) { other(t) }

var other = func(*T) {}

func Handed() {
	t := &T{}
	hand(t)
	t.n = 1 // = handed, made here
}

// onlyMakers is called with new objects only.
func onlyMakers(t *T) {
	t.n = 1 // = fresh, made by all callers
}

func Maker() {
	t := &T{}
	onlyMakers(t)
	last = t
}

// Option is called by Configured alone, with what that has made.
type Option func(*T)

func WithN(n int) Option {
	return func(t *T) {
		t.n = n // = handed
	}
}

func WithOne(t *T) {
	t.n = 1 // = handed
}

func Configured(options ...Option) *T {
	t := &T{}
	for _, o := range options {
		o(t)
	}
	return t
}

// Visitor is called with what others know, too.
type Visitor func(*Box[int])

func Zero() Visitor {
	return func(b *Box[int]) {
		b.v = 0 // = shared
	}
}

func Visited(v Visitor, b *Box[int]) {
	v(&Box[int]{})
	v(b)
}

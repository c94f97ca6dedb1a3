// Package features has a function for each way to access a variable. The
// comments list the accesses of a line, those that are implied in brackets.
package features

import (
	"iter"
	"sync"
	"sync/atomic"
)

type T struct {
	n     int
	s     string
	next  *T
	part  Part
	list  []int
	array [3]int
	byKey map[string]int
	count atomic.Int64
	raw   int64
	f     func()
}

type Part struct{ a, b int }

var (
	global int
	t      T
)

func Reads(t *T) int {
	return t.n // = read T.n
}

func Writes(t *T) {
	t.n = 1  // = write T.n
	t.n++    // = write T.n (update)
	t.n += 2 // = write T.n (update)
	global-- // = write global (update)
}

func Chains(t *T) {
	t.next.n = t.next.next.n // = read T.next, read T.next, read T.next, read T.n, write T.n
}

func Swaps(t, u *T) {
	t.n, u.n = u.n, t.n // = read T.n, read T.n, write T.n, write T.n
}

func Parts(t *T) {
	t.part.a = 1    // = write Part.a
	p := t.part     // = read T.part
	t.part = Part{} // = write T.part
	p.a = 2
	use(t.part.b) // = read Part.b
}

func use(int) {}

func Lists(t *T) {
	t.list[0] = 1              // = read T.list
	_ = t.list[1:]             // = read T.list
	t.list = append(t.list, 2) // = read T.list, write T.list
	_ = len(t.list)            // = read T.list
	t.array[1] = 3             // = none
	for _, v := range t.list { // = read T.list
		use(v)
	}
}

func Maps(t *T) {
	t.byKey["a"] = 1     // = write T.byKey as a map
	t.byKey["a"]++       // = write T.byKey as a map (update)
	_ = t.byKey["a"]     // = read T.byKey as a map
	_, _ = t.byKey["b"]  // = read T.byKey as a map
	delete(t.byKey, "a") // = write T.byKey as a map
	clear(t.byKey)       // = write T.byKey as a map
	for range t.byKey {  // = read T.byKey as a map
	}
	t.byKey = nil // = write T.byKey
}

func Atomics(t *T) {
	t.count.Add(1)                           // = atomic-write T.count
	_ = t.count.Load()                       // = atomic-read T.count
	t.count.Store(2)                         // = atomic-write T.count
	atomic.AddInt64(&t.raw, 1)               // = atomic-write T.raw
	_ = atomic.LoadInt64(&t.raw)             // = atomic-read T.raw
	atomic.CompareAndSwapInt64(&t.raw, 1, 2) // = atomic-write T.raw
	_ = t.raw                                // = read T.raw
}

func Pointers(t *T) {
	p := &t.n
	*p = 1 // = write T.n
	set(&t.n)
}

func set(p *int) {
	*p = 2 // = none
}

func Closures(t *T) {
	k := 0
	go func() {
		k++     // = none
		t.n = k // = write T.n
	}()
	func() {
		t.n = 2 // = write T.n
	}()
	defer func() {
		t.n = 3 // = write T.n
	}()
}

func Calls(t *T) {
	t.f() // = read T.f
	m := t.method
	m() // = none
}

func (t *T) method() {
	t.s = "" // = write T.s
}

type Embeds struct {
	T
	*Part
}

func Embedded(e *Embeds) {
	e.n = 1 // = write T.n
	e.a = 2 // = read Embeds.Part, write Part.a
}

type Box[V any] struct{ v V }

func (b *Box[V]) Set(v V) {
	b.v = v // = write Box.v
}

func Generics(b *Box[int]) {
	b.v = 1 // = write Box.v
}

func Results(t *T) (n int, err error) {
	n = t.n // = read T.n
	defer func() {
		n = t.n // = read T.n
	}()
	return t.n, nil // = read T.n
}

func Switches(t *T) {
	switch t.n { // = read T.n
	case 1:
	}
	switch {
	case t.n > 3 && t.s != "": // = read T.n, read T.s
	}
	if t.n > 1 { // = read T.n
		goto end
	}
end:
	use(t.n) // = read T.n
}

func Selects(t *T, ch chan int) {
	select {
	case ch <- t.n: // = read T.n
	case t.n = <-ch: // = write T.n
	}
}

func RangeFuncs(t *T, seq iter.Seq[int]) {
	for v := range seq {
		t.n += v // = write T.n (update)
	}
	for t.n = range seq { // = write T.n
	}
}

func Locks(t *T, mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
	t.n = 1 // = write T.n
}

// A map is private where the variable is, and all that is stored there.
func OwnMap() int {
	t := &T{byKey: map[string]int{}}
	t.byKey["a"] = 1 // = write T.byKey as a map privately
	u := T{}
	u.byKey = make(map[string]int)
	u.byKey["a"] = 1                // = write T.byKey as a map privately
	v := T{byKey: map[string]int{}} // the literal is copied, and what it holds is not followed
	v.byKey["a"] = 1                // = write T.byKey as a map
	return len(t.s) + len(u.s) + len(v.s)
}

func CopiedMap(t *T) {
	c := *t
	c.byKey["a"] = 1 // = write T.byKey as a map
}

func GivenMap(m map[string]int) int {
	t := &T{byKey: m}
	t.byKey["a"] = 1 // = write T.byKey as a map
	u := &T{byKey: map[string]int{}}
	u.byKey = m
	u.byKey["a"] = 1 // = write T.byKey as a map
	v := &T{byKey: map[string]int{}}
	v.take(m)
	v.byKey["a"] = 1 // = write T.byKey as a map
	return len(t.s) + len(u.s) + len(v.s)
}

func (t *T) take(m map[string]int) { t.byKey = m } // = write T.byKey privately

func (t T) Value() {
	p := &t.n // the parameter becomes a variable with an address
	*p = 1
	t.byKey["a"] = 1 // = write T.byKey as a map
}

func Fresh() *T {
	t := &T{n: 1} // = none
	t.n = 2       // = write T.n privately
	return t
}

func Constructs() {
	t.part = Part{a: 1} // = write T.part
	t.next = &T{n: 1}   // = write T.next
}

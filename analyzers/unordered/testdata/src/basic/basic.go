// Package basic has one kind of variable a function.
package basic

import (
	"bytes"
	"sync"
)

type T struct {
	n     int
	name  string
	inner struct{ hits int }
	list  [2]int
	stop  chan bool
}

// A field, by methods.
func (t *T) Start() {
	go t.run()
	t.n = 1
	t.name = "started" // ok: the goroutine does not read it
}

func (t *T) run() {
	for t.n < 3 { // want `T.n is accessed by two goroutines that nothing orders: the goroutine started at line 19 reads it, and .* writes it afterwards`
	}
}

// A part, and the struct around it.
func (t *T) Inner() {
	go func() {
		t.inner.hits++ // want `hits is accessed by two goroutines`
	}()
	println(t.inner.hits)
}

// Elements at constant indexes.
func (t *T) Elements() {
	go func() {
		t.list[0]++ // want `T.list is accessed by two goroutines`
	}()
	t.list[1]++ // ok: another one
	t.list[0]++
}

var global = map[string]int{}

// What a package variable holds.
func Map() {
	go func() {
		global["a"]++ // want `what global holds is accessed by two goroutines`
	}()
	println(len(global))
}

// What a pointer points to, made in the function.
func Pointer() int {
	p := &T{}
	go func() {
		p.n = 1      // ok: it is reported above
		p.name = "a" // want `T.name is accessed by two goroutines`
	}()
	return p.n + len(p.name)
}

// A container of the standard library.
func Buffer() {
	var b bytes.Buffer
	go b.WriteString("a") // ok: what a go statement itself calls is not followed into other packages
	go func() {
		b.WriteString("b") // want `what b holds is accessed by two goroutines`
	}()
	println(b.Len())
}

// Goroutines that a loop starts.
func Loop(t *T) {
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			t.stop = make(chan bool) // want `T.stop is accessed by two goroutines that nothing orders: .* and so do the others that the loop starts`
		}()
	}
	wg.Wait()
}

// Two goroutines, of which none waits for the other.
type Two struct{ a, b int }

func (t *Two) Both() {
	done := make(chan bool)
	go func() {
		t.a = 1 // want `Two.a is accessed by two goroutines that nothing orders: the goroutine started at line 94 writes it, and the one started at line 99 reads it`
		t.b = 1
		close(done)
	}()
	go func() {
		println(t.a)
		<-done
		println(t.b) // ok: after the close
	}()
}

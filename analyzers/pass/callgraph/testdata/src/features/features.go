// Package features has a function for each way to be called. The comment of a
// function says who runs it, that of a call what it leads to.
package features

import (
	"iter"
	"slices"
	"sync"
	"time"
)

type T struct {
	n int
	f func()
}

type doer interface{ do() }

func Exported() { // = any caller
	plain() // = calls plain
}

func plain() {} // = any caller, unknown

func unused() {} // = nobody

func init() { // = init
	setup()
}

func setup() {} // = init

func Starts() {
	go worker() // = starts worker
	for range 3 {
		go many()
	}
}

func worker() { // = goroutine of Starts
	inWorker()
}

func inWorker() {} // = goroutine of Starts

func many() {} // = goroutine of Starts in a loop

func Literals() {
	func() { // = any caller
		plain()
	}()
	go func() { // = goroutine of Literals
	}()
	f := func() { // = any caller
	}
	f() // = calls Literals$3
}

func Handed(list []int) {
	slices.ContainsFunc(list, func(int) bool { // = any caller
		return true
	})
	var once sync.Once
	once.Do(func() { // = any caller, once
	})
	time.AfterFunc(1, func() { // = goroutine of Handed
	})
	apply(func() { // = any caller
	})
	start(func() { // = goroutine of Handed
	})
	keep(func() { // = unknown
	})
}

func apply(f func()) {
	f() // = nobody
}

func start(f func()) { go f() }

var kept func()

func keep(f func()) { kept = f }

func Deferred() {
	defer cleanup() // = defers cleanup
	defer func() {  // = any caller
	}()
}

func cleanup() {} // = any caller, unknown

// Missed: the method behind a method expression.
func MethodValue(t *T) {
	f := t.method
	f()            // = calls (*T).method
	(*T).method(t) // = calls (*T).method$thunk
	go t.started()
}

func (t *T) method() {} // = any caller

func (t *T) started() {} // = goroutine of MethodValue

// The type that implements the interface is known here.
func Interface(d doer) {
	d.do() // = calls (*T).do
}

func (t *T) do() {} // = any caller

func Field(t *T) {
	t.f() // = nobody
}

func SetField() *T {
	return &T{f: func() { // = unknown
	}}
}

func Generic[V any](v V) V { // = any caller
	return helper(v) // = calls helper
}

func helper[V any](v V) V { return v } // = any caller

func UsesGeneric() {
	helper(1) // = calls helper
}

type Embeds struct{ T }

func Promoted(e *Embeds) {
	e.method() // = calls (*T).method
}

func RangeFunc(seq iter.Seq[int]) {
	for range seq { // = any caller
		inBody()
	}
}

func inBody() {} // = any caller

func Recursive(n int) { // = any caller
	if n > 0 {
		Recursive(n - 1) // = calls Recursive
	}
}

func Variable(yes bool) {
	f := plain
	if yes {
		f = cleanup
	}
	f() // = nobody
}

func WaitGroup() {
	var wg sync.WaitGroup
	wg.Go(func() { // = goroutine of WaitGroup
	})
	wg.Wait()
}

func Named() (err error) {
	defer func() { // = any caller
		recover()
	}()
	return nil
}

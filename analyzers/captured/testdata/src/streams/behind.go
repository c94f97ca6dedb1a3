package streams

import "iter"

func all(ch <-chan int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := range ch {
			if !yield(n) {
				return
			}
		}
	}
}

func few() iter.Seq[int] {
	return func(yield func(int) bool) { yield(1) }
}

func Sum(gen func(func(int)) error) (sum int, err error) {
	ch := make(chan int)
	go func() {
		defer close(ch)
		err = gen(func(n int) { ch <- n }) // ok: the loop goes on until ch is closed
	}()
	for n := range all(ch) {
		sum += n
	}
	return sum, err
}

func One(gen func(func(int)) error) (sum int, err error) {
	ch := make(chan int, 100)
	go func() {
		defer close(ch)
		err = gen(func(n int) { ch <- n }) // want `variable err is shared with the goroutine that captures it`
	}()
	for n := range few() {
		sum += n
	}
	return sum, err
}

type waiter interface{ wait() }

type sig chan struct{}

func (s sig) wait() { <-s }

func Ask(f func() int) int {
	n := 0
	s := make(sig)
	go func() {
		n = f() // ok
		close(s)
	}()
	for _, w := range []waiter{s} {
		w.wait()
	}
	return n
}

type teller interface{ tell() }

type text string

func (t text) tell() { println(t) }

func Tell(f func() int) int {
	n := 0
	s := make(sig)
	go func() {
		n = f() // want `variable n is shared with the goroutine that captures it`
		close(s)
	}()
	for _, t := range []teller{text("a")} {
		t.tell()
	}
	return n
}

// Package closures captures in literals within literals.
package closures

func Nested() int {
	n := 0
	go func() {
		func() {
			n = 1 // want `variable n is shared with the goroutine that captures it`
		}()
	}()
	return n
}

func Inner() func() int {
	return func() int {
		n := 0
		go func() {
			n++ // want `variable n is shared`
		}()
		return n
	}
}

func Passed() int {
	n := 0
	go func(n int) {
		n++ // ok: a copy
	}(n)
	return n
}

func Before() int {
	n := 0
	set := func() { n = 1 }
	set()
	go func() {
		_ = n // ok: nobody writes it any more
	}()
	return n
}

// Package crossuse hands literals to another package, which starts them.
package crossuse

import "cross"

func Handed() int {
	n := 0
	cross.Go(func() {
		n = 1 // want `variable n is shared with the goroutine that captures it`
	})
	return n
}

func Called() int {
	n := 0
	cross.Run(func() {
		n = 1 // ok: no goroutine
	})
	return n
}

func Own() int {
	n := 0
	cross.Go(func() {
		n := 1 // ok: its own
		_ = n
	})
	return n
}

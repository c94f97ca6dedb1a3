//go:build (amd64 || arm64) && !plan9

package rt

// bubbled reports whether a running goroutine, the text of whose stack is given,
// may be in a testing/synctest bubble: there the monitor must neither sleep nor
// touch a timer. The runtime names the bubble in the first line of the text,
// "goroutine 7 [running, synctest bubble 3]:". Only a line of the two forms that
// goroutines outside of bubbles have counts as one of these. With a release of Go
// for which the tests have not shown that, every goroutine may be in a bubble.
func bubbled(stack []byte) bool {
	for i := range stack {
		if stack[i] != '[' {
			continue
		}
		state := stack[i:]
		return !bubblesShown || !begins(state, "[running]") && !begins(state, "[running, locked to thread]")
	}
	return true
}

func begins(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix
}

//go:build (amd64 || arm64) && !plan9

package rt

import (
	"runtime"
	"unsafe"
)

// getg gives the running goroutine's runtime.g. It serves to read two things
// that stay put while the goroutine runs: its stack bounds and its id.
func getg() unsafe.Pointer

// nanotime is the monotonic clock that a testing/synctest bubble cannot fake.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// goidOffset is where runtime.g keeps the goroutine id, or 0 if findGoid
// could not prove it. Written at start only.
var goidOffset uintptr

// onStack reports whether addr lies in the stack of g, whose first two words
// are the stack's bounds.
func onStack(g unsafe.Pointer, addr uintptr) bool {
	lo, hi := *(*uintptr)(g), *(*uintptr)(unsafe.Add(g, 8))
	return lo <= addr && addr < hi
}

// goid gives the id of the running goroutine g. Ids are never used twice,
// whereas g pointers are.
func goid(g unsafe.Pointer) int64 {
	if goidOffset != 0 {
		return *(*int64)(unsafe.Add(g, goidOffset))
	}
	return parsedGoid()
}

// parsedGoid reads the id from the text "goroutine 123 [running]:…". Slow.
func parsedGoid() int64 {
	var buf [64]byte
	const prefix = "goroutine "
	text := buf[:runtime.Stack(buf[:], false)]
	id := int64(0)
	for i := len(prefix); i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		id = id*10 + int64(text[i]-'0')
	}
	return id
}

// findGoid sets goidOffset to the one word of runtime.g that holds the id of
// every goroutine tried: this one and a few short-lived ones, which are gone
// when it returns.
func findGoid() {
	before := runtime.NumGoroutine()
	candidates := goidWords()
	for try := 0; try < 3; try++ {
		words := make(chan uint64)
		go func() { words <- goidWords() }()
		candidates &= <-words
	}
	for try := 0; try < 1000 && runtime.NumGoroutine() > before; try++ {
		runtime.Gosched()
	}
	if candidates != 0 && candidates&(candidates-1) == 0 {
		for candidates>>(goidOffset/8)&1 == 0 {
			goidOffset += 8
		}
	}
}

// goidWords gives a set of the first words of the running goroutine's
// runtime.g: those that hold its id. runtime.g is longer than what is read.
func goidWords() (set uint64) {
	const words = 32
	g, id := getg(), parsedGoid()
	for i := uintptr(2); i < words; i++ {
		if *(*int64)(unsafe.Add(g, 8*i)) == id {
			set |= 1 << i
		}
	}
	return set
}

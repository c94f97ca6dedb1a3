//go:build (amd64 || arm64) && !plan9

package rt

import (
	"runtime"
	"time"
	"unsafe"
)

// getg returns the running goroutine's runtime.g. It serves to read two things
// that stay put while the goroutine runs: its stack bounds and its id.
func getg() unsafe.Pointer

// nanotime is the monotonic clock that a testing/synctest bubble cannot fake.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// goidOffset is where runtime.g keeps the goroutine id, or 0 if findGoid
// could not prove it. Written at start only.
var goidOffset uintptr

// address returns p as a number, or 0 if p points into the stack of the running
// goroutine, to which no other can come. It is the only place where the monitor
// makes a number of a pointer and keeps it: a stack moves when a function is called
// that may grow it, or when the collector shrinks it at such a call, and would leave
// the number behind. Nothing of that can come between the comparison and the
// conversion, since this function may not grow the stack and, being nosplit, has no
// point of preemption. Memory outside of this stack does not move while p lives: the
// heap stays put, and a pointer that another goroutine may hold has escaped to it.
//
//go:noinline
//go:nosplit
//go:norace
//go:nocheckptr
func address(p unsafe.Pointer) uintptr {
	g := getg() // its first two words are the stack's bounds
	if lo, hi := *(*uintptr)(g), *(*uintptr)(unsafe.Add(g, 8)); lo <= uintptr(p) && uintptr(p) < hi {
		return 0
	}
	return uintptr(p)
}

// stackDepth returns how deep in its stack the goroutine is, wherever that lies.
//
//go:noinline
//go:nosplit
//go:norace
//go:nocheckptr
func stackDepth(g unsafe.Pointer) uintptr {
	var here byte
	return *(*uintptr)(unsafe.Add(g, 8)) - uintptr(unsafe.Pointer(&here))
}

// goid returns the id of the running goroutine g. Ids are never used twice,
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

// goidWords returns a set of the first words of the running goroutine's
// runtime.g: those that hold its id. runtime.g is longer than the words read.
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

// bubblesShown reports whether runtime.Stack shows in which bubble a goroutine is.
// Written at start only.
var bubblesShown = showsBubbles(runtime.Version())

// showsBubbles reports whether it does so in a release of Go: TestBubble and
// TestBubbleClock have passed with each one below Go 1.28, and nobody has tried later ones.
func showsBubbles(release string) bool {
	const prefix, tried = "go1.", 28
	for ; len(release) > 0 && !begins([]byte(release), prefix); release = release[1:] { // "devel go1.27-…"
	}
	minor, digits := 0, 0
	for i := len(prefix); i < len(release) && '0' <= release[i] && release[i] <= '9'; i++ {
		minor, digits = 10*minor+int(release[i]-'0'), digits+1
	}
	return digits > 0 && minor < tried
}

// bubbled reports whether a running goroutine, by the text of its stack,
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

// Goroutines returns how many goroutines there are, for [Linger].
func Goroutines() int { return runtime.NumGoroutine() }

// Linger stands around the call that runs all tests of a process, and returns its
// result. Goroutines that the tests have started and that still run would be lost with
// the process, and so would their races: they get a while, at most a quarter of the time
// that the process has run or, if that is more, 20 ms, and never more than 100 ms. It ends
// as soon as there are no more goroutines than before the tests. It prints nothing, and
// in a process that is not monitored it only calls the function of [AtEnd].
//
//	os.Exit(m.Run())
//	os.Exit(rt.Linger(rt.Goroutines(), m.Run()))
func Linger(before, code int) int {
	if out.path != "" {
		for end := lingerEnd(); runtime.NumGoroutine() > before && nanotime() < end; {
			time.Sleep(time.Millisecond)
		}
		Flush()
	}
	if atEnd != nil {
		atEnd()
	}
	return code
}

var atEnd func() // set at start

// AtEnd has Linger call f last, in a process that is not monitored as well. It is for
// the start of a process.
func AtEnd(f func()) { atEnd = f }

// lingerEnd returns when [Linger] is to end at the latest, by nanotime.
func lingerEnd() int64 {
	const least, most = 20_000_000, 100_000_000 // nanoseconds
	now := nanotime()
	return now + min(max((now-start)/4, least), most)
}

// Goroutine returns the id of the running goroutine, which is never used again.
func Goroutine() int64 { return goid(getg()) }

// InBubble reports whether the running goroutine may be in a bubble of testing/synctest,
// where the monitor must neither sleep nor start anything. It reads the goroutine's stack.
func InBubble() bool {
	var text [128]byte
	return bubbled(text[:runtime.Stack(text[:], false)])
}

// Now returns the monotonic time in nanoseconds, which no bubble of testing/synctest fakes.
func Now() int64 { return nanotime() }

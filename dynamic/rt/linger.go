//go:build (amd64 || arm64) && !plan9

package rt

import (
	"runtime"
	"time"
)

// Goroutines returns how many goroutines there are, for [Linger].
func Goroutines() int { return runtime.NumGoroutine() }

// Linger stands around the call that runs all tests of a process, and returns its
// result. Goroutines that the tests have started and that still run would be lost with
// the process, and what they race with: they get a while, at most a quarter of the time
// that the process has run or, if that is more, 20 ms, and never more than 100 ms. It ends
// as soon as there are no more goroutines than before the tests. It prints nothing, and
// in a process that is not monitored it does nothing but what [AtEnd] asks for.
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

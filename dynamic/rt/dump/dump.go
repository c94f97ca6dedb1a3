// Package dump reads the text that the runtime prints of all goroutines, for those rooms of
// the monitor that judge whether a test stands still.
package dump

import (
	"os"
	"runtime"
	"strings"

	"github.com/interlock-go/interlock/dynamic/rt/crash"
)

// Goroutine is one of a dump.
type Goroutine struct {
	ID, State, Text string
}

// Goroutines splits a dump of stacks.
func Goroutines(dump string) (all []Goroutine) {
	for _, text := range strings.Split(strings.TrimSpace(dump), "\n\n") {
		head, _, _ := strings.Cut(text, "\n")
		id, rest, ok := strings.Cut(strings.TrimPrefix(head, "goroutine "), " ")
		from, to := strings.IndexByte(rest, '['), strings.LastIndexByte(rest, ']')
		if ok && 0 <= from && from < to {
			all = append(all, Goroutine{id, rest[from+1 : to], text})
		}
	}
	return all
}

// Stack returns the text below the first line, which counts minutes.
func (g *Goroutine) Stack() string {
	_, stack, _ := strings.Cut(g.Text, "\n")
	return stack
}

// IsTest reports whether the goroutine runs a test and is in the test's own code or in a
// function that this calls: it waits neither for a subtest nor for its turn.
func (g *Goroutine) IsTest() bool {
	return strings.Contains(g.Text, "\ntesting.tRunner(") && !strings.HasPrefix(g.Stack(), "testing.")
}

// IsMain reports whether the goroutine is in function main of a program, or in TestMain and runs no test.
func (g *Goroutine) IsMain() bool {
	return strings.Contains(g.Text, "\nmain.main()\n") && !strings.Contains(g.Text, "\ntesting.(*M).Run(")
}

// AwaitsSignals reports whether the goroutine is that of package os/signal, which no other goroutine wakes.
func (g *Goroutine) AwaitsSignals() bool { return strings.HasPrefix(g.Stack(), "os/signal.") }

// Wakes reports whether the goroutine is at work or will be by itself.
func (g *Goroutine) Wakes() bool { return g.stateIs("run", "sleep", "IO wait", "syscall") }

// Parent returns the number of the goroutine that has started this one, or "".
func (g *Goroutine) Parent() string {
	_, by, _ := strings.Cut(g.Text, "\ncreated by ")
	by, _, _ = strings.Cut(by, "\n")
	_, parent, _ := strings.Cut(by, " in goroutine ")
	return parent
}

// Listens reports whether the goroutine waits for a connection, or in the code of net/http for data of one.
func (g *Goroutine) Listens() bool {
	return g.stateIs("IO wait") &&
		(strings.Contains(g.Text, "\nnet.(*netFD).accept(") || strings.Contains(g.Text, "\nnet/http.(*"))
}

// InLock reports whether the goroutine is blocked in the acquisition of a mutex.
func (g *Goroutine) InLock() bool {
	return g.stateIs("sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock", "semacquire")
}

func (g *Goroutine) stateIs(states ...string) bool {
	for _, state := range states {
		if strings.HasPrefix(g.State, state) {
			return true
		}
	}
	return false
}

// Holder, if set, returns the goroutine that holds the lock for which another one waits, and the site of the program
// where it was acquired. Package locks sets it at start.
var Holder func(goroutine int64) (holder int64, site uint64, ok bool)

// Stacks returns the text of the stacks of all goroutines.
func Stacks() string {
	for size := 64 << 10; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size {
			return string(buf[:n])
		}
	}
}

// InTests reports whether this is a test binary: go test has written its main function.
func InTests() bool { return strings.Contains(Stacks(), "_testmain.go:") }

// End ends a process that would never end its tests or function main, and prints its goroutines as at a
// test's time limit.
func End() {
	who := "the program waits"
	if InTests() {
		who = "the tests wait"
	}
	end(who + " for ever: nothing can wake these goroutines")
}

// Still ends a process with all goroutines blocked, although a timer may be set that
// wakes one of them.
func Still() { end("the tests stand still: they are run again without a time limit of their own") }

// Waits ends a process in which the tests and all goroutines that they have started have long been blocked, while
// others sleep or wait for timers and the network.
func Waits() {
	end("the tests wait for each other: what else there is waits for timers and the network")
}

func end(why string) {
	crash.Print("panic: " + why + "\n\n")
	for _, g := range Goroutines(Stacks()) {
		crash.Print(g.Text + "\n\n")
	}
	os.Exit(2)
}

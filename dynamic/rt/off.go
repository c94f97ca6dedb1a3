//go:build !(amd64 || arm64) || plan9

package rt

import (
	"os"
	"unsafe"

	"github.com/interlock-go/interlock/dynamic/rt/policy"
)

// On this platform the watch engine is off: the filter stays zero, and a
// process that was asked to watch says so.
func init() {
	if os.Getenv("INTERLOCK_OUT") != "" {
		os.Stderr.WriteString("interlock: the watch engine needs amd64 or arm64; nothing is monitored\n")
	}
}

func before(p unsafe.Pointer, size uintptr, site uint32, m mode) {}
func beforeMap(p unsafe.Pointer, site uint32, m mode)            {}
func beforeChannel(p unsafe.Pointer, site uint32, m mode)        {}
func beforeCounter(p unsafe.Pointer, site uint32, m mode)        {}

func beforeElement(p unsafe.Pointer, key uint64, site uint32, m mode) {}

type activeSection struct{}

func (o *activeSection) setValue(c contents) {}

func dispatch(kind hookKind, section, arg uint32, operand int64)        {}
func enter(p unsafe.Pointer, size uintptr, site, section, flags uint32) {}
func enterMap(p, at unsafe.Pointer, key uint64, site, section, flags uint32) *activeSection {
	return nil
}
func end(p unsafe.Pointer, size uintptr, site, section, flags uint32)                              {}
func endMap(p unsafe.Pointer, key uint64, value contents, length int, site, section, flags uint32) {}
func storedInMap(key uint64, value contents, length int, site uint32)                              {}
func bind(p unsafe.Pointer, size uintptr, site, flags uint32)                                      {}
func bindMap(p, at unsafe.Pointer, key uint64, value contents, length int, site, flags uint32) *activeSection {
	return nil
}
func mayEnter(section uint32) bool { return false }

// Acquired does nothing.
func Acquired(use uint64, lock uintptr) {}

// Released does nothing.
func Released(use uint64, lock uintptr) {}

func openHere(section uint32) bool { return false }
func endsHere(site uint32) bool    { return false }
func bindsHere(site uint32) bool   { return false }

// Goroutines serves Linger.
func Goroutines() int { return 0 }

// Linger returns code.
func Linger(before, code int) int {
	if atEnd != nil {
		atEnd()
	}
	return code
}

var atEnd func()

// AtEnd has f called when the tests have ended.
func AtEnd(f func()) { atEnd = f }

// Flush does nothing on this platform.
func Flush() {}

// Exit returns code.
func Exit(code int) int { return code }

// The other rooms of the monitor find nothing watched here.

// Watching reports that nothing is.
func Watching() bool { return false }

// Goroutine serves other rooms.
func Goroutine() int64 { return 0 }

// Now serves other rooms.
func Now() int64 { return 0 }

// InBubble serves other rooms.
func InBubble() bool { return true }

func perturb(e policy.Event, place uint64) {}

// Setting serves other rooms.
func Setting(name string) string { return "" }

// Write serves other rooms.
func Write(kind string, rest []byte) {}

// AppendText serves other rooms.
func AppendText(b, text []byte) []byte { return b }

// Warn serves other rooms.
func Warn(text string) {}

// HoldUntil serves other rooms.
func HoldUntil(most int64, isOver, thrashed func() bool) {}

// Random serves other rooms.
func Random(n uint64) uint64 { return n }

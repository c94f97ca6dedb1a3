//go:build !(amd64 || arm64) || plan9

package rt

import (
	"os"
	"unsafe"
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

func enter(p unsafe.Pointer, size uintptr, site, section uint32) {}
func entered(section uint32)                                     {}
func gap(section uint32)                                         {}
func end(p unsafe.Pointer, site, section, allows uint32, m mode) {}
func ended(section uint32)                                       {}
func leave(section uint32)                                       {}

// Flush does nothing on this platform.
func Flush() {}

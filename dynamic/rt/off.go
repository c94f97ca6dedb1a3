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

func slowRead(p unsafe.Pointer, size uintptr, site uint32)  {}
func slowWrite(p unsafe.Pointer, size uintptr, site uint32) {}

func slowAtomicRead(p unsafe.Pointer, size uintptr, site uint32)  {}
func slowAtomicWrite(p unsafe.Pointer, size uintptr, site uint32) {}

func slowMapRead(p unsafe.Pointer, site uint32)  {}
func slowMapWrite(p unsafe.Pointer, site uint32) {}

// Flush does nothing on this platform.
func Flush() {}

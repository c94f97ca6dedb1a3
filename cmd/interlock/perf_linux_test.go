package main

import (
	endian "encoding/binary"
	"syscall"
	"unsafe"
)

// opensTimer reports whether the kernel opens a timer that sends signals, as production builds need it.
func opensTimer() bool {
	const perfEventOpen, software, excludeKernel, removeOnExec, sigtrap = 298, 1, 1 << 5, 1 << 36, 1 << 37
	attr := make([]byte, 128)
	endian.NativeEndian.PutUint32(attr, software)
	endian.NativeEndian.PutUint32(attr[4:], uint32(len(attr)))
	endian.NativeEndian.PutUint64(attr[16:], 1e9) // period
	endian.NativeEndian.PutUint64(attr[40:], 1|excludeKernel|removeOnExec|sigtrap)
	fd, _, errno := syscall.Syscall6(perfEventOpen, uintptr(unsafe.Pointer(&attr[0])), 0, ^uintptr(0), ^uintptr(0), 0, 0)
	if errno != 0 {
		return false
	}
	syscall.Close(int(fd))
	return true
}

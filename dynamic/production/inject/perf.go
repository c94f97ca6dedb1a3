//go:build interlock_production

package runtime

import (
	"internal/runtime/syscall/linux"
	"unsafe"
)

// ilkAttr is struct perf_event_attr of linux/perf_event.h, as of Linux 5.13 (PERF_ATTR_SIZE_VER7 and one word).
type ilkAttr struct {
	kind, size     uint32
	config, period uint64
	sample, read   uint64
	flags          uint64
	wakeup, bpType uint32
	bpAddr, bpLen  uint64
	_              [6]uint64
	sigData        uint64
	_              uint64
}

// Numbers of linux/perf_event.h and linux/hw_breakpoint.h.
const (
	ilkPerfEventOpen = 298 // the system call

	ilkSoftware   = 1
	ilkCPUClock   = 0
	ilkBreakpoint = 5

	ilkSampleAddr = 1 << 3

	ilkDisabled      = 1 << 0
	ilkInherit       = 1 << 1
	ilkExcludeKernel = 1 << 5
	ilkExcludeHV     = 1 << 6
	ilkInheritThread = 1 << 35 // threads alone: a process that this one starts has no event
	ilkRemoveOnExec  = 1 << 36
	ilkSigtrap       = 1 << 37 // the event is a SIGTRAP to the thread that it happens in

	ilkCommon = ilkDisabled | ilkInherit | ilkExcludeKernel | ilkExcludeHV | ilkInheritThread | ilkRemoveOnExec |
		ilkSigtrap

	ilkCloseOnExec = 1 << 3

	ilkIoctlEnable  = 0x2400
	ilkIoctlDisable = 0x2401
	ilkIoctlModify  = 0x4008240b

	ilkOnWrite     = 2
	ilkOnReadWrite = 3

	ilkTrapPerf = 6 // si_code of such a SIGTRAP
)

// ilkOpen opens an event on a thread, where 0 is this one, and on every thread that it and its threads will start. It
// returns a file descriptor, or the negative error number.
func ilkOpen(attr *ilkAttr, thread uintptr) int32 {
	attr.size = uint32(unsafe.Sizeof(*attr))
	fd, _, errno := linux.Syscall6(ilkPerfEventOpen, uintptr(unsafe.Pointer(attr)), thread, ^uintptr(0), ^uintptr(0),
		ilkCloseOnExec, 0)
	if errno != 0 {
		return -int32(errno)
	}
	// Programs count on small numbers for the files that they open.
	const dupCloexec = 1030
	for _, least := range [...]uintptr{900, 200} {
		if high, _, errno := linux.Syscall6(linux.SYS_FCNTL, fd, dupCloexec, least, 0, 0, 0); errno == 0 {
			linux.Syscall6(linux.SYS_CLOSE, fd, 0, 0, 0, 0, 0)
			return int32(high)
		}
	}
	return int32(fd)
}

// ilkIoctl makes one ioctl on an event; the kernel repeats it for the event of each thread.
//
//go:nosplit
func ilkIoctl(fd int32, request uintptr, arg unsafe.Pointer) bool {
	_, _, errno := linux.Syscall6(ilkSysIoctl, uintptr(fd), request, uintptr(arg), 0, 0, 0)
	return errno == 0
}

const ilkSysIoctl = 16

// ilkWatchAttr returns the attributes of a running event for accesses to size bytes at addr.
//
//go:nosplit
func ilkWatchAttr(addr uintptr, size uint8, onRead bool, tag uint64) (a ilkAttr) {
	a.kind, a.size = ilkBreakpoint, uint32(unsafe.Sizeof(a))
	a.period, a.sample, a.flags = 1, ilkSampleAddr, ilkCommon&^ilkDisabled
	a.bpType = ilkOnWrite
	if onRead {
		a.bpType = ilkOnReadWrite
	}
	a.bpAddr, a.bpLen, a.sigData = uint64(addr), uint64(size), tag
	return a
}

func ilkClose(fd int32) { linux.Syscall6(linux.SYS_CLOSE, uintptr(fd), 0, 0, 0, 0, 0) }

// ilkThreadTime returns the processor time of this thread, in ns: unlike a clock it does not count while the thread
// waits for a processor.
//
//go:nowritebarrierrec
func ilkThreadTime() int64 {
	const clockGettime, clockThread = 228, 3
	var t timespec
	linux.Syscall6(clockGettime, clockThread, uintptr(unsafe.Pointer(&t)), 0, 0, 0, 0)
	return t.tv_sec*1e9 + t.tv_nsec
}

//go:build interlock_production

package runtime

import (
	"internal/runtime/syscall/linux"
	"unsafe"
)

// ilkMostThreads is in how many threads a timer is opened at the most: each takes a file descriptor of the program's.
const ilkMostThreads = 256

// ilkTimers holds the file descriptors of the timers that sample: one from the start of the process, which all threads
// inherit, or one for each thread that there was as the watch was switched on. It is guarded by the lock of package
// agent; before there is a second thread, by nothing.
var ilkTimers struct {
	fds [ilkMostThreads]int32
	n   int
}

// ilkLate prepares a process for samples that was started without: it measures what a sample takes. The registers can
// no longer be had, as only a thread that has such an event passes it on: goroutines are held instead.
//
//go:linkname ilkLate
func ilkLate() {
	if !ilkIsLinux(5, 18) {
		ilkState.means = ilkOldKernel
		return
	}
	testSigtrap = ilkTrap
	lockOSThread() // the measure is that of one thread
	ilkState.costSample = ilkMeasure()
	unlockOSThread()
	ilkState.means, ilkState.errno = ilkPauses, 0
}

// ilkSwitch turns samples on, or off, and returns the error number of the kernel's refusal. Off, there is no timer and
// no register watches.
//
//go:linkname ilkSwitch
func ilkSwitch(on bool, permille int32) (errno int32) {
	if on && ilkTimers.n == 0 {
		errno = ilkOpenTimers(permille)
	}
	if !on || errno != 0 {
		ilkCloseTimers()
		ilkRetire(1<<63 - 1)
		return errno
	}
	for _, fd := range ilkTimers.fds[:ilkTimers.n] {
		if !ilkIoctl(fd, ilkIoctlEnable, nil) {
			ilkCloseTimers()
			const einval = 22
			return einval
		}
	}
	return 0
}

func ilkCloseTimers() {
	for _, fd := range ilkTimers.fds[:ilkTimers.n] {
		ilkClose(fd)
	}
	ilkTimers.n = 0
}

// ilkOpenTimers opens a timer in each thread. No thread starts meanwhile: one that did might have two timers, by its
// parent and by itself, or none. It returns the error number of a refusal, after which timers may be open.
func ilkOpenTimers(permille int32) (errno int32) {
	const directory, closeOnExec = 0x10000, 0x80000
	a := &ilkState.clock
	a.kind, a.config, a.period, a.flags, a.sigData = ilkSoftware, ilkCPUClock, ilkPeriod(permille), ilkCommon,
		ilkTagClock
	name := []byte("/proc/self/task\x00")
	const open, getdents = 2, 217
	dir, _, e := linux.Syscall6(open, uintptr(unsafe.Pointer(&name[0])), directory|closeOnExec, 0, 0, 0, 0)
	if e != 0 {
		return int32(e)
	}
	var entries [4096]byte
	execLock.lock()
	for errno == 0 {
		n, _, e := linux.Syscall6(getdents, dir, uintptr(unsafe.Pointer(&entries)), uintptr(len(entries)), 0, 0, 0)
		if e != 0 || n == 0 {
			errno = int32(e)
			break
		}
		errno = ilkOpenIn(a, entries[:n])
	}
	execLock.unlock()
	ilkClose(int32(dir))
	return errno
}

// ilkOpenIn opens a timer in each thread of a part of /proc/self/task, which has entries of struct linux_dirent64.
func ilkOpenIn(a *ilkAttr, entries []byte) (errno int32) {
	const size, name = 16, 19 // where the size of an entry is, and its name
	for len(entries) > name {
		tid := uintptr(0)
		for _, c := range entries[name:] {
			if c < '0' || '9' < c {
				break // its end, or one of the entries . and ..
			}
			tid = 10*tid + uintptr(c-'0')
		}
		entries = entries[int(entries[size])|int(entries[size+1])<<8:]
		if tid == 0 {
			continue
		}
		const esrch, emfile = 3, 24
		if ilkTimers.n == ilkMostThreads {
			return emfile
		}
		fd := ilkOpen(a, tid)
		if fd == -esrch {
			continue // it has ended
		}
		if fd < 0 {
			return -fd
		}
		ilkTimers.fds[ilkTimers.n] = fd
		ilkTimers.n++
	}
	return 0
}

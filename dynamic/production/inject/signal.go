//go:build interlock_production

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// ilkSignalled is 1 where the signal that switches the watch has come and the agent has not seen it yet.
var ilkSignalled uint32

// ilkTakes reports whether a signal is the one that switches the watch, which nobody else gets then. It may come to a
// thread of C, which has no goroutine. The number is 0, and this is no code, where the build names no signal.
//
//go:nosplit
//go:nowritebarrierrec
func ilkTakes(sig uint32) bool {
	if ilkSignal == 0 || sig != ilkSignal {
		return false
	}
	atomic.Store(&ilkSignalled, 1)
	linux.Syscall6(ilkFutex, uintptr(unsafe.Pointer(&ilkSignalled)), _FUTEX_WAKE_PRIVATE, 1, 0, 0, 0)
	return true
}

const ilkFutex = 202 // the system call

// ilkAwaitSignal waits for the signal. As in [ilkSleep], the thread hides from nobody that all goroutines of the
// program wait for ever.
//
//go:linkname ilkAwaitSignal
func ilkAwaitSignal() {
	entersyscallblock()
	systemstack(func() {
		ilkAway(1)
		for atomic.Xchg(&ilkSignalled, 0) == 0 {
			futexsleep(&ilkSignalled, 0, -1)
		}
		ilkAway(-1)
	})
	exitsyscall()
}

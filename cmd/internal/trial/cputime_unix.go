//go:build unix

package trial

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time of this process and of its children that have ended.
func cpuTime() (total time.Duration) {
	for _, of := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var use syscall.Rusage
		if syscall.Getrusage(of, &use) == nil {
			total += time.Duration(use.Utime.Nano() + use.Stime.Nano())
		}
	}
	return total
}

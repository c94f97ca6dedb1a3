package command

import (
	"os"
	"syscall"
)

// largest returns the megabytes that the largest of a process and those that it
// waited for held at most.
func largest(p *os.ProcessState) float64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return float64(usage.Maxrss) / 1024
}

//go:build unix

package gocmd

import (
	"os/exec"
	"syscall"
)

// OwnGroup puts the command into a process group of its own, so that its
// children end with it when the context does, interrupted first.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = interruptGrace // a grandchild may hold the pipes open
}

// EndGroup kills the processes that are left of the group.
func EndGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

//go:build unix

package driver

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the command into a process group of its own, so that its
// children are killed with it when the context ends.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

//go:build unix

package child

import (
	"os"
	"os/exec"
	"syscall"
)

// askForGoroutines has a Go process print all its goroutines and end.
func askForGoroutines(p *os.Process) { p.Signal(syscall.SIGQUIT) }

// ownGroup has the process lead a group, of which the processes that it starts are as well. An interrupt of
// the terminal reaches this process alone then, which ends the group.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

// endGroup ends those processes of the group of cmd that outlive it. One that has left the group
// is not among them: see endOrphans.
func endGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

package child

import (
	"os/exec"
	"syscall"
)

// endWithParent has the system kill the process when this one ends in whatever
// way: killed, it could not end its tests itself.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

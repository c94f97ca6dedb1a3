//go:build !unix

package gocmd

import (
	"os"
	"os/exec"
)

// OwnGroup has the command interrupted when its context ends: there are no process groups, so its children end by
// themselves, and their output goes nowhere.
func OwnGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = interruptGrace
}

// EndGroup does nothing here.
func EndGroup(*exec.Cmd) {}

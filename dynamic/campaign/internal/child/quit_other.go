//go:build !unix

package child

import (
	"os"
	"os/exec"
)

// askForGoroutines ends the process: this system has no signal that makes a
// Go program print its goroutines.
func askForGoroutines(p *os.Process) { p.Kill() }

// ownGroup does nothing: this system has no groups of processes that end together.
func ownGroup(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}

//go:build !unix

package driver

import "os/exec"

// ownGroup: there are no process groups; the children of the go command end
// by themselves, and their output goes nowhere.
func ownGroup(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}

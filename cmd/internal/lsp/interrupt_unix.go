//go:build unix

package lsp

import (
	"os"
	"syscall"
)

// endTests asks a run of tests to end: it has processes and folders of its own to clear away.
func endTests(p *os.Process) error { return p.Signal(syscall.SIGINT) }

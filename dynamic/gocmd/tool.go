package gocmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// ExecTool runs a tool of the go command in place of it, as -toolexec asks for, and returns its exit code.
func ExecTool(tool string, args []string, stdout, stderr io.Writer) int {
	cmd := exec.Command(tool, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return max(exit.ExitCode(), 1)
	case err != nil:
		fmt.Fprintln(stderr, "interlock: running a tool of the go command:", err)
		return 1
	}
	return 0
}

//go:build !unix

package rebuild

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// become runs the program as a child, and exits as it does. It returns if that
// cannot be done.
func become(program string, env []string) error {
	cmd := exec.Command(program, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, env
	signal.Ignore(os.Interrupt) // the child gets it too
	err := cmd.Run()
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) {
		os.Exit(cmd.ProcessState.ExitCode())
	}
	return fmt.Errorf("starting %s: %w", program, err)
}

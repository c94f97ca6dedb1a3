//go:build unix

package rebuild

import (
	"fmt"
	"os"
	"syscall"
)

// become runs the program in place of this process. It returns if that cannot
// be done.
func become(program string, env []string) error {
	return fmt.Errorf("starting %s: %w", program, syscall.Exec(program, os.Args, env))
}

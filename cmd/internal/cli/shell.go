package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// exportVars prints variables, as name=value, for a shell.
func exportVars(w io.Writer, vars []string) {
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		fmt.Fprintf(w, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
}

// Variables that hold the values which env has replaced.
const (
	outerGOFLAGS = "INTERLOCK_OUTER_GOFLAGS"
	outerGOWORK  = "INTERLOCK_OUTER_GOWORK"
)

// leaveEnv has a command that runs in a shell with the variables of env see the user's module, not the
// instrumented build. Env may so be called again in the same shell.
func leaveEnv() error {
	for name, outer := range map[string]string{"GOFLAGS": outerGOFLAGS, "GOWORK": outerGOWORK} {
		value, inEnv := os.LookupEnv(outer)
		if !inEnv {
			continue
		}
		if err := errors.Join(os.Setenv(name, value), os.Unsetenv(outer)); err != nil {
			return err
		}
	}
	return nil
}

package build

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// CoverTool is the word with which a program that prints the variables of
// [Workspace.Env] must expect to be started: `<program> <CoverTool> <overlay>
// <tool> <arguments>`. It then calls [RunTool] with what follows the word.
const CoverTool = "covertool"

// toolexec has the go command run its tools by way of this program, because
// of one of them: cover reads files past the overlay, so that covered packages
// would be compiled as the user has them, unmonitored and without a word.
func (ws *Workspace) toolexec() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	quote := func(s string) string {
		if strings.ContainsAny(s, " \t'") {
			return `"` + s + `"`
		}
		return s
	}
	return "-toolexec=" + quote(self) + " " + CoverTool + " " + quote(ws.overlayFile())
}

// RunTool runs a tool of the go command: cover with the files of the overlay in
// place of the user's, all others as they are. It gives their exit code.
func RunTool(args []string, stdout, stderr io.Writer) int {
	if len(args) < 2 {
		fmt.Fprintln(stderr, "interlock: the go command calls this for its tools; it is of no use otherwise")
		return 2
	}
	overlay, tool, rest := args[0], args[1], args[2:]
	suffix := ""
	if strings.TrimSuffix(filepath.Base(tool), ".exe") == "cover" {
		data, err := os.ReadFile(overlay)
		var o struct{ Replace map[string]string }
		if err == nil {
			err = json.Unmarshal(data, &o)
		}
		if err != nil {
			fmt.Fprintln(stderr, "interlock: reading the overlay:", err)
			return 1
		}
		for i, arg := range rest {
			if with := o.Replace[arg]; with != "" {
				rest[i] = with
			}
		}
		if len(rest) == 1 && rest[0] == "-V=full" {
			// The go command's cache goes by this line.
			suffix = fmt.Sprintf(" interlock:%x", sha256.Sum256(data))
		}
	}
	cmd := exec.Command(tool, rest...)
	cmd.Stdin, cmd.Stderr = os.Stdin, stderr
	var out strings.Builder
	cmd.Stdout = stdout
	if suffix != "" {
		cmd.Stdout = &out
	}
	err := cmd.Run()
	if suffix != "" {
		fmt.Fprintln(stdout, strings.TrimSpace(out.String())+suffix)
	}
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

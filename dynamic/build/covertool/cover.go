// Package covertool stands in for the cover tool of the go command, which reads files
// past the overlay: it counts the user's statements and puts the counters into the
// rewritten files.
package covertool

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// Word is the word with which a program that prints the variables of
// [Workspace.Env] must expect to be started: `<program> <Word> <overlay>
// <tool> <arguments>`. It then calls [Run] with the arguments behind the word.
const Word = "covertool"

// Toolexec has the go command run its tools by way of this program, because
// of one of them: cover reads files past the overlay, so that covered packages
// would be compiled as the user has them, unmonitored and without a word.
func Toolexec(overlay string) string {
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
	return "-toolexec=" + quote(self) + " " + Word + " " + quote(overlay)
}

// Run runs a tool of the go command. Cover reads the user's files, so that it
// counts their statements; its insertions go into the rewritten ones. All
// others run as they are. Run returns their exit code.
func Run(args []string, stdout, stderr io.Writer) int {
	if len(args) < 2 {
		fmt.Fprintln(stderr, "interlock: the go command calls this for its tools; it is of no use otherwise")
		return 2
	}
	overlay, tool, rest := args[0], args[1], args[2:]
	if strings.TrimSuffix(filepath.Base(tool), ".exe") == "cover" {
		return runCover(overlay, tool, rest, stdout, stderr)
	}
	return gocmd.ExecTool(tool, rest, stdout, stderr)
}

func runCover(overlay, tool string, args []string, stdout, stderr io.Writer) int {
	data, err := os.ReadFile(overlay)
	var o struct{ Replace map[string]string }
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err != nil {
		fmt.Fprintln(stderr, "interlock: reading the overlay:", err)
		return 1
	}
	if len(args) == 1 && args[0] == "-V=full" {
		// The go command's cache goes by this line.
		var out strings.Builder
		code := gocmd.ExecTool(tool, args, &out, stderr)
		fmt.Fprintf(stdout, "%s interlock:%x\n", strings.TrimSpace(out.String()), sha256.Sum256(data))
		return code
	}
	code := gocmd.ExecTool(tool, args, stdout, stderr)
	if code != 0 {
		return code
	}
	if err := weaveAll(args, o.Replace); err != nil {
		fmt.Fprintln(stderr, "interlock:", err)
	}
	return 0
}

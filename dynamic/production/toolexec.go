package production

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// Word is the word with which a program that builds with [Toolexec] must expect to be started by the go command:
// `<program> <Word> <tool> <arguments>`. It then calls [RunTool] with the arguments behind the word.
const Word = "productiontool"

// Toolexec returns the flag that has the go command run its tools by way of this program: it compiles all packages,
// those of the module cache included, with operations of sync/atomic that count.
func Toolexec() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	if strings.ContainsAny(self, " \t'") {
		self = `"` + self + `"`
	}
	return "-toolexec=" + self + " " + Word, nil
}

// uncountedPackages are compiled as they are: their operations order nothing in the program, or an edit counts those
// that do.
var uncountedPackages = []string{"sync/atomic", "internal/sync"}

// RunTool runs a tool of the go command and returns its exit code. The compiler gets the files that count.
func RunTool(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintln(stderr, "interlock: the go command calls this for its tools; it is of no use otherwise")
		return 2
	}
	tool, rest := args[0], slices.Clone(args[1:])
	if strings.TrimSuffix(filepath.Base(tool), ".exe") != "compile" {
		return gocmd.ExecTool(tool, rest, stdout, stderr)
	}
	if slices.Equal(rest, []string{"-V=full"}) {
		// The go command's cache goes by this line.
		var out strings.Builder
		code := gocmd.ExecTool(tool, rest, &out, stderr)
		fmt.Fprintf(stdout, "%s interlock:%s\n", strings.TrimSpace(out.String()), version())
		return code
	}
	if err := countFiles(rest); err != nil {
		fmt.Fprintln(stderr, "interlock:", err)
		return 1
	}
	return gocmd.ExecTool(tool, rest, stdout, stderr)
}

// countingVersion changes with what CountAtomics makes of a file.
const countingVersion = "1"

func version() string {
	sum := sha256.Sum256([]byte(countingVersion))
	return fmt.Sprintf("%x", sum[:8])
}

// countFiles replaces the files among the arguments of the compiler that have operations of sync/atomic.
func countFiles(args []string) error {
	pkg, out := flagValue(args, "-p"), flagValue(args, "-o")
	if out == "" || slices.Contains(uncountedPackages, pkg) || strings.HasPrefix(pkg, "runtime") {
		return nil
	}
	for i := len(args) - 1; i >= 0 && strings.HasSuffix(args[i], ".go"); i-- {
		text, err := os.ReadFile(args[i])
		if err != nil {
			return nil // the compiler will report it
		}
		counted, err := CountAtomics(args[i], text, false)
		if err != nil {
			return err
		}
		if counted == nil {
			continue
		}
		original, err := filepath.Abs(args[i])
		if err != nil {
			return err
		}
		args[i] = filepath.Join(filepath.Dir(out), fmt.Sprintf("interlock%d_%s", i, filepath.Base(original)))
		counted = append(fmt.Appendf(nil, "//line %s:1:1\n", original), counted...) // panics show the user's file
		if err := os.WriteFile(args[i], counted, 0o666); err != nil {
			return fmt.Errorf("writing a file that counts: %w", err)
		}
	}
	return nil
}

// flagValue returns the value of a flag of the compiler, which is a word of its own, or "".
func flagValue(args []string, name string) string {
	if i := slices.Index(args, name); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

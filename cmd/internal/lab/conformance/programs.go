package conformance

import (
	"fmt"
	"go/build/constraint"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// program is one `// run` program of the Go distribution's test folder.
type program struct {
	Name  string   // path below GOROOT/test, slashes
	Flags []string // go command flags of its recipe, such as -gcflags=-l
	Args  []string // arguments of the program
	Env   []string // GOEXPERIMENT, GODEBUG
	src   []byte
	more  [][]byte // further source files, named in the recipe
}

// folders are those that the distribution's own runner looks into.
var folders = []string{
	".", "ken", "chan", "interface", "internal/runtime/sys", "syntax", "dwarf", "fixedbugs", "codegen", "abi",
	"typeparam", "typeparam/mdempsky", "arenas", "simd",
}

// collect finds the `// run` programs of GOROOT/test for this platform.
func collect(testDir string) ([]program, error) {
	var programs []program
	for _, dir := range folders {
		names, err := filepath.Glob(filepath.Join(testDir, filepath.FromSlash(dir), "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			src, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			rel, err := filepath.Rel(testDir, name)
			if err != nil {
				return nil, err
			}
			p, ok := parseProgram(filepath.ToSlash(rel), src)
			if !ok {
				continue
			}
			// Files that the recipe names beside the program belong to it.
			if err := p.readMore(filepath.Dir(name)); err != nil {
				return nil, err
			}
			programs = append(programs, p)
		}
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("no `// run` program below %s: this Go installation has no test folder", testDir)
	}
	return programs, nil
}

// parseProgram reads the recipe of a program: the first line that is neither
// empty nor a build constraint. ok is false where it is no `// run` recipe or
// the constraints exclude this platform.
func parseProgram(name string, src []byte) (p program, ok bool) {
	header, _, _ := strings.Cut(string(src), "\npackage")
	if !buildable(header) {
		return p, false
	}
	fields := recipe(string(src))
	if len(fields) == 0 || fields[0] != "run" {
		return p, false
	}
	p = program{Name: name, src: src}
	args := fields[1:]
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-goexperiment", "-godebug":
			p.Env = append(p.Env, map[string]string{"-goexperiment": "GOEXPERIMENT=", "-godebug": "GODEBUG="}[args[0]]+args[1])
			args = args[1:]
		case "-gcflags":
			p.Flags = append(p.Flags, "-gcflags="+args[1])
			args = args[1:]
		default:
			p.Flags = append(p.Flags, args[0])
		}
		args = args[1:]
	}
	p.Args = args
	return p, true
}

// readMore takes the source files among the arguments: `go run` does so too.
func (p *program) readMore(dir string) error {
	for len(p.Args) > 0 && strings.HasSuffix(p.Args[0], ".go") {
		src, err := os.ReadFile(filepath.Join(dir, p.Args[0]))
		if err != nil {
			return err
		}
		p.more, p.Args = append(p.more, src), p.Args[1:]
	}
	return nil
}

// recipe returns the words of the recipe line; quotes group, as in -gcflags='-N -l'.
func recipe(src string) []string {
	for line := range strings.Lines(src) {
		if line = strings.TrimSpace(line); line == "" || constraint.IsGoBuild(line) || constraint.IsPlusBuild(line) {
			continue
		}
		text, isComment := strings.CutPrefix(line, "//")
		if !isComment {
			return nil
		}
		return splitWords(text)
	}
	return nil
}

func splitWords(s string) []string {
	var out []string
	var word strings.Builder
	var quote rune
	flush := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
			word.Reset()
		}
	}
	for _, r := range s {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && (r == ' ' || r == '\t'):
			flush()
		default:
			word.WriteRune(r)
		}
	}
	flush()
	return out
}

// buildable evaluates the build constraints of a header for this platform.
func buildable(header string) bool {
	for line := range strings.Lines(header) {
		expr, err := constraint.Parse(strings.TrimSpace(line))
		if err != nil {
			continue
		}
		if !expr.Eval(hasTag) {
			return false
		}
	}
	return true
}

func hasTag(tag string) bool {
	tags := []string{runtime.GOOS, runtime.GOARCH, "gc", "cgo"}
	if slices.Contains([]string{"linux", "darwin", "freebsd", "netbsd", "openbsd", "solaris"}, runtime.GOOS) {
		tags = append(tags, "unix")
	}
	return slices.Contains(tags, tag) || strings.HasPrefix(tag, "go1.")
}

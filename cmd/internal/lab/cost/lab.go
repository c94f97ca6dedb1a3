package cost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/released"
)

const (
	nats    = "github.com/nats-io/nats-server/v2"
	version = "v2.10.22"
	gvisor  = "v0.0.0-20250205023644-9414b50a5633" // of its branch for the go command, which has checklocks
)

// lab is a copy of the module, the tools, and a build cache of their own.
type lab struct {
	ctx    context.Context
	dir    string // holds all
	tree   string // the copy
	env    []string
	tools  []tool
	module string
	lines  int
	rows   []row
}

// tool is one to be measured.
type tool struct {
	name string
	args []string
	edit string // file to be changed for another row, or ""
}

// row is one line of the table.
type row struct {
	tool, state string
	lines       int // printed
	command.Usage
}

func newLab(ctx context.Context, interlock string) (*lab, error) {
	l := &lab{ctx: ctx, module: nats + "@" + version}
	var err error
	if l.dir, err = os.MkdirTemp("", "interlock-cost-"); err != nil {
		return nil, err
	}
	l.tree = filepath.Join(l.dir, "tree")
	l.env = append(os.Environ(), "GOFLAGS=", "GOWORK=off",
		"GOCACHE="+filepath.Join(l.dir, "cache"), "STATICCHECK_CACHE="+filepath.Join(l.dir, "staticcheck"))
	staticcheck, checklocks := filepath.Join(l.dir, "bin", "staticcheck"), filepath.Join(l.dir, "bin", "checklocks")
	l.tools = []tool{
		{"interlock check", []string{interlock, "check", "./..."}, filepath.Join("server", "sublist.go")},
		{"staticcheck", []string{staticcheck, "./..."}, ""},
		{"checklocks", []string{"go", "vet", "-vettool=" + checklocks, "./..."}, ""},
	}
	if err := l.prepare(staticcheck, checklocks); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *lab) close() error { return os.RemoveAll(l.dir) }

// prepare fetches the module, builds the tools, and compiles the module's
// packages and tests.
func (l *lab) prepare(staticcheck, checklocks string) error {
	l.printLine("fetching " + l.module)
	err := released.Fetch(l.ctx, nats, version, l.tree)
	if err != nil {
		return err
	}
	if l.lines, err = released.Lines(l.tree, true); err != nil {
		return err
	}
	l.printLine("building the tools")
	if _, err := l.output("", "go", "build", "-o", staticcheck, "honnef.co/go/tools/cmd/staticcheck"); err != nil {
		return err
	}
	mod := filepath.Join(l.dir, "checklocks")
	if err := os.MkdirAll(mod, 0o755); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"mod", "init", "example.com/tool"},
		// It asks for a version of x/tools that a new go command cannot compile.
		{"get", "gvisor.dev/gvisor/tools/checklocks/cmd/checklocks@" + gvisor, "golang.org/x/tools@v0.52.0"},
		{"build", "-o", checklocks, "gvisor.dev/gvisor/tools/checklocks/cmd/checklocks"},
	} {
		if _, err := l.output(mod, "go", args...); err != nil {
			return err
		}
	}
	l.printLine("compiling the module")
	_, err = l.output(l.tree, "go", "vet", "./...") // compiles all imports, those of tests included
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = nil // vet's own findings
	}
	return err
}

// measureAll measures each tool in each state.
func (l *lab) measureAll() error {
	for _, t := range l.tools {
		states := []string{"cold", "unchanged"}
		if t.edit != "" {
			states = append(states, "after an edit of "+filepath.ToSlash(filepath.Dir(t.edit)))
		}
		for i, state := range states {
			if i == 2 {
				if err := l.editFile(t.edit); err != nil {
					return err
				}
			}
			l.printLine(t.name + ", " + state)
			r, err := l.measure(t)
			if err != nil {
				return err
			}
			r.state = state
			l.rows = append(l.rows, r)
		}
	}
	return nil
}

// editFile adds a declaration to a file.
func (l *lab) editFile(name string) error {
	f, err := os.OpenFile(filepath.Join(l.tree, name), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\nvar interlockCostEdit int\n")
	return errors.Join(err, f.Close())
}

// measure runs t once. Findings may end it with exit code 1 (2 for vet).
func (l *lab) measure(t tool) (row, error) {
	var stdout, stderr bytes.Buffer
	cmd := l.command(l.tree, t.args[0], t.args[1:]...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	used, err := command.Run(cmd)
	r := row{tool: t.name, Usage: used}
	if exit := new(exec.ExitError); err != nil && (!errors.As(err, &exit) || stdout.Len()+stderr.Len() == 0) {
		return r, fmt.Errorf("running %s: %w", t.name, err)
	}
	r.lines = bytes.Count(stdout.Bytes(), []byte("\n")) + bytes.Count(stderr.Bytes(), []byte("\n"))
	return r, nil
}

func (l *lab) output(dir, name string, args ...string) ([]byte, error) {
	cmd := l.command(dir, name, args...)
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, exit.Stderr)
	}
	return out, err
}

func (l *lab) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(l.ctx, name, args...)
	cmd.Dir, cmd.Env = dir, l.env
	return cmd
}

func (l *lab) printLine(what string) { fmt.Fprintln(os.Stderr, "cost:", what) }

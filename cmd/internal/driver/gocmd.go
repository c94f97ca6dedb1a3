package driver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// oldestGo is the oldest go command that packages are analysed with: that of
// dynamic/build, as its monitor needs it.
const oldestGo = "go1.21"

type output struct{ stdout, stderr []byte }

// goCommand runs the go command; the output is there even if it fails.
func (o *Options) goCommand(ctx context.Context, args ...string) (output, error) {
	return o.watched(ctx, nil, args...)
}

// watched is goCommand; watch, if not nil, sees each piece of output too.
func (o *Options) watched(ctx context.Context, watch *counter, args ...string) (output, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = o.Dir
	cmd.Env = append(os.Environ(), o.Env...)
	if o.Temp != "" {
		cmd.Env = append(cmd.Env, "GOTMPDIR="+o.Temp)
	}
	if o.Dir != "" {
		cmd.Env = append(cmd.Env, "PWD="+o.Dir)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if watch != nil {
		cmd.Stdout, cmd.Stderr = io.MultiWriter(&stdout, watch.stream()), io.MultiWriter(&stderr, watch.stream())
	}
	gocmd.OwnGroup(cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		gocmd.EndGroup(cmd)
	}
	if errors.Is(err, exec.ErrNotFound) {
		return output{}, gocmd.Refuse("there is no go command", "install Go and put it on the PATH")
	}
	return output{stdout.Bytes(), stderr.Bytes()}, err
}

// listed is the output of `go list` about one package.
type listed struct {
	ImportPath   string
	Dir          string
	Standard     bool
	GoFiles      []string
	CgoFiles     []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Module       *struct {
		Path, Dir string
		Main      bool
	}
	Error      *loadError
	DepsErrors []*loadError
	// Files that are in the folder and not in the package.
	IgnoredGoFiles []string
	InvalidGoFiles []string
}

// loadError is why a package cannot be loaded.
type loadError struct {
	ImportStack []string
	Pos, Err    string
}

// String is the go command's own message.
func (e *loadError) String() string {
	if e.Pos != "" {
		return e.Pos + ": " + e.Err
	}
	if len(e.ImportStack) > 1 {
		return "package " + strings.Join(e.ImportStack, "\n\timports ") + ": " + e.Err
	}
	return e.Err
}

// faults are why the package cannot be loaded, or its imports cannot.
func (p *listed) faults() []*loadError {
	if p.Error != nil {
		return append([]*loadError{p.Error}, p.DepsErrors...)
	}
	return p.DepsErrors
}

// there reports whether the pattern names a package at all, be it one that
// cannot be loaded.
func (p *listed) there() bool {
	return p.files()+len(p.IgnoredGoFiles)+len(p.InvalidGoFiles) > 0
}

func (p *listed) files() int { return len(p.names()) }

// names lists the files of the package and of its tests.
func (p *listed) names() []string {
	return slices.Concat(p.GoFiles, p.CgoFiles, p.TestGoFiles, p.XTestGoFiles)
}

// packageList is the packages that the patterns match.
type packageList struct {
	dir      string   // that the go command runs in
	packages []listed // those that can be loaded
	broken   []listed // the others: the go command vets nothing if one is asked for
	modules  []string // main modules among them
	root     string   // of the first of these, or the folder of the go.work in force
	path     string   // of the first of these
	work     bool     // a go.work is in force
	replays  bool     // the go command replays the output for dependencies, too
	// unversioned: the module worked on is the only one without a version. So it is not named to the vet tool, and the go
	// command has the tool's results for the standard library and for released modules from the checks of other modules.
	unversioned bool
}

func listPackages(ctx context.Context, o *Options) (*packageList, error) {
	// Embedded files are looked for only where they are asked for.
	args := []string{"list", "-e", "-json=ImportPath,Dir,Standard,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles," +
		"Imports,TestImports,XTestImports,Module," +
		"Error,DepsErrors,IgnoredGoFiles,InvalidGoFiles,EmbedFiles"}
	out, err := o.goCommand(ctx, append(append(args, o.BuildFlags...), o.Patterns...)...)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, new(*gocmd.ConfigError)):
		return nil, err
	case err != nil:
		return nil, refused(o.Dir, string(out.stderr))
	}
	l := &packageList{dir: o.Dir}
	for dec := json.NewDecoder(bytes.NewReader(out.stdout)); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		if err := l.add(o.Dir, p); err != nil {
			return nil, err
		}
	}
	switch {
	case len(l.packages) == 0 && len(l.broken) > 0:
		return nil, l.unloadable(o.Dir)
	case len(l.packages) == 0:
		return nil, gocmd.Refuse("no package matches "+strings.Join(o.Patterns, " "),
			"name packages of this module, or start Interlock in a folder that has Go files in it or below")
	case len(l.modules) == 0:
		return nil, foreign(l.packages[0], o.Patterns)
	}
	return l, l.rebase(ctx, o)
}

// rebase makes the folder of a go.work the root, as it is for dynamic/build: the
// places of both sides are compared.
func (l *packageList) rebase(ctx context.Context, o *Options) error {
	out, err := o.goCommand(ctx, "env", "-json", "GOWORK", "GOVERSION", "GOMOD", "GOMODCACHE", "GOROOT", "GOFLAGS")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var env environment
	if err == nil {
		err = json.Unmarshal(out.stdout, &env)
	}
	if err != nil {
		return fmt.Errorf("asking the go command for its workspace: %w", err)
	}
	isKnown := version.IsValid(env.GOVERSION)
	if isKnown && version.Compare(env.GOVERSION, oldestGo) < 0 {
		return gocmd.Refuse("the go command is "+env.GOVERSION, "use Go "+strings.TrimPrefix(oldestGo, "go")+" or later")
	}
	l.replays = !isKnown || version.Compare(env.GOVERSION, "go1.26") >= 0
	if work := cmp.Or(o.Work, env.GOWORK); work != "" && work != "off" {
		l.root, l.work = filepath.Dir(work), true
	}
	env.GOFLAGS += " " + strings.Join(o.BuildFlags, " ")
	l.unversioned = !l.work && isKnown && env.showsMain(l.root)
	return nil
}

// commandLine is the package that files named in the request make.
const commandLine = "command-line-arguments"

// foreign returns the error, as dynamic/build words it, that p is of no main module.
func foreign(p listed, patterns []string) error {
	if p.ImportPath == commandLine {
		return gocmd.Refuse("the request names files: "+strings.Join(patterns, " "), "name packages, such as . or ./...")
	}
	return gocmd.Refuse("package "+p.ImportPath+" is not of the module worked on",
		"name packages of this module, or start Interlock in a copy of the other")
}

func (l *packageList) add(dir string, p listed) error {
	if p.Error != nil && !p.there() {
		return refused(dir, p.Error.Err)
	}
	if len(p.faults()) > 0 && p.ImportPath != commandLine {
		l.broken = append(l.broken, p)
		return nil
	}
	l.packages = append(l.packages, p)
	if m := p.Module; m != nil && m.Main && !slices.Contains(l.modules, m.Path) {
		if l.root == "" {
			l.root, l.path = m.Dir, m.Path
		}
		l.modules = append(l.modules, m.Path)
	}
	return nil
}

// unloadable returns the error that no package of the request can be loaded.
func (l *packageList) unloadable(dir string) error {
	for _, p := range l.broken {
		if p.files() > 0 {
			return &CompileError{l.faults()}
		}
	}
	return refused(dir, l.broken[0].faults()[0].Err)
}

// faults is why packages cannot be loaded, as the go command says it, each
// fault once.
func (l *packageList) faults() string {
	var said []string
	for _, p := range l.broken {
		for _, f := range p.faults() {
			if line := f.String() + "\n"; !slices.Contains(said, line) {
				said = append(said, line)
			}
		}
	}
	return strings.Join(said, "")
}

// patterns are the packages that the go command is to vet: those that the user named,
// or those that can be loaded, if some cannot.
func (l *packageList) patterns(o *Options) []string {
	if len(l.broken) == 0 {
		return o.Patterns
	}
	var paths []string
	for _, p := range l.packages {
		paths = append(paths, p.ImportPath)
	}
	return paths
}

// refused returns the error for a message of the go command in dir.
func refused(dir, said string) error {
	return gocmd.RefuseList(dir, said, "name packages of this module, such as ./...")
}

package build

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/dynamic"
	"github.com/interlock-go/interlock/dynamic/build/internal/store"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// Binary is the instrumented test binary of a package.
type Binary struct {
	Package string // import path
	Dir     string // where its tests run
	Path    string // the binary; "" for a package without test files
	// Monitored reports whether the monitor is linked in: some code that the tests
	// are built from has been rewritten.
	Monitored bool
}

// BuildTests builds the test binaries of the named packages, in their order.
// A file that does not compile once rewritten is left as it is and shows in
// [Workspace.LeftAlone]; the compiler's output is kept in the user's cache
// directory. Packages with originals that do not build either are left out, which
// shows in [Module.Uncompiled]. It returns a *CompileError if all are such, and
// a *RewriteError if leaving files alone does not help.
func (ws *Workspace) BuildTests(ctx context.Context) ([]Binary, error) {
	for {
		bins, output, err := ws.buildOnce(ctx)
		if err == nil {
			return bins, nil
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return nil, fmt.Errorf("building tests: %w", err)
		}
		if !ws.exact {
			err = ws.fallBack(ctx, output)
		} else if left, other := ws.leaveUnbuildable(ctx); !left { // nothing is rewritten that could be left alone
			err = cmp.Or(other, exactRefused(output))
		} else {
			err = other
		}
		if err != nil {
			return nil, err
		}
	}
}

// buildOnce builds in as few calls of the go command as there are packages of
// one binary name, one nearly always.
func (ws *Workspace) buildOnce(ctx context.Context) ([]Binary, []byte, error) {
	var bins []Binary
	byDir := map[string][]string{} // output folder -> packages
	for i, t := range ws.Module.Tests {
		bins = append(bins, Binary{Package: t.Package, Dir: t.Dir})
		if !t.None {
			bins[i].Path = ws.place(t.Package, bins[:i])
			ws.bin.Check(bins[i].Path)
			dir := filepath.Dir(bins[i].Path)
			byDir[dir] = append(byDir[dir], t.Package)
		}
	}
	for _, dir := range store.SortedKeys(byDir) {
		if output, err := ws.goTest(ctx, dir, byDir[dir]); err != nil {
			return nil, output, err
		}
	}
	for i := range bins {
		b := &bins[i]
		if b.Path == "" {
			continue
		}
		data, err := os.ReadFile(b.Path)
		if err != nil {
			return nil, nil, fmt.Errorf("the go command built no test binary for %s: %w", b.Package, err)
		}
		ws.bin.Record(b.Path, data)
		// The runtime's function table has the names of all functions.
		b.Monitored = ws.exact || bytes.Contains(data, []byte(dynamic.MonitorPath+"."))
	}
	return bins, nil, nil
}

// place returns the path that the go command will give a test binary, in a
// folder where none of those before has the same name.
func (ws *Workspace) place(pkg string, before []Binary) string {
	for n := 0; ; n++ {
		file := filepath.Join(ws.bin.Dir, fmt.Sprint(n), binaryName(pkg))
		if !slices.ContainsFunc(before, func(b Binary) bool { return strings.EqualFold(b.Path, file) }) {
			return file
		}
	}
}

var majorVersion = regexp.MustCompile(`^v([2-9]|[1-9][0-9]+)$`)

// binaryName is the go command's name for a package's test binary: the last
// element of its import path that is not a major version.
func binaryName(pkg string) string {
	dir, elem := path.Split(pkg)
	if dir != "" && majorVersion.MatchString(elem) {
		elem = path.Base(dir)
	}
	if filepath.Separator == '\\' {
		return elem + ".test.exe"
	}
	return elem + ".test"
}

func (ws *Workspace) goTest(ctx context.Context, out string, pkgs []string) ([]byte, error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder for test binaries: %w", err)
	}
	// Rewritten files are not for vet to judge.
	args := []string{"test", "-c", "-vet=off", "-o", out + string(filepath.Separator)}
	args = slices.Concat(args, ws.exactFlags(gocmd.StripDebug(gocmd.WithoutMod(ws.Module.flags), ws.Module.goFlags)), pkgs)
	g := ws.Module.goTool
	g.Env = gocmd.Setenv(g.Env, ws.Env()...)
	if setting := ws.Module.leakSwitch.env; setting != "" {
		g.Env = gocmd.Setenv(g.Env, setting)
	}
	_, msg, err := g.Run(ctx, args...)
	return msg, err
}

// fallBack leaves the rewritten files alone that the compiler complains about;
// where it names none, the monitor is brought in another way.
func (ws *Workspace) fallBack(ctx context.Context, output []byte) error {
	if left, err := ws.leaveUnbuildable(ctx); left || err != nil {
		return err
	}
	named := ws.namedIn(output)
	if len(named) == 0 {
		if again, err := ws.overlayGoMod(); again || err != nil {
			return err
		}
	}
	kept, err := ws.keep(named, output)
	if err != nil { // the go command's output comes first: a full disk may be the cause of both
		return &RewriteError{strings.TrimRight(string(output), "\n") + "\n" + err.Error(), "what follows"}
	}
	if len(named) == 0 {
		return &RewriteError{string(output), kept}
	}
	for file, why := range named {
		ws.leave(file, fmt.Sprintf("internal error: does not compile once rewritten (%s); please report it with %s",
			why, kept))
	}
	return ws.writeOverlay()
}

// leaveUnbuildable takes the packages out of the tests with code of their own that does
// not build, and reports whether there are some. Their types were checked while
// loading; another fault is, for one, a function without a body.
func (ws *Workspace) leaveUnbuildable(ctx context.Context) (bool, error) {
	if output, err := ws.buildOriginals(ctx, ws.Module.Tests...); err != nil || output == "" {
		return false, err
	}
	var said string
	var tests []Test
	for _, t := range ws.Module.Tests {
		output, err := ws.buildOriginals(ctx, t)
		if err != nil {
			return false, err
		}
		if said += output; output == "" {
			tests = append(tests, t)
		}
	}
	if len(tests) == 0 {
		return false, &CompileError{said}
	}
	ws.Module.Tests, ws.Module.Uncompiled = tests, ws.Module.Uncompiled+said
	return true, nil
}

// Complaint is why go test would not run the tests of a package, in the words of the go command.
type Complaint struct {
	Package, Text string
	Unbuilt       bool // they do not build, for one since the linker fails; else go vet fails
}

// VetTests builds the packages' originals, and runs vet on them, as go test does before it
// runs their tests: value is that of go test's -vet, "" for its default.
func (ws *Workspace) VetTests(ctx context.Context, value string) ([]Complaint, error) {
	if value == "" {
		if fine, err := ws.vetsClean(ctx); fine || err != nil {
			return nil, err
		}
	}
	var flags []string
	if value != "" {
		flags = append(flags, "-vet="+value)
	}
	if said, err := ws.compile(ctx, flags, ws.Module.Tests...); said == "" || err != nil {
		return nil, err
	}
	// One by one: the go command does not name the package of each line.
	var all []Complaint
	for _, t := range ws.Module.Tests {
		said, err := ws.compile(ctx, flags, t)
		if err != nil {
			return nil, err
		}
		if said == "" {
			continue
		}
		without, err := ws.buildOriginals(ctx, t)
		if err != nil {
			return nil, err
		}
		all = append(all, Complaint{t.Package, said, without != ""})
	}
	return all, nil
}

// testVet lists the analyzers that go test runs by default. A go command that has others, or does not know one of
// these, answers with an error, and the tests are then built.
var testVet = []string{
	"-atomic", "-bool", "-buildtags", "-directive", "-errorsas", "-ifaceassert", "-nilfunc", "-printf", "-slog",
	"-stringintconv", "-tests",
}

// vetsClean reports whether go vet prints nothing about the packages' originals, with the analyzers that go test runs.
// It links nothing, and the go command has the answers of an earlier go vet or go test in its cache. Missed: originals
// that the linker alone refuses, where it takes the monitored ones.
func (ws *Workspace) vetsClean(ctx context.Context) (bool, error) {
	args := named(slices.Concat([]string{"vet"}, testVet, ws.Module.flags), ws.Module.Tests)
	_, _, err := ws.Module.goTool.Run(ctx, args...)
	if errors.As(err, new(*exec.ExitError)) {
		return false, nil
	}
	return err == nil, err
}

// named returns args with the packages of tests behind them.
func named(args []string, tests []Test) []string {
	for _, t := range tests {
		if !t.None {
			args = append(args, t.Package)
		}
	}
	return args
}

// buildOriginals builds tests as the user has them, and returns the output of
// the compiler if it failed.
func (ws *Workspace) buildOriginals(ctx context.Context, tests ...Test) (string, error) {
	return ws.compile(ctx, []string{"-vet=off"}, tests...)
}

// compile builds the originals of tests, keeps nothing of them, and returns the output
// of the go command if it failed.
func (ws *Workspace) compile(ctx context.Context, flags []string, tests ...Test) (string, error) {
	args := slices.Concat([]string{"test", "-c", "-o", os.DevNull}, flags, ws.Module.flags)
	n := len(args)
	if args = named(args, tests); len(args) == n {
		return "", nil
	}
	_, msg, err := ws.Module.goTool.Run(ctx, args...)
	if errors.As(err, new(*exec.ExitError)) {
		return strings.TrimRight(string(msg), "\n") + "\n", nil
	}
	return "", err
}

var messagePosition = regexp.MustCompile(`(?m)^(.+?\.go):[0-9]+(?::[0-9]+)?: (.*)$`)

// namedIn returns the rewritten files that messages of the compiler name, with
// the first message for each. The go command shortens paths to relative ones.
func (ws *Workspace) namedIn(output []byte) map[string]string {
	named := map[string]string{}
	for _, m := range messagePosition.FindAllStringSubmatch(string(output), -1) {
		file := absolute(ws.Module.goTool.Dir, m[1])
		if _, ok := ws.sources[file]; ok && named[file] == "" {
			named[file] = m[2]
		}
	}
	return named
}

// keep copies the faulty files, all rewritten ones if none is named.
func (ws *Workspace) keep(named map[string]string, output []byte) (string, error) {
	files := map[string][]byte{}
	for file, original := range ws.sources {
		if len(named) > 0 && named[file] == "" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("keeping the rewritten files for a report: %w", err)
		}
		files[strings.ReplaceAll(ws.Module.Rel(original), "../", "_/")+".txt"] = data
	}
	return store.KeepFault(ws.cache, ws.Dir, files, output)
}

// RewriteError reports that the original compiles and the rewritten code does
// not, even with the files that the compiler named left as they were: a fault
// of Interlock, never of the user. The command line ends with code 3.
type RewriteError struct {
	Output string // of the go command
	Kept   string // folder that holds the rewritten files and the output, or "what follows" if they could not be kept
}

func (e *RewriteError) Error() string {
	return "internal error: rewritten code does not compile, please report it with " + e.Kept + ":\n" +
		strings.TrimRight(e.Output, "\n")
}

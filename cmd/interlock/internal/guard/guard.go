// Package guard runs a command, and finds the files that it has changed although its command line names them as no
// output. The scripts of cmd/interlock start it in place of interlock.
package guard

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ExitTouched is an exit code that no command of interlock has.
const ExitTouched = 99

// Run runs the binary and returns its exit code, or ExitTouched and a sentence
// for each name below work that it may not change and has changed.
func Run(binary, work string, args []string) (code int, faults []string) {
	before, err := ReadTree(work)
	if err != nil {
		return ExitTouched, []string{err.Error()}
	}
	cmd := exec.Command(binary, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// Ctrl-C is for the real one to obey.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		return ExitTouched, []string{err.Error()}
	}
	go func() {
		for s := range signals {
			cmd.Process.Signal(s)
		}
	}()
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return ExitTouched, []string{err.Error()}
	}
	after, err := ReadTree(work)
	if err != nil {
		return ExitTouched, []string{err.Error()}
	}
	if faults := outputsOf(args).refuse(differences(before, after), before, after); len(faults) > 0 {
		return ExitTouched, faults
	}
	return cmd.ProcessState.ExitCode(), nil
}

// Tree holds everything below a folder except .tmp, by absolute path.
type Tree map[string]entry

// entry is a file of a tree: its kind, permissions and content.
type entry struct {
	mode    fs.FileMode
	content string // checksum of a regular file, target of a link
}

// ReadTree returns what is below dir. Links are not followed.
func ReadTree(dir string) (Tree, error) {
	tree := Tree{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == filepath.Join(dir, ".tmp") {
			return filepath.SkipDir
		}
		// A file is what it holds, a link where it leads.
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := entry{mode: info.Mode()}
		switch {
		case e.mode.IsRegular():
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			e.content = fmt.Sprintf("%x", sha256.Sum256(data))
		case e.mode.Type() == fs.ModeSymlink:
			if e.content, err = os.Readlink(name); err != nil {
				return err
			}
		}
		tree[name] = e
		return nil
	})
	return tree, err
}

// Changes returns a sentence for each name whose entry is another in the tree after it.
func (before Tree) Changes(after Tree) []string {
	return outputs{}.refuse(differences(before, after), before, after)
}

// differences returns the names that are there in one of the trees only, or
// whose entries differ, in order.
func differences(before, after Tree) []string {
	names := map[string]bool{}
	for name, e := range before {
		if other, there := after[name]; !there || other != e {
			names[name] = true
		}
	}
	for name := range after {
		if _, there := before[name]; !there {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// outputs are what a command line names to be written.
type outputs struct {
	write bool // the sources, interlock.sections, or the baseline
	paths []string
}

// outputsOf reads what is documented to write: -w, -o, -record, env's -dir, go test's
// -coverprofile behind the packages, campaign merge, baseline write and init.
func outputsOf(args []string) (o outputs) {
	dir := ""
	path := func(s string) error {
		o.paths = append(o.paths, s)
		return nil
	}
	o.write = len(args) > 1 && args[0] == "baseline" && args[1] == "write" || len(args) > 0 && args[0] == "init"
	if len(args) > 2 && args[0] == "campaign" && args[1] == "merge" {
		path(args[2])
	}
	// A flag has its value behind = or in the next argument.
	for i, arg := range args {
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		if !given && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case !strings.HasPrefix(arg, "-"):
		case name == "w":
			o.write = true
		case name == "C":
			dir = value
		case name == "o" && slices.Contains([]string{"audit", "bot", "build"}, args[0]):
			path(value)
		case name == "o":
			_, value, _ = strings.Cut(value, ":")
			path(value)
		case name == "dir" || name == "coverprofile" || name == "record":
			path(value)
		}
	}
	if len(args) > 0 && args[0] == "audit" && len(o.paths) == 0 {
		path("interlock-audit")
	}
	for i, p := range o.paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		o.paths[i], _ = filepath.Abs(p)
	}
	return o
}

// refuse returns a sentence for each changed name that is no output. With -w
// the contents of files may change, and nothing else about them; and
// interlock.sections may be new.
func (o outputs) refuse(changed []string, before, after Tree) []string {
	var refused []string
	for _, name := range changed {
		was, there := before[name]
		is, left := after[name]
		switch {
		case slices.ContainsFunc(o.paths, func(p string) bool {
			return name == p || strings.HasPrefix(name, p+string(filepath.Separator))
		}):
		case o.write && there && was.mode.IsRegular() && is.mode == was.mode:
		case o.write && !there && slices.Contains(
			[]string{"interlock.sections", ".interlock-baseline.json", ".interlock.yml"}, filepath.Base(name)):
		case !there:
			refused = append(refused, name+" is new")
		case !left:
			refused = append(refused, name+" is gone")
		case was.mode != is.mode:
			refused = append(refused, fmt.Sprintf("%s has mode %v instead of %v", name, is.mode, was.mode))
		default:
			refused = append(refused, name+" has changed")
		}
	}
	return refused
}

package main

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
	"testing"
)

// The guard stands on PATH in place of interlock: it runs the real one, and
// fails if anything below $WORK is another afterwards that the command line
// does not name as an output. Scripts start it as they would start interlock,
// from a shell too. Tests that are run may write to $WORK/.tmp, where scripts
// have their temporary files by default.

// Variables that the guard is run with, beside $WORK.
const (
	guardedBinary = "GUARDED_BINARY" // the real interlock
	guardReport   = "GUARD_REPORT"   // a file outside of $WORK that differences are appended to
)

// exitTouched is an exit code that no command of interlock has.
const exitTouched = 99

// guard is the main function of the guard.
func guard() {
	args := os.Args[1:]
	code, faults := guarded(os.Getenv(guardedBinary), os.Getenv("WORK"), args)
	if len(faults) > 0 {
		complain(os.Getenv(guardReport),
			fmt.Sprintf("guard: interlock %s:\n\t%s\n", strings.Join(args, " "), strings.Join(faults, "\n\t")))
	}
	syscall.Exit(code) // under -race, os.Exit sleeps for a second: longer than most commands take
}

// guarded runs the binary and returns its exit code, or exitTouched and what is
// wrong if it has changed what it may not change below work.
func guarded(binary, work string, args []string) (code int, faults []string) {
	before, err := readTree(work)
	if err != nil {
		return exitTouched, []string{err.Error()}
	}
	cmd := exec.Command(binary, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// Ctrl-C is for the real one to obey.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		return exitTouched, []string{err.Error()}
	}
	go func() {
		for s := range signals {
			cmd.Process.Signal(s)
		}
	}()
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return exitTouched, []string{err.Error()}
	}
	after, err := readTree(work)
	if err != nil {
		return exitTouched, []string{err.Error()}
	}
	if faults := outputsOf(args).refuse(differences(before, after), before, after); len(faults) > 0 {
		return exitTouched, faults
	}
	return cmd.ProcessState.ExitCode(), nil
}

// complain writes the text to the report too, where no script can pass it by.
func complain(report, text string) {
	fmt.Fprint(os.Stderr, text)
	f, err := os.OpenFile(report, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
	}
}

// entry is a file of a tree: its kind and permissions, and what it holds.
type entry struct {
	mode    fs.FileMode
	content string // checksum of a regular file, target of a link
}

// readTree returns everything below dir except .tmp, by absolute path. Links
// are not followed.
func readTree(dir string) (map[string]entry, error) {
	tree := map[string]entry{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == filepath.Join(dir, ".tmp") {
			return filepath.SkipDir
		}
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

// differences returns the names that are there in one of the trees only, or
// whose entries differ, in order.
func differences(before, after map[string]entry) []string {
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
func (o outputs) refuse(changed []string, before, after map[string]entry) []string {
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

// The guard fails for each kind of change, and for no other.
func TestGuard(t *testing.T) {
	for _, tt := range []struct {
		does, args, want string
	}{
		{does: "cat file >/dev/null", args: "check"},
		{does: "exit 3", args: "check"},
		{does: "echo >>file", args: "fix", want: "file has changed"},
		{does: "touch new", args: "test", want: "new is new"},
		{does: "mkdir new", args: "test", want: "new is new"},
		{does: "rm file", args: "plan", want: "file is gone"},
		{does: "chmod 600 file", args: "plan", want: "file has mode"},
		{does: "ln -sfn other link", args: "env", want: "link has changed"},
		{does: "cp file copy; rm link; mv copy link", args: "fix -w", want: "link has mode"},
		{does: "echo >>file", args: "fix -w"},
		{does: "touch new", args: "fix -w", want: "new is new"},
		{does: "chmod 600 file", args: "fix -w", want: "file has mode"},
		{does: "touch interlock.sections", args: "sections refresh -w"},
		{does: "touch interlock.sections", args: "sections refresh", want: "interlock.sections is new"},
		{does: "touch r.sarif", args: "check -o sarif:r.sarif"},
		{does: "touch r.sarif", args: "check -o sarif:other.sarif", want: "r.sarif is new"},
		{does: "mkdir d; touch d/x", args: "env -dir=d"},
		{does: "mkdir d; touch d/x", args: "audit -o d"},
		{does: "touch program", args: "build -o program ."},
		{does: "mkdir interlock-audit", args: "audit"},
		{does: "touch new", args: "audit -o d", want: "new is new"},
		{does: "mkdir .tmp; touch .tmp/x", args: "test"},
		{does: "touch c.out", args: "test ./... -- -coverprofile c.out"},
	} {
		t.Run(tt.does+" in "+tt.args, func(t *testing.T) {
			work, bin := t.TempDir(), t.TempDir()
			t.Chdir(work)
			for name, text := range map[string]string{"file": "text", "other": ""} {
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("file", "link"); err != nil {
				t.Skip(err)
			}
			binary := filepath.Join(bin, "interlock")
			if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+tt.does+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			code, faults := guarded(binary, work, strings.Fields(tt.args))
			said := strings.Join(faults, "\n")
			if tt.want == "" {
				if want := map[bool]int{true: 3}[tt.does == "exit 3"]; code != want || said != "" {
					t.Errorf("exit code %d, want %d: %s", code, want, said)
				}
			} else if code != exitTouched || !strings.Contains(said, tt.want) {
				t.Errorf("exit code %d, %q; want %d and %q", code, said, exitTouched, tt.want)
			}
		})
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"

	"github.com/interlock-go/interlock/cmd/internal/released"
)

// lab is the place where modules are tried: a temporary folder, and what the
// commands have in common.
type lab struct {
	ctx context.Context
	options
	tmp string
	env []string
}

// newLab keeps the test binaries out of Interlock's folder in the user's
// cache, where systems have a variable for that. The go command keeps its own.
func newLab(ctx context.Context, o options) (*lab, error) {
	interlock, err := filepath.Abs(o.interlock)
	if err != nil {
		return nil, err
	}
	o.interlock = interlock
	cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("looking for the build cache: %w", err)
	}
	tmp, err := os.MkdirTemp("", "interlock-strangers-")
	if err != nil {
		return nil, err
	}
	env := append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOCACHE="+strings.TrimSpace(string(cache)), "XDG_CACHE_HOME="+filepath.Join(tmp, "cache"))
	return &lab{ctx, o, tmp, env}, nil
}

func (l *lab) close() error { return os.RemoveAll(l.tmp) }

// try fetches a module, tests it plainly, and runs Interlock's commands on it.
func (l *lab) try(m stranger) (*result, error) {
	r := &result{Module: m.path, Version: m.version}
	prefix, _, _ := module.SplitPathVersion(m.path)
	dir := filepath.Join(l.tmp, path.Base(prefix)) // some tests expect the repository's name
	defer os.RemoveAll(dir)
	err := l.lay(m, dir)
	if err != nil {
		return nil, err
	}
	if r.Lines, err = released.Lines(dir, true); err != nil {
		return nil, err
	}
	// Compiled before, so that no time below is that of dependencies.
	if _, err := l.output(dir, append([]string{"vet"}, m.what()...)...); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return nil, err
	}
	if r.Plain, err = l.plain(m, dir); err != nil {
		return nil, err
	}
	if r.Check, err = l.interlock(m, dir, "check", m.what()); err != nil {
		return nil, err
	}
	runs := []string{fmt.Sprintf("-runs=%d", runs), "-seed=1"}
	if r.Test, err = l.interlock(m, dir, "test", append(runs, m.whatAndFlags()...)); err != nil {
		return nil, err
	}
	if r.Test.count("confirmed") > 0 {
		if r.Fix, err = l.interlock(m, dir, "fix", append(runs, m.whatAndFlags()...)); err != nil {
			return nil, err
		}
	}
	r.blame()
	return r, nil
}

// runs is how many monitored ones test and fix make.
const runs = 5

// lay puts the module's tree into dir: nested modules of the same repository at
// their places, a go.mod where it has none, and what it imports into vendor if
// it is to be tried so.
func (l *lab) lay(m stranger, dir string) error {
	if err := released.Fetch(l.ctx, m.path, m.version, dir); err != nil {
		return err
	}
	for folder, version := range m.nested {
		if err := released.Fetch(l.ctx, m.path+"/"+folder, version, filepath.Join(dir, filepath.FromSlash(folder))); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
		// Of the version before modules were the rule.
		for _, args := range [][]string{{"mod", "init", m.path}, {"mod", "edit", "-go=1.13"}, {"mod", "tidy"}} {
			if _, err := l.output(dir, args...); err != nil {
				return err
			}
		}
	}
	if m.vendor {
		_, err := l.output(dir, "mod", "vendor")
		return err
	}
	return nil
}

// output runs the go command and returns what it prints; its words are in the
// error.
func (l *lab) output(dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(l.ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(l.env, "PWD="+dir)
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	return out, err
}

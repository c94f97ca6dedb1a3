package strangers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"

	"golang.org/x/mod/module"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/released"
)

// lab is the place where modules are tried: a temporary folder, and the options
// that the commands have in common.
type lab struct {
	ctx context.Context
	options
	tmp string
	env []string // added to that of this process
}

// newLab returns a lab. Its Interlock keeps test binaries in the temporary
// folder.
func newLab(ctx context.Context, o options) (*lab, error) {
	var err error
	if o.interlock, err = command.Interlock(o.interlock); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "interlock-strangers-")
	if err != nil {
		return nil, err
	}
	env, err := command.OwnCache(ctx, tmp)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	return &lab{ctx, o, tmp, append(env, "GOWORK=off", "GOFLAGS=")}, nil
}

func (l *lab) close() error { return os.RemoveAll(l.tmp) }

// tryModule fetches a module, tests it plainly, and runs Interlock's commands on it.
func (l *lab) tryModule(m stranger) (*result, error) {
	r := &result{Module: m.path, Version: m.version}
	prefix, _, _ := module.SplitPathVersion(m.path)
	dir := filepath.Join(l.tmp, path.Base(prefix)) // some tests expect the repository's name
	defer os.RemoveAll(dir)
	err := l.layTree(m, dir)
	if err != nil {
		return nil, err
	}
	if r.Lines, err = released.Lines(dir, true); err != nil {
		return nil, err
	}
	// Compiled before, so that no time below is that of dependencies.
	if _, err := l.output(dir, append([]string{"vet"}, m.patterns()...)...); err != nil &&
		!errors.As(err, new(*exec.ExitError)) {
		return nil, err
	}
	if r.Plain, err = l.runPlainTests(m, dir); err != nil {
		return nil, err
	}
	if r.Check, err = l.interlock(m, dir, "check", m.patterns()); err != nil {
		return nil, err
	}
	runs := []string{fmt.Sprintf("-runs=%d", runs), "-seed=1"}
	if r.Test, err = l.interlock(m, dir, "test", append(runs, m.patternsAndFlags()...)); err != nil {
		return nil, err
	}
	if r.Test.countFindings("confirmed") > 0 {
		if r.Fix, err = l.interlock(m, dir, "fix", append(runs, m.patternsAndFlags()...)); err != nil {
			return nil, err
		}
	}
	r.findFaults()
	return r, nil
}

// runs is how many monitored ones test and fix make.
const runs = 5

// layTree puts the module's tree into dir: nested modules of the same repository at
// their places, a go.mod where it has none, and its imports in vendor if
// it is to be tried so.
func (l *lab) layTree(m stranger, dir string) error {
	if err := released.Fetch(l.ctx, m.path, m.version, dir); err != nil {
		return err
	}
	for folder, version := range m.nested {
		at := filepath.Join(dir, filepath.FromSlash(folder))
		if err := released.Fetch(l.ctx, m.path+"/"+folder, version, at); err != nil {
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

// output runs the go command in a module.
func (l *lab) output(dir string, args ...string) ([]byte, error) {
	return command.Go(l.ctx, dir, l.env, args...)
}

package build

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// goCommand runs the go command in a folder with an environment.
type goCommand struct {
	dir  string
	env  []string
	name string // of the program; "" is go on PATH
}

// run returns standard output and standard error. A command that exits with
// another code than 0 yields an *exec.ExitError.
func (g goCommand) run(ctx context.Context, args ...string) (stdout, stderr []byte, err error) {
	g, done := g.tidy()
	defer done()
	cmd := exec.CommandContext(ctx, cmp.Or(g.name, "go"), args...)
	cmd.Dir = g.dir
	// The go command takes its folder from PWD where that names it, so that
	// paths through symbolic links stay as the user writes them.
	cmd.Env = append(slices.Clip(g.env), "PWD="+g.dir)
	// Interrupted, it ends what it has started; killed, it would not.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = interruptGrace
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		err = &ConfigError{"no go command found", "install Go or put it on PATH"}
	}
	return out.Bytes(), msg.Bytes(), err
}

// interruptGrace is how long the go command may take to end once it is
// interrupted, until it is killed.
const interruptGrace = 5 * time.Second

// tidy returns a go command that makes its temporary folders in one of ours,
// which done removes: interrupted while it builds, it leaves them. Where there
// can be no such folder, it is left to do as it does.
func (g goCommand) tidy() (tidied goCommand, done func()) {
	dir, remove, err := TempDir(g.env)
	if err != nil {
		return g, func() {}
	}
	g.env = setenv(g.env, "GOTMPDIR="+dir)
	return g, func() { remove() }
}

// TempDir makes a folder for the GOTMPDIR of a go command that is run with
// env. The caller removes it; what a killed process left is removed when the
// next one starts.
func TempDir(env []string) (dir string, remove func() error, err error) {
	base := os.TempDir()
	for _, v := range env {
		if set, ok := strings.CutPrefix(v, "GOTMPDIR="); ok && set != "" {
			base = set
		}
	}
	s, err := newScratch(base)
	if err != nil {
		return "", nil, err
	}
	return s.dir, s.close, nil
}

// goEnv is what the go command says of itself in the user's folder.
type goEnv struct {
	GOFLAGS    string
	GOMOD      string
	GOWORK     string
	GOVERSION  string
	GOMODCACHE string
	GOROOT     string
	GOOS       string
	GOARCH     string
	// GOEXPERIMENT is as the user has set it, without the toolchain's own.
	GOEXPERIMENT string
}

func (g goCommand) environment(ctx context.Context) (goEnv, error) {
	var e goEnv
	out, msg, err := g.run(ctx, "env", "-json",
		"GOFLAGS", "GOMOD", "GOWORK", "GOVERSION", "GOMODCACHE", "GOROOT", "GOOS", "GOARCH", "GOEXPERIMENT")
	if err != nil {
		return e, goFailed("asking the go command for its environment", msg, err)
	}
	if err := json.Unmarshal(out, &e); err != nil {
		return e, fmt.Errorf("reading go env: %w", err)
	}
	return e, nil
}

// goFailed joins what was tried, what the go command printed and how it ended.
func goFailed(doing string, msg []byte, err error) error {
	if text := strings.TrimSpace(string(msg)); text != "" {
		return fmt.Errorf("%s: %w: %s", doing, err, text)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// setenv returns env with the variables set, later ones winning.
func setenv(env []string, vars ...string) []string {
	return append(slices.Clip(env), vars...)
}

// below reports whether path lies in dir or is dir, and returns the slash path
// of it relative to dir.
func below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

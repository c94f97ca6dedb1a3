// Package gocmd runs the go command, and knows which of its flags an instrumented
// build cannot obey.
package gocmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/scratch"
)

// Command runs the go command in a folder with an environment.
type Command struct {
	Dir  string
	Env  []string
	Name string // of the program; "" is go on PATH
}

// Run returns standard output and standard error. A command that exits with
// another code than 0 yields an *exec.ExitError.
func (g Command) Run(ctx context.Context, args ...string) (stdout, stderr []byte, err error) {
	g, done := g.Tidy()
	defer done()
	cmd := exec.CommandContext(ctx, cmp.Or(g.Name, "go"), args...)
	cmd.Dir = g.Dir
	// The go command takes its folder from PWD where that names it, so that
	// paths through symbolic links stay as the user writes them.
	cmd.Env = append(slices.Clip(g.Env), "PWD="+g.Dir)
	OwnGroup(cmd)
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		EndGroup(cmd)
		err = ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		err = &ConfigError{"no go command found", "install Go or put it on PATH"}
	}
	return out.Bytes(), msg.Bytes(), err
}

// interruptGrace is how long the go command may take to end once it is interrupted, until it is killed with all that it
// has started: together well below the two seconds after which an interrupted command of ours has ended.
const interruptGrace = time.Second

// Tidy returns a go command that makes its temporary folders in one of ours,
// which done removes: interrupted while it builds, it leaves them. Where there
// can be no such folder, it is left to do as it does.
func (g Command) Tidy() (tidied Command, done func()) {
	dir, remove, err := scratch.TempDir(g.Env)
	if err != nil {
		return g, func() {}
	}
	g.Env = Setenv(g.Env, "GOTMPDIR="+dir)
	return g, func() { remove() }
}

// Env has the settings of the go command in the user's folder.
type Env struct {
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

// Environment asks the go command for its own.
func (g Command) Environment(ctx context.Context) (Env, error) {
	var e Env
	out, msg, err := g.Run(ctx, "env", "-json",
		"GOFLAGS", "GOMOD", "GOWORK", "GOVERSION", "GOMODCACHE", "GOROOT", "GOOS", "GOARCH", "GOEXPERIMENT")
	if err != nil && bytes.Contains(msg, []byte("go: download go")) {
		said := strings.Join(strings.Fields(string(msg)), " ")
		return e, Refuse("the go command cannot fetch the release of Go that is asked for: "+said,
			"set GOTOOLCHAIN=local, or to a release that is there")
	}
	if err != nil {
		return e, Failed("asking the go command for its environment", msg, err)
	}
	if err := json.Unmarshal(out, &e); err != nil {
		return e, fmt.Errorf("reading go env: %w", err)
	}
	return e, nil
}

// Failed joins the attempt, the output of the go command and its end into one error.
func Failed(doing string, msg []byte, err error) error {
	if text := strings.TrimSpace(string(msg)); text != "" {
		return fmt.Errorf("%s: %w: %s", doing, err, text)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Setenv returns env with the variables set, later ones winning.
func Setenv(env []string, vars ...string) []string {
	return append(slices.Clip(env), vars...)
}

// Below reports whether path lies in dir or is dir, and returns the slash path
// of it relative to dir.
func Below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// ConfigError reports that the request cannot be served as it stands, and the next
// step, on one line. The command line ends with code 2.
type ConfigError struct {
	Problem string
	Next    string // the next step of the user
}

// Refuse returns a [ConfigError].
func Refuse(problem, next string) *ConfigError { return &ConfigError{problem, next} }

// Error returns the problem and the next step.
func (e *ConfigError) Error() string { return e.Problem + "; " + e.Next }

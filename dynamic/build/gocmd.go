package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goCommand runs the go command in a folder with an environment.
type goCommand struct {
	dir string
	env []string
}

// run gives standard output and standard error. A command that exits with
// another code than 0 gives an *exec.ExitError.
func (g goCommand) run(ctx context.Context, args ...string) (stdout, stderr []byte, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = g.dir
	// The go command takes its folder from PWD where that names it, so that
	// paths through symbolic links stay as the user writes them.
	cmd.Env = append(slices.Clip(g.env), "PWD="+g.dir)
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

// goEnv is what the go command says of itself in the user's folder.
type goEnv struct {
	GOFLAGS    string
	GOMOD      string
	GOWORK     string
	GOVERSION  string
	GOMODCACHE string
	GOROOT     string
}

func (g goCommand) environment(ctx context.Context) (goEnv, error) {
	var e goEnv
	out, msg, err := g.run(ctx, "env", "-json", "GOFLAGS", "GOMOD", "GOWORK", "GOVERSION", "GOMODCACHE", "GOROOT")
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

// setenv gives env with the variables set, later ones winning.
func setenv(env []string, vars ...string) []string {
	return append(slices.Clip(env), vars...)
}

// below reports whether path lies in dir or is dir, and gives the slash path
// of it relative to dir.
func below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/cache"
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/scratch"
)

// PrepareLasting is [Prepare] for a build that outlives this process: the
// variables of [Workspace.Env] hold after Close. dir takes its files, as
// [LastingFolder] has it.
func PrepareLasting(ctx context.Context, dir string, m *Module, p *plan.Plan) (*Workspace, error) {
	dir, err := LastingFolder(dir, m.Root)
	if err != nil {
		return nil, err
	}
	return prepareIn(ctx, &scratch.Folder{Dir: dir}, m, p, true)
}

// LastingFolder makes the folder of a build that outlives this process. dir must
// be empty, or not there yet. "" is a new folder in the user's cache for the module
// at root; those that nobody has written to for 14 days are removed.
func LastingFolder(dir, root string) (string, error) {
	if dir == "" {
		var err error
		if dir, err = newLasting(root); err != nil {
			return "", err
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the folder: %w", err)
	}
	if there, _ := os.ReadDir(dir); len(there) > 0 {
		return "", gocmd.Refuse(dir+" is not empty",
			"name an empty folder, or one that is not there yet; evidence in it would be lost")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", gocmd.Refuse("making the folder: "+err.Error(), "name another one with -dir")
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir, nil
}

// newLasting makes a folder for the module at root.
func newLasting(root string) (string, error) {
	user := cache.Dir()
	if user == "" {
		return "", gocmd.Refuse("there is no cache folder that can be written",
			"name one with -dir, or set XDG_CACHE_HOME or HOME")
	}
	base := filepath.Join(user, "env")
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", fmt.Errorf("making the folder: %w; name another one with -dir, or set XDG_CACHE_HOME", err)
	}
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		dir := filepath.Join(base, e.Name())
		if newest(dir) > cache.Age {
			os.RemoveAll(dir)
		}
	}
	sum := sha256.Sum256([]byte(root))
	return os.MkdirTemp(base, filepath.Base(root)+"-"+hex.EncodeToString(sum[:3])+"-")
}

// newest is how long ago one of dir's own files was written last.
func newest(dir string) time.Duration {
	age := time.Duration(1<<63 - 1)
	files, err := os.ReadDir(dir)
	for _, f := range files {
		if info, e := f.Info(); e == nil {
			age = min(age, time.Since(info.ModTime()))
		} else {
			err = errors.Join(err, e)
		}
	}
	if info, e := os.Stat(dir); len(files) == 0 && e == nil {
		age = time.Since(info.ModTime())
	}
	if err != nil {
		return 0 // a build that cannot be judged is kept
	}
	return age
}

// Reopened stands for the workspace of a lasting build with evidence that is read
// later: it knows the module's root and path, and builds nothing.
func Reopened(root, path string) *Workspace {
	return &Workspace{Module: &Module{Root: root, Path: path}, scratch: &scratch.Folder{}}
}

// Package released fetches released modules for the tools that measure on the
// code of others.
package released

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/dynamic/tree"
)

// Fetch downloads a module with the go command, and puts a copy that can be
// written to into dir, which must not exist.
func Fetch(ctx context.Context, path, version, dir string) error {
	got, err := download(ctx, path+"@"+version)
	if err != nil {
		return fmt.Errorf("fetching %s %s: %w", path, version, err)
	}
	return tree.Copy(ctx, dir, got, nil)
}

// download returns the folder of a module in the go command's cache. The go
// command runs where no go.mod of this repository is changed.
func download(ctx context.Context, module string) (dir string, err error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOWORK=off", "PWD="+cmd.Dir)
	out, err := cmd.Output()
	var got struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &got); jsonErr != nil {
		return "", errors.Join(err, jsonErr)
	}
	if got.Error != "" {
		return "", errors.New(got.Error)
	}
	return got.Dir, err
}

// Lines counts those of the Go files below dir, with tests or without.
func Lines(dir string, tests bool) (n int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || !tests && strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		n += bytes.Count(data, []byte("\n"))
		return err
	})
	return n, err
}

// Package upward finds the files that belong to a repository, from any folder in it.
package upward

import (
	"os"
	"path/filepath"
)

// Find returns the absolute path of the nearest file of the name in dir or a folder above it, up to the root of
// the git repository, or "" if there is none. Without a repository it looks no further than the module's root.
func Find(dir, name string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	top := Root(dir)
	for {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file, nil
		}
		if dir == top {
			return "", nil
		}
		dir = filepath.Dir(dir)
	}
}

// Root returns the folder of the git repository around dir, else that of the outermost module, else dir.
func Root(dir string) string {
	module := dir
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			module = at
		}
		if at == filepath.Dir(at) {
			return module
		}
	}
}

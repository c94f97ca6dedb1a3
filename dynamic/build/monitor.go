package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// monitorPath is the module path of the monitor as instrumented code imports it.
const monitorPath = "interlock.invalid/rt"

// monitorGo is the language version of the monitor's module.
const monitorGo = "1.21"

// extractMonitor writes the monitor's source to a folder named after its
// contents, so that every version has one and the go command's build cache
// recognises it. A folder that somebody changed is written anew. Where cache
// is not writable, the folder is made in scratch.
func extractMonitor(src fs.FS, cache, scratch string) (string, error) {
	files, err := readFiles(src)
	if err != nil {
		return "", fmt.Errorf("reading the monitor's source: %w", err)
	}
	files["go.mod"] = []byte("module " + monitorPath + "\n\ngo " + monitorGo + "\n")
	name := filepath.Join("rt", contentHash(files))
	if cache != "" {
		dir := filepath.Join(cache, name)
		if holds(dir, files) || publish(dir, files) == nil {
			return dir, nil
		}
	}
	dir := filepath.Join(scratch, name)
	return dir, writeFiles(dir, files)
}

// readFiles reads all files of src but for tests.
func readFiles(src fs.FS) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(src, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files[path], err = fs.ReadFile(src, path)
		return err
	})
	return files, err
}

func contentHash(files map[string][]byte) string {
	h := sha256.New()
	for _, name := range sortedKeys(files) {
		fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(files[name]), files[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// holds reports whether dir holds the files with their contents and no other.
func holds(dir string, files map[string][]byte) bool {
	found, err := readFiles(os.DirFS(dir))
	if err != nil || len(found) != len(files) {
		return false
	}
	for name, data := range files {
		if !bytes.Equal(found[name], data) {
			return false
		}
	}
	return true
}

// publish makes dir appear with all its files at once, as another process may
// be reading it.
func publish(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := errors.Join(os.Chmod(tmp, 0o755), writeFiles(tmp, files)); err != nil {
		return err
	}
	if err := os.Rename(tmp, dir); err == nil || holds(dir, files) {
		return nil
	}
	// What is there is not what it should be.
	return errors.Join(os.RemoveAll(dir), os.Rename(tmp, dir))
}

func writeFiles(dir string, files map[string][]byte) error {
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("writing the monitor: %w", err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return fmt.Errorf("writing the monitor: %w", err)
		}
	}
	return nil
}

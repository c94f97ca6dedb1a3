package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/dynamic/cache"
	"github.com/interlock-go/interlock/dynamic/tree"
)

// ExtractMonitor writes the files of the monitor to a folder named after its
// contents, so that every version has one and the go command's build cache
// recognises it. A folder that somebody changed is written anew. Where the
// user's cache is not writable, the folder is made in scratch.
func ExtractMonitor(files map[string][]byte, user, scratch string) (string, error) {
	name := filepath.Join("rt", contentHash(files))
	if user != "" {
		dir := filepath.Join(user, name)
		sound := func(dir string) bool { return Holds(dir, files, isSource) }
		if cache.Publish(dir, sound, func(dir string) error { return tree.Create(dir, files) }) == nil {
			return dir, nil
		}
	}
	dir := filepath.Join(scratch, name)
	return dir, tree.Create(dir, files)
}

func AllFiles(string) bool { return true }

// isSource reports whether the file, by its path, is none of a test.
func isSource(path string) bool { return !strings.HasSuffix(path, "_test.go") }

// ReadFiles reads all files of src that are wanted, by their paths.
func ReadFiles(src fs.FS, wanted func(path string) bool) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(src, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !wanted(path) {
			return err
		}
		files[path], err = fs.ReadFile(src, path)
		return err
	})
	return files, err
}

func contentHash(files map[string][]byte) string {
	h := sha256.New()
	for _, name := range SortedKeys(files) {
		fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(files[name]), files[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// Holds reports whether dir holds the files with their contents and no other
// that is wanted.
func Holds(dir string, files map[string][]byte, wanted func(path string) bool) bool {
	found, err := ReadFiles(os.DirFS(dir), wanted)
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

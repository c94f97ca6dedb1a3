package patchgen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// ErrChanged is returned by [Apply] where a file is no longer what the patch
// was built on.
var ErrChanged = errors.New("file changed since the analysis")

// Apply writes new contents into the tree below root: all of the files or
// none. Each must still have its old contents (else [ErrChanged], and the
// next step is to analyse again); permissions stay. Contents go to a
// temporary file beside the target first, so that no reader sees half a file;
// should a later rename fail, those done are undone.
func Apply(root string, old, new map[string][]byte) (err error) {
	paths := slices.Sorted(maps.Keys(new))
	temps := map[string]string{}
	defer func() {
		for _, temp := range temps {
			os.Remove(temp) // gone already where it was renamed
		}
	}()
	for _, path := range paths {
		temp, err := stage(root, path, old[path], new[path])
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		temps[path] = temp
	}
	for i, path := range paths {
		if err := os.Rename(temps[path], fileIn(root, path)); err != nil {
			return errors.Join(fmt.Errorf("writing %s: %w", path, err), undo(root, paths[:i], old))
		}
	}
	return nil
}

func fileIn(root, path string) string { return filepath.Join(root, filepath.FromSlash(path)) }

// stage checks the old contents and writes the new ones beside them.
func stage(root, path string, old, new []byte) (temp string, err error) {
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return "", fmt.Errorf("path leads out of the module")
	}
	name, err := filepath.EvalSymlinks(fileIn(root, path))
	if err != nil {
		return "", err
	}
	now, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	if !bytes.Equal(now, old) {
		return "", ErrChanged
	}
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	return writeBeside(name, new, info.Mode().Perm())
}

func writeBeside(name string, data []byte, perm fs.FileMode) (temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".interlock-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(perm), f.Close())
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// undo puts the old contents back.
func undo(root string, paths []string, old map[string][]byte) error {
	var errs []error
	for _, path := range paths {
		errs = append(errs, os.WriteFile(fileIn(root, path), old[path], 0o644))
	}
	return errors.Join(errs...)
}

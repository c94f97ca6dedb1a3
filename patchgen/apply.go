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
func Apply(root string, old, new map[string][]byte) error {
	var all []staged
	defer func() {
		for _, s := range all {
			os.Remove(s.temp) // gone already where it was renamed
		}
	}()
	for _, path := range slices.Sorted(maps.Keys(new)) {
		s, err := stage(root, path, old[path], new[path])
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		all = append(all, s)
	}
	for i, s := range all {
		if err := os.Rename(s.temp, s.name); err != nil {
			return errors.Join(fmt.Errorf("writing %s: %w", s.name, err), undo(all[:i]))
		}
	}
	return nil
}

// staged is a file whose new contents lie beside it.
type staged struct {
	name, temp string
	old        []byte
	perm       fs.FileMode
}

// stage checks the old contents and writes the new ones beside them, links
// followed.
func stage(root, path string, old, new []byte) (s staged, err error) {
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return s, errors.New("the path leads out of the module")
	}
	name, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return s, err
	}
	now, err := os.ReadFile(name)
	if err != nil {
		return s, err
	}
	if !bytes.Equal(now, old) {
		return s, ErrChanged
	}
	info, err := os.Stat(name)
	if err != nil {
		return s, err
	}
	s = staged{name: name, old: old, perm: info.Mode().Perm()}
	s.temp, err = writeBeside(name, new, s.perm)
	return s, err
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
func undo(done []staged) error {
	var errs []error
	for _, s := range done {
		errs = append(errs, os.WriteFile(s.name, s.old, s.perm))
	}
	return errors.Join(errs...)
}

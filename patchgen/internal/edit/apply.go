package edit

import (
	"bytes"
	"crypto/sha256"
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
// next step is to analyse again) and be writable.
//
// New contents are written beside each file first, and renamed over it once
// all are there, so that a file is never half written, whenever the process
// ends. Permissions and owners stay, and links to a file too. A file with
// several names, or in a folder that is not writable, is written in place, after a
// backup in the folder for temporary files. Should a step fail, the old
// contents of all are put back; where even that fails, the error says where
// they are.
func Apply(root string, old, new map[string][]byte) (err error) {
	var all []*target
	defer func() {
		for _, t := range all {
			if t.staged != "" {
				err = errors.Join(err, ignoreMissing(os.Remove(t.staged)))
			}
		}
	}()
	// Stage: whatever can fail for want of space or rights fails here, where nothing has changed.
	for _, path := range slices.Sorted(maps.Keys(new)) {
		t, err := stage(root, path, old[path], new[path])
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		all = append(all, t)
	}
	for i, t := range all {
		if err := t.commit(); err != nil {
			return errors.Join(fmt.Errorf("writing %s: %w", t.path, err), undo(all[:i]))
		}
	}
	return nil
}

// target is a file that is about to be written.
type target struct {
	path     string // links followed
	old, new []byte
	staged   string // file beside it with the new contents; "" to write in place
	info     fs.FileInfo
}

// stage checks the old contents of a file and writes the new ones beside it.
func stage(root, path string, old, new []byte) (*target, error) {
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return nil, errors.New("the path leads out of the module")
	}
	name, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	// A rename would replace a file that is write-protected.
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o222 == 0 { // some may write to it all the same
		return nil, errors.New("the file is write-protected")
	}
	now, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	t := &target{path: name, old: old, new: new, info: info}
	if !bytes.Equal(now, old) {
		return nil, errors.Join(ErrChanged, t.interrupted())
	}
	if hasOneName(info) {
		t.staged, err = t.writeBeside(new)
	}
	return t, err
}

// write is [os.File.Write]; tests replace it.
var write = (*os.File).Write

// writeBeside writes a file with the rights of t into its folder. The name is
// "" where the folder or the owner does not allow that.
func (t *target) writeBeside(data []byte) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(t.path), ".interlock-*.tmp")
	if err != nil {
		return "", nil
	}
	_, err = write(f, data)
	err = errors.Join(err, f.Chmod(t.info.Mode().Perm()), f.Sync())
	if denied := keepOwner(f, t.info); denied != nil && err == nil {
		return "", errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// commit makes the new contents those of the file.
func (t *target) commit() error {
	if t.staged != "" {
		return os.Rename(t.staged, t.path)
	}
	if err := os.WriteFile(t.backup(), t.old, 0o600); err != nil {
		return fmt.Errorf("keeping its old contents: %w", err)
	}
	if err := overwrite(t.path, t.new); err != nil {
		return errors.Join(err, t.restore())
	}
	return os.Remove(t.backup())
}

// undo puts old contents back.
func undo(done []*target) error {
	var errs []error
	for _, t := range done {
		if t.staged == "" {
			errs = append(errs, ignoreMissing(os.WriteFile(t.backup(), t.old, 0o600)), t.restore())
			continue
		}
		beside, err := t.writeBeside(t.old)
		if err == nil {
			err = os.Rename(beside, t.path)
		}
		if err != nil {
			err = fmt.Errorf("putting %s back: %w; its old contents are in %s", t.path,
				errors.Join(err, os.WriteFile(t.backup(), t.old, 0o600)), t.backup())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// restore writes the old contents in place, from which there is a backup.
func (t *target) restore() error {
	if err := overwrite(t.path, t.old); err != nil {
		return fmt.Errorf("putting %s back: %w; its old contents are in %s", t.path, err, t.backup())
	}
	return os.Remove(t.backup())
}

// overwrite writes in place: all names of the file see it.
func overwrite(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = write(f, data)
	return errors.Join(err, f.Close())
}

// backup is where the old contents are while the file is written in place. It
// is the same for every process, so that the next one can name it.
func (t *target) backup() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("interlock-backup-%x.go", sha256.Sum256([]byte(t.path))))
}

// interrupted returns as an error that an earlier write in place did not end.
func (t *target) interrupted() error {
	if _, err := os.Stat(t.backup()); err != nil {
		return nil
	}
	return fmt.Errorf("an earlier write of it was interrupted: copy %s over it", t.backup())
}

// ignoreMissing drops the error that a file is not there.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// opened is a file that is about to be written.
type opened struct {
	file     file
	old, new []byte
}

// file is what Apply needs of an [os.File].
type file interface {
	io.ReadWriteSeeker
	io.Closer
	Name() string
	Truncate(size int64) error
}

// ErrChanged is returned by [Apply] where a file is no longer what the patch
// was built on.
var ErrChanged = errors.New("file changed since the analysis")

// Apply writes new contents into the tree below root: all of the files or
// none. Each must still have its old contents (else [ErrChanged], and the
// next step is to analyse again) and be writable. Files are written in place,
// as gofmt does: permissions, owners and all names of a file stay, links to it
// too. Should writing one fail, the old contents of all are put back; where
// even that fails, the error says where they are.
func Apply(root string, old, new map[string][]byte) (err error) {
	var all []opened
	defer func() {
		for _, t := range all {
			err = errors.Join(err, t.file.Close())
		}
	}()
	for _, path := range slices.Sorted(maps.Keys(new)) {
		t, err := open(root, path, old[path], new[path])
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		all = append(all, t)
	}
	for i, t := range all {
		if err := replace(t.file, t.new); err != nil {
			return errors.Join(fmt.Errorf("writing %s: %w", t.file.Name(), err), undo(all[:i+1]))
		}
	}
	return nil
}

// openFile opens a file for reading and writing; tests replace it.
var openFile = func(name string) (file, error) { return os.OpenFile(name, os.O_RDWR, 0) }

// open opens the file, links followed, and checks its old contents.
func open(root, path string, old, new []byte) (opened, error) {
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return opened{}, errors.New("the path leads out of the module")
	}
	f, err := openFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return opened{}, err
	}
	now, err := io.ReadAll(f)
	if err == nil && !bytes.Equal(now, old) {
		err = ErrChanged
	}
	if err != nil {
		return opened{}, errors.Join(err, f.Close())
	}
	return opened{f, old, new}, nil
}

// replace makes data the contents of the file.
func replace(f file, data []byte) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Truncate(int64(len(data)))
}

// undo puts the old contents back, or else into a temporary file.
func undo(done []opened) error {
	var errs []error
	for _, t := range done {
		if err := replace(t.file, t.old); err != nil {
			errs = append(errs, fmt.Errorf("putting %s back: %w; %s", t.file.Name(), err, rescue(t.old)))
		}
	}
	return errors.Join(errs...)
}

// rescue returns where the contents of a file are now.
func rescue(data []byte) string {
	f, err := os.CreateTemp("", "interlock-rescued-*.go")
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "its old contents could not be kept: " + err.Error()
	}
	return "its old contents are in " + f.Name()
}

// Package scratch makes temporary folders. A folder is held by a lock in it: the
// folders of a killed process are removed when the next one starts.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/interlock-go/interlock/dynamic/cache"
)

// scratchName is the name of such a folder: process id, then random digits.
var scratchName = regexp.MustCompile(`^interlock-[0-9]+-[0-9]+$`)

// Folder is a temporary folder of this process. It is held by a lock on a
// file in it, not by the process id in its name: ids are reused, and folders
// in a shared /tmp may belong to processes of other containers.
type Folder struct {
	Dir  string
	lock *os.File // nil for a folder that is to last
}

// New makes a folder in base and removes those of processes that are
// gone.
func New(base string) (*Folder, error) {
	removeLeftovers(base)
	dir, lock, err := lockedFolder(base)
	if err != nil {
		return nil, err
	}
	// The go command and the compiler print paths; the true one is the one
	// they know.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return &Folder{dir, lock}, nil
}

// lockedFolder makes a folder in base and takes its lock. Another process that
// removes leftovers may have come between the two steps; then it makes another.
func lockedFolder(base string) (dir string, lock *os.File, err error) {
	for range 10 {
		if dir, err = os.MkdirTemp(base, fmt.Sprintf("interlock-%d-", os.Getpid())); err != nil {
			return "", nil, fmt.Errorf("making a temporary folder: %w", err)
		}
		if lock, err = cache.TryLock(filepath.Join(dir, cache.LockName)); err == nil {
			return dir, lock, nil
		}
		err = errors.Join(fmt.Errorf("locking the temporary folder: %w", err), os.RemoveAll(dir))
	}
	return "", nil, err
}

// Close removes the folder, unless it is to last. Closing twice does nothing.
func (s *Folder) Close() error {
	if s.lock == nil {
		return nil
	}
	s.lock.Close()
	s.lock = nil
	return cache.Remove(s.Dir)
}

// IsTemp reports whether dir is a temporary folder of a process that may still
// run, by its name and the lock in it.
func IsTemp(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, cache.LockName))
	return err == nil && scratchName.MatchString(filepath.Base(dir))
}

// removeLeftovers removes the folders of dead processes under tmp. Folders that
// cannot be removed, such as another user's, are left.
func removeLeftovers(tmp string) {
	entries, _ := os.ReadDir(tmp)
	for _, e := range entries {
		if !e.IsDir() || !scratchName.MatchString(e.Name()) {
			continue
		}
		cache.RemoveAbandoned(filepath.Join(tmp, e.Name()))
	}
}

// TempDir makes a folder for the GOTMPDIR of a go command that is run with
// env. The caller removes it; that of a killed process is removed when the
// next one starts.
func TempDir(env []string) (dir string, remove func() error, err error) {
	base := os.TempDir()
	for _, v := range env {
		if set, ok := strings.CutPrefix(v, "GOTMPDIR="); ok && set != "" {
			base = set
		}
	}
	s, err := New(base)
	if err != nil {
		return "", nil, err
	}
	return s.Dir, s.Close, nil
}

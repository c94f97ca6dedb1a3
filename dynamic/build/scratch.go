package build

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/interlock-go/interlock/dynamic/cache"
)

// scratchName is the name of such a folder: process id, then random digits.
var scratchName = regexp.MustCompile(`^interlock-[0-9]+-[0-9]+$`)

// scratch is a temporary folder of this process. It is held by a lock on a
// file in it, not by the process id in its name: ids are reused, and folders
// in a shared /tmp may belong to processes of other containers.
type scratch struct {
	dir  string
	lock *os.File // nil for a folder that is to last
}

// newScratch makes a folder in base and removes those of processes that are
// gone.
func newScratch(base string) (*scratch, error) {
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
	return &scratch{dir, lock}, nil
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

// close removes the folder, unless it is to last. Closing twice does nothing.
func (s *scratch) close() error {
	if s.lock == nil {
		return nil
	}
	s.lock.Close()
	s.lock = nil
	return os.RemoveAll(s.dir)
}

// IsTemp reports whether dir is a temporary folder of a process that may still
// run, by its name and the lock in it.
func IsTemp(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, cache.LockName))
	return err == nil && scratchName.MatchString(filepath.Base(dir))
}

// removeLeftovers removes the folders under tmp whose process is gone. What
// cannot be removed, another user's for one, is left.
func removeLeftovers(tmp string) {
	entries, _ := os.ReadDir(tmp)
	for _, e := range entries {
		if !e.IsDir() || !scratchName.MatchString(e.Name()) {
			continue
		}
		cache.RemoveAbandoned(filepath.Join(tmp, e.Name()))
	}
}

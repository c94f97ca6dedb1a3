package cache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// LockName is the name of the file by which a folder is held.
const LockName = ".lock"

// unlockedAge is how old a folder without a lock is that its maker died over:
// nobody needs so long between making it and taking its lock.
const unlockedAge = 10 * time.Minute

// errHeld reports that another process holds a lock, which passes.
var errHeld = errors.New("another process holds it")

// TryLock makes the file if need be and locks it for this process. It fails at
// once where another process holds it, or has removed it meanwhile. Closing the
// file, or the end of the process in whatever way, releases it.
func TryLock(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		os.RemoveAll(path) // a lock is a file, so nobody holds this one
	}
	f, err := takeLock(path)
	if err != nil {
		return nil, err
	}
	// Another holder of the lock may have removed the file before it was ours.
	mine, err := f.Stat()
	if err == nil {
		var there os.FileInfo
		if there, err = os.Lstat(path); err != nil || !os.SameFile(mine, there) {
			err = errHeld
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Lock is TryLock that waits until the lock is released, having called waiting if
// it has to. It fails when ctx ends, and at once where the file cannot be locked.
func Lock(ctx context.Context, path string, waiting func()) (*os.File, error) {
	for first := true; ; first = false {
		f, err := TryLock(path)
		if !errors.Is(err, errHeld) {
			return f, err
		}
		if first {
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for %s: %w", path, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// RemoveAbandoned removes dir if it is a folder with a lock and nobody holds
// it, and reports whether it is gone. The lock is held meanwhile, so that the
// folder's maker, if it is about to take it, cannot and makes another.
func RemoveAbandoned(dir string) bool {
	lock := filepath.Join(dir, LockName)
	if _, err := os.Stat(lock); err != nil {
		info, err := os.Stat(dir)
		empty, _ := os.ReadDir(dir)
		return err == nil && len(empty) == 0 && time.Since(info.ModTime()) > unlockedAge && os.RemoveAll(dir) == nil
	}
	f, err := TryLock(lock)
	if err != nil {
		return false
	}
	defer f.Close()
	return Remove(dir) == nil
}

// Remove removes a folder with a lock, and the lock last: after a kill, [RemoveAbandoned] removes the rest.
func Remove(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != LockName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

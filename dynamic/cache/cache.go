// Package cache keeps folders that outlive a process in Interlock's folder of
// the user's cache. They are not trusted: another process may be writing them,
// may have died over them, and a disk may have damaged them. So folders
// appear whole or not at all ([Publish]), are checked before they are used, and
// are held by locks that end with their owner ([TryLock], [Lock]).
package cache

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Age is how long a folder is kept after it was last used.
const Age = 14 * 24 * time.Hour

// Dir is Interlock's folder, or "" where there is none that can be written.
func Dir() string {
	user, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir := filepath.Join(user, "interlock")
	if os.MkdirAll(dir, 0o755) != nil {
		return ""
	}
	return dir
}

// MakeDir makes a folder below [Dir], and those above it. A file that is in the
// way of one is removed.
func MakeDir(dir string) error {
	err := os.MkdirAll(dir, 0o755)
	for up := dir; err != nil && up != filepath.Dir(up); up = filepath.Dir(up) {
		if info, there := os.Lstat(up); there == nil && info.Mode().IsRegular() && os.Remove(up) == nil {
			return os.MkdirAll(dir, 0o755)
		}
	}
	return err
}

// Publish has fill make a folder beside dir, and then makes it appear as dir in
// one step, unless a sound one is there already, made by this process or another.
// A damaged folder, or a file in its place, is replaced.
// Errors are those of fill and of the system.
func Publish(dir string, sound func(dir string) bool, fill func(dir string) error) error {
	if sound(dir) {
		return nil
	}
	parent := filepath.Dir(dir)
	if err := MakeDir(parent); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	removeUnfinished(parent)
	tmp, err := os.MkdirTemp(parent, unfinished)
	if err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	defer os.RemoveAll(tmp)
	whole := filepath.Join(tmp, "whole")
	if err := os.Mkdir(whole, 0o755); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	if err := fill(whole); err != nil {
		return err
	}
	// A damaged folder goes out of the way in one step, too: a reader finds
	// all of it, or nothing.
	for range 10 {
		if err = os.Rename(whole, dir); err == nil || sound(dir) {
			return nil
		}
		os.Rename(dir, filepath.Join(tmp, "damaged"))
		os.RemoveAll(filepath.Join(tmp, "damaged"))
	}
	return err
}

// unfinished begins the names of folders that are being filled.
const unfinished = ".new-"

// removeUnfinished removes the folders of dead processes in dir.
func removeUnfinished(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, unfinished+"*"))
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > Age {
			os.RemoveAll(name)
		}
	}
}

// Evict keeps the folders in dir below limit, in bytes: those that were not used
// for [Age] go, then those used the longest time ago. A folder's [LockName]
// has the time of its last use; one that a process holds stays.
func Evict(dir string, limit int64) {
	type folder struct {
		path string
		used time.Time
		size int64
	}
	var folders []folder
	var total int64
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		f := folder{path: filepath.Join(dir, e.Name())}
		if info, err := os.Stat(filepath.Join(f.path, LockName)); err == nil {
			f.used, f.size = info.ModTime(), size(f.path)
			folders = append(folders, f)
			total += f.size
		}
	}
	slices.SortFunc(folders, func(a, b folder) int { return a.used.Compare(b.used) })
	for _, f := range folders {
		if (total > limit || time.Since(f.used) > Age) && RemoveAbandoned(f.path) {
			total -= f.size
		}
	}
}

// size returns the bytes of all files below dir, as far as they can be seen.
func size(dir string) int64 {
	var size int64
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

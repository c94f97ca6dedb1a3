package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// binariesAge is how long the test binaries of a module are kept after they
// were last used.
const binariesAge = 14 * 24 * time.Hour

// binariesSize is how many bytes of test binaries are kept in all; of more, those
// that were not used for the longest time are removed.
const binariesSize = 1 << 30

// cacheDir is Interlock's folder for what outlives a process, or "" where
// there is none that can be written.
func cacheDir() string {
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

// binaries is the folder that test binaries are built into. The go command
// leaves a binary there alone that is up to date already, which saves the
// link, the larger part of a second build.
type binaries struct {
	dir  string
	lock *os.File // nil for a folder in scratch
}

// openBinaries locks the folder that belongs to key. Where the cache is not
// writable or another process holds the folder, it gives one in scratch.
func openBinaries(cache, scratch string, key ...string) binaries {
	if cache != "" {
		removeOldBinaries(filepath.Join(cache, "bin"), binariesSize)
		sum := sha256.Sum256([]byte(strings.Join(key, "\x00")))
		dir := filepath.Join(cache, "bin", hex.EncodeToString(sum[:12]))
		if os.MkdirAll(dir, 0o755) == nil {
			if lock, err := takeLock(filepath.Join(dir, lockName)); err == nil {
				now := time.Now()
				os.Chtimes(lock.Name(), now, now)
				return binaries{dir, lock}
			}
		}
	}
	return binaries{dir: filepath.Join(scratch, "bin")}
}

func (b *binaries) close() {
	if b.lock != nil {
		b.lock.Close()
		b.lock = nil
	}
}

// removeOldBinaries keeps below limit, in bytes, what lies in dir: folders that
// are old, then those used the longest time ago. What a process holds stays.
func removeOldBinaries(dir string, limit int64) {
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
		if info, err := os.Stat(filepath.Join(f.path, lockName)); err == nil {
			f.used, f.size = info.ModTime(), folderSize(f.path)
			folders = append(folders, f)
			total += f.size
		}
	}
	slices.SortFunc(folders, func(a, b folder) int { return a.used.Compare(b.used) })
	for _, f := range folders {
		if (total > limit || time.Since(f.used) > binariesAge) && removeAbandoned(f.path) {
			total -= f.size
		}
	}
}

// folderSize gives the bytes of all files below dir, as far as they can be seen.
func folderSize(dir string) int64 {
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

// keepFault copies what shows a fault of the rewriter to where it survives:
// the rewritten files by their names in the module, and what the compiler said.
func keepFault(cache, scratch string, files map[string][]byte, output []byte) (string, error) {
	if cache == "" {
		cache = filepath.Dir(scratch)
	}
	all := maps.Clone(files)
	all["output.txt"] = output
	dir := filepath.Join(cache, "faults", contentHash(all))
	if err := writeFiles(dir, all); err != nil {
		return "", fmt.Errorf("keeping the files that do not compile: %w", err)
	}
	return dir, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
		removeOldBinaries(filepath.Join(cache, "bin"))
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

func removeOldBinaries(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		old := filepath.Join(dir, e.Name())
		info, err := os.Stat(filepath.Join(old, lockName))
		if err == nil && time.Since(info.ModTime()) > binariesAge && abandoned(old) {
			os.RemoveAll(old)
		}
	}
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

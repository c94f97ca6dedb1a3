// Package store holds the files that builds keep in the user's cache: the source of the monitor,
// instrumented test binaries, and files that did not compile once rewritten.
package store

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

	"github.com/interlock-go/interlock/dynamic/cache"
	"github.com/interlock-go/interlock/dynamic/tree"
)

// binariesSize is how many bytes of test binaries are kept in all; of more, those
// that were not used for the longest time are removed.
const binariesSize = 1 << 30

// Binaries is the folder that test binaries are built into. The go command
// leaves a binary there alone that is up to date already, which saves the
// link, the larger part of a second build.
type Binaries struct {
	Dir  string
	lock *os.File // nil for a folder in scratch
}

// OpenBinaries locks the folder that belongs to key. Where the cache is not
// writable or another process holds the folder, it returns one in scratch.
func OpenBinaries(dir, scratch string, key ...string) Binaries {
	if dir != "" {
		cache.Evict(filepath.Join(dir, "bin"), binariesSize)
		sum := sha256.Sum256([]byte(strings.Join(key, "\x00")))
		dir = filepath.Join(dir, "bin", hex.EncodeToString(sum[:12]))
		if cache.MakeDir(dir) == nil {
			if lock, err := cache.TryLock(filepath.Join(dir, cache.LockName)); err == nil {
				now := time.Now()
				os.Chtimes(lock.Name(), now, now)
				return Binaries{dir, lock}
			}
		}
	}
	return Binaries{Dir: filepath.Join(scratch, "bin")}
}

// Check removes a binary that is not as it was built: damaged, or of a build
// that was killed. The go command would leave it there, since it reads no more
// of a binary than the build ID near its start.
func (b *Binaries) Check(path string) {
	if cache.MakeDir(filepath.Dir(path)) != nil {
		return // the go command reports the fault
	}
	data, err := os.ReadFile(path)
	sum, e := os.ReadFile(path + sumSuffix)
	if err != nil || e != nil || string(sum) != checksum(data) || os.Chmod(path, 0o755) != nil {
		os.RemoveAll(path)
	}
}

// Record keeps the checksum of a binary that was built, for the next check. A
// folder in scratch has no next time.
func (b *Binaries) Record(path string, data []byte) {
	if b.lock != nil {
		os.RemoveAll(path + sumSuffix)
		os.WriteFile(path+sumSuffix, []byte(checksum(data)), 0o644)
	}
}

// sumSuffix ends the name of the file that holds a binary's checksum.
const sumSuffix = ".sha256"

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (b *Binaries) Close() {
	if b.lock != nil {
		b.lock.Close()
		b.lock = nil
	}
}

// KeepFault copies the files that show a fault of the rewriter to where they survive:
// the rewritten files by their names in the module, and the compiler's output.
func KeepFault(dir, scratch string, files map[string][]byte, output []byte) (string, error) {
	if dir == "" {
		dir = filepath.Dir(scratch)
	}
	all := maps.Clone(files)
	all["output.txt"] = output
	dir = filepath.Join(dir, "faults", contentHash(all))
	if err := tree.Create(dir, all); err != nil {
		return "", fmt.Errorf("keeping the rewritten files for a report: %w", err)
	}
	return dir, nil
}

func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

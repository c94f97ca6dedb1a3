package store

import (
	"os"
	"path/filepath"
	"time"

	"github.com/interlock-go/interlock/dynamic/cache"
)

// Proofs are the files, named by the contents that they stand for, which say that something was seen to work here.
// Each counts for [cache.Age] only.
type Proofs struct{ dir string }

// OpenProofs returns those below the user's cache, or none where there is no such folder.
func OpenProofs(user string) Proofs {
	if user == "" {
		return Proofs{}
	}
	return Proofs{filepath.Join(user, "proofs")}
}

// Has reports whether the files were seen to work.
func (p Proofs) Has(files map[string][]byte) bool {
	if p.dir == "" {
		return false
	}
	info, err := os.Stat(filepath.Join(p.dir, contentHash(files)))
	return err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) < cache.Age
}

// Add notes that the files were seen to work, and removes stale notes. If nothing can be kept, they are tried again the
// next time.
func (p Proofs) Add(files map[string][]byte) {
	if p.dir == "" || cache.MakeDir(p.dir) != nil {
		return
	}
	entries, _ := os.ReadDir(p.dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) >= cache.Age {
			os.Remove(filepath.Join(p.dir, e.Name()))
		}
	}
	file := filepath.Join(p.dir, contentHash(files))
	os.Remove(file)
	os.WriteFile(file, nil, 0o644)
}

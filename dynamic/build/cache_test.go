package build

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Test binaries are kept up to a size, those used last; what another process
// holds stays whatever its age.
func TestRemoveOldBinaries(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"new": 0, "middle": time.Hour, "old": 2 * time.Hour, "held": 3 * time.Hour, "aged": 2 * binariesAge} {
		if err := writeFiles(filepath.Join(dir, name), map[string][]byte{lockName: nil, "0/m.test": make([]byte, 100)}); err != nil {
			t.Fatal(err)
		}
		used := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(dir, name, lockName), used, used); err != nil {
			t.Fatal(err)
		}
	}
	held, err := takeLock(filepath.Join(dir, "held", lockName))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for _, step := range []struct {
		limit int64
		left  []string
	}{
		{1000, []string{"held", "middle", "new", "old"}},
		{300, []string{"held", "middle", "new"}},
		{0, []string{"held"}},
	} {
		removeOldBinaries(dir, step.limit)
		if got := names(t, dir); !slices.Equal(got, step.left) {
			t.Errorf("limit %d: left %q, want %q", step.limit, got, step.left)
		}
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

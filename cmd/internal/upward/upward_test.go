package upward

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	find := func(from, want string) {
		t.Helper()
		if want != "" {
			want = filepath.Join(dir, filepath.FromSlash(want))
		}
		if got, err := Find(filepath.Join(dir, filepath.FromSlash(from)), ".x"); got != want || err != nil {
			t.Errorf("from %s: %q, %v; want %q", from, got, err, want)
		}
	}
	write(".x") // above the module: not its own
	write("m/go.mod")
	write("m/a/b/c.go")
	find("m/a/b", "")
	write("m/.x")
	find("m/a/b", "m/.x")
	find("m", "m/.x")
	write("m/a/.x")
	find("m/a/b", "m/a/.x")
	// The root of a repository is further than that of a module in it.
	write(".git")
	write("n/go.mod")
	find("n", ".x")
}

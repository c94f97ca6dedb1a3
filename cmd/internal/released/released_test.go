package released

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCopyCanBeWritten(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	sub := filepath.Join(from, "sub")
	file := filepath.Join(sub, "a.go")
	for _, err := range []error{
		os.Mkdir(sub, 0o755),
		os.WriteFile(file, []byte("package a\n"), 0o444),
		os.Chmod(sub, 0o555),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(sub, 0o755) }) // so that it can be removed
	if err := Copy(from, to); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.go", "new.go"} {
		if err := os.WriteFile(filepath.Join(to, "sub", name), []byte("package b\n"), 0o644); err != nil {
			t.Error(err)
		}
	}
}

func TestLines(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a\n\n", "a_test.go": "package a\n", "a.txt": "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for tests, want := range map[bool]int{false: 2, true: 3} {
		if got, err := Lines(dir, tests); err != nil || got != want {
			t.Errorf("with tests %t: %d lines, error %v; want %d", tests, got, err, want)
		}
	}
}

package released

import (
	"os"
	"path/filepath"
	"testing"
)

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

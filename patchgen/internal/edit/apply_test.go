package edit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestApplyWritesAllAndKeepsModes(t *testing.T) {
	root := t.TempDir()
	old := map[string][]byte{"a.go": []byte("package a\n"), "sub/b.go": []byte("package b\n")}
	for path, src := range old {
		writeFile(t, filepath.Join(root, path), src)
	}
	if err := os.Chmod(filepath.Join(root, "a.go"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.go", filepath.Join(root, "link.go")); err != nil {
		t.Fatal(err)
	}
	patched := map[string][]byte{"a.go": []byte("package a // x\n"), "sub/b.go": []byte("package b // y\n")}
	if err := Apply(root, old, patched); err != nil {
		t.Fatal(err)
	}
	for path, want := range patched {
		if got, err := os.ReadFile(filepath.Join(root, path)); err != nil || string(got) != string(want) {
			t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
		}
	}
	if info, err := os.Stat(filepath.Join(root, "a.go")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode of a.go is now %v (%v)", info.Mode(), err)
	}

	// A file keeps all of its names.
	if err := os.Link(filepath.Join(root, "a.go"), filepath.Join(root, "hard")); err != nil {
		t.Fatal(err)
	}
	if err := Apply(root, map[string][]byte{"a.go": patched["a.go"]},
		map[string][]byte{"a.go": []byte("short")}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(root, "hard")); err != nil || string(got) != "short" {
		t.Errorf("the other name has %q (%v)", got, err)
	}
	patched["a.go"] = []byte("short")

	// A link stays a link.
	err := Apply(root, map[string][]byte{"link.go": patched["a.go"]}, map[string][]byte{"link.go": []byte("package z\n")})
	info, statErr := os.Lstat(filepath.Join(root, "link.go"))
	if err != nil || statErr != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced by a file (%v, %v)", err, statErr)
	}
}

func TestApplyIsAllOrNothing(t *testing.T) {
	for name, spoil := range map[string]func(root string) error{
		"changed": func(root string) error {
			return os.WriteFile(filepath.Join(root, "b.go"), []byte("package other\n"), 0o666)
		},
		"gone": func(root string) error { return os.Remove(filepath.Join(root, "b.go")) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			old := map[string][]byte{"a.go": []byte("package a\n"), "b.go": []byte("package b\n")}
			for path, src := range old {
				writeFile(t, filepath.Join(root, path), src)
			}
			if err := spoil(root); err != nil {
				t.Fatal(err)
			}
			err := Apply(root, old, map[string][]byte{"a.go": []byte("1\n"), "b.go": []byte("2\n")})
			if err == nil || name == "changed" && !errors.Is(err, ErrChanged) {
				t.Errorf("Apply gave %v", err)
			}
			if got, _ := os.ReadFile(filepath.Join(root, "a.go")); string(got) != "package a\n" {
				t.Errorf("a.go was written: %q", got)
			}
		})
	}
	if err := Apply(t.TempDir(), nil, map[string][]byte{"../x.go": nil}); err == nil {
		t.Error("Apply leads out of the module")
	}
}

// broken is a file on a disk that is full once some bytes were written, and
// stays full for good if stays is set.
type broken struct {
	file
	room  int
	stays bool
}

func (b *broken) Write(p []byte) (int, error) {
	if len(p) > b.room {
		n, err := b.file.Write(p[:b.room])
		if !b.stays {
			b.room = 1 << 20
		}
		return n, errors.Join(errors.New("disk full"), err)
	}
	return b.file.Write(p)
}

func TestApplyPutsBack(t *testing.T) {
	real := openFile
	defer func() { openFile = real }()
	t.Setenv("TMPDIR", t.TempDir())
	for _, stays := range []bool{false, true} {
		root := t.TempDir()
		old := map[string][]byte{"a.go": []byte("package a\n"), "b.go": []byte("package b\n")}
		for path, src := range old {
			writeFile(t, filepath.Join(root, path), src)
		}
		openFile = func(name string) (file, error) {
			f, err := real(name)
			if filepath.Base(name) == "b.go" {
				f = &broken{f, 5, stays}
			}
			return f, err
		}
		err := Apply(root, old, map[string][]byte{"a.go": []byte("package a // 1\n"), "b.go": []byte("package b // 2\n")})
		if err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("Apply returned %v", err)
			continue
		}
		if got, _ := os.ReadFile(filepath.Join(root, "a.go")); string(got) != "package a\n" {
			t.Errorf("a.go holds %q", got)
		}
		if !stays {
			if got, _ := os.ReadFile(filepath.Join(root, "b.go")); string(got) != "package b\n" {
				t.Errorf("b.go holds %q", got)
			}
			continue
		}
		_, where, ok := strings.Cut(err.Error(), "its old contents are in ")
		if got, _ := os.ReadFile(strings.TrimSpace(where)); !ok || string(got) != "package b\n" {
			t.Errorf("no way back: %v", err)
		}
	}
}

func TestLineEnds(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{"a\nb\n", "a\nx\nb\n", "a\nx\nb\n"},
		{"a\r\nb\r\n", "a\nx\nb\n", "a\r\nx\r\nb\r\n"},
		{"a\r\nb\r\n", "x\na\n", "x\r\na\r\n"},
		{"a\nb\r\nc\n", "a\nx\nb\ny\nc\nz\n", "a\nx\nb\r\ny\r\nc\nz\n"},
		{"a\r\nb", "a\nx\nb", "a\r\nx\r\nb"},
		{"a\r\nb", "a\nb\nx\n", "a\r\nb\r\nx\r\n"},
	} {
		if got := endLinesAs([]byte(tt.old), []byte(tt.new)); string(got) != tt.want {
			t.Errorf("%q, now %q: %q, want %q", tt.old, tt.new, got, tt.want)
		}
	}
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

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
		"gone":      func(root string) error { return os.Remove(filepath.Join(root, "b.go")) },
		"protected": func(root string) error { return os.Chmod(filepath.Join(root, "b.go"), 0o444) },
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

// failWrites lets each write of data that holds part stop after five bytes, as
// on a full disk: the first one only, or all from then on if stays is set.
func failWrites(t *testing.T, part string, stays bool) {
	t.Helper()
	real, failed := write, false
	t.Cleanup(func() { write = real })
	write = func(f *os.File, data []byte) (int, error) {
		if strings.Contains(string(data), part) && !failed || failed && stays {
			failed = true
			n, err := real(f, data[:5])
			return n, errors.Join(errors.New("disk full"), err)
		}
		return real(f, data)
	}
}

// tree writes two files, with a second name each if linked is set.
func tree(t *testing.T, linked bool) (root string, old, patched map[string][]byte) {
	t.Helper()
	root = t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	old = map[string][]byte{"a.go": []byte("package a\n"), "b.go": []byte("package b\n")}
	for path, src := range old {
		writeFile(t, filepath.Join(root, path), src)
		if linked {
			if err := os.Link(filepath.Join(root, path), filepath.Join(root, path+".link")); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root, old, map[string][]byte{"a.go": []byte("package a // 1\n"), "b.go": []byte("package b // 2\n")}
}

// expect demands contents of files below root.
func expect(t *testing.T, root string, want map[string][]byte) {
	t.Helper()
	for path, src := range want {
		if got, err := os.ReadFile(filepath.Join(root, path)); err != nil || string(got) != string(src) {
			t.Errorf("%s holds %q (%v), want %q", path, got, err, src)
		}
	}
}

// A full disk shows before anything has changed, and nothing is left behind.
func TestApplyStagesFirst(t *testing.T) {
	root, old, patched := tree(t, false)
	failWrites(t, "// 2", true)
	if err := Apply(root, old, patched); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("Apply returned %v", err)
	}
	expect(t, root, old)
	if entries, _ := os.ReadDir(root); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

// No file is half written at any moment: while new contents are written, all
// files have the old ones.
func TestApplyWritesBeside(t *testing.T) {
	root, old, patched := tree(t, false)
	real, writes := write, 0
	t.Cleanup(func() { write = real })
	write = func(f *os.File, data []byte) (int, error) {
		writes++
		expect(t, root, old)
		return real(f, data)
	}
	if err := Apply(root, old, patched); err != nil || writes != 2 {
		t.Errorf("%d writes: %v", writes, err)
	}
	expect(t, root, patched)
	if entries, _ := os.ReadDir(root); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

// Files with several names are written in place, and put back.
func TestApplyPutsBack(t *testing.T) {
	for _, stays := range []bool{false, true} {
		root, old, patched := tree(t, true)
		failWrites(t, "// 2", stays)
		err := Apply(root, old, patched)
		if err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("Apply returned %v", err)
			continue
		}
		if !stays {
			expect(t, root, old)
			expect(t, root, map[string][]byte{"b.go.link": old["b.go"]})
			continue
		}
		_, rest, ok := strings.Cut(err.Error(), "its old contents are in ")
		where, _, _ := strings.Cut(rest, "\n")
		if got, _ := os.ReadFile(where); !ok || string(got) != "package b\n" {
			t.Errorf("no way back: %v", err)
		}
		// The next start names the backup.
		err = Apply(root, old, patched)
		if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "was interrupted: copy ") {
			t.Errorf("Apply returned %v", err)
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

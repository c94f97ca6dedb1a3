package tree

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// put makes files below dir; a name with " -> " is a symbolic link, in whose
// target DIR is dir.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name, target, link := strings.Cut(name, " -> ")
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		var err error
		if link {
			err = os.Symlink(strings.ReplaceAll(target, "DIR", dir), path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever is written to a copy, the original keeps its text.
func TestCopyLeadsNowhere(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"m/a.go": "a", "m/sub/b.go": "b", "out/c.go": "c", "out/d/e.go": "e",
		"m/inner -> a.go": "", "m/sub/up -> ../a.go": "",
		"m/absolute -> DIR/m/a.go":      "",
		"m/around -> ../out/back/a.go":  "",
		"out/back -> ../m":              "",
		"m/file.go -> ../out/c.go":      "",
		"m/chain -> file.go":            "",
		"m/absfile.go -> DIR/out/c.go":  "",
		"m/folder -> ../out/d":          "",
		"m/insidefolder -> DIR/m/sub":   "",
		"m/nothing -> ../out/nowhere":   "",
		"m/nothingin -> DIR/m/notthere": "",
		"link -> m":                     "",
	})
	if err := os.Link(filepath.Join(dir, "out/c.go"), filepath.Join(dir, "m/hard.go")); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{"m", "link"} {
		to := filepath.Join(t.TempDir(), "copy")
		if err := Copy(t.Context(), to, filepath.Join(dir, from), nil); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{
			"a.go": "a", "sub/b.go": "b", "inner": "a", "sub/up": "a", "absolute": "a", "around": "a",
			"file.go": "c", "chain": "c", "absfile.go": "c", "folder/e.go": "e", "insidefolder/b.go": "b", "hard.go": "c",
		} {
			got, err := os.ReadFile(filepath.Join(to, name))
			if err != nil || string(got) != want {
				t.Errorf("%s of %s: %q, %v; want %q", name, from, got, err, want)
			}
			err = Write(to, map[string][]byte{name: []byte("changed")})
			if outside := name == "folder/e.go"; outside != (err != nil) {
				t.Errorf("writing %s of %s: %v", name, from, err)
			}
			if err := Write(to, map[string][]byte{name: []byte(want)}); err != nil && name != "folder/e.go" {
				t.Error(err)
			}
		}
		for _, link := range []string{"inner", "sub/up", "absolute", "around", "insidefolder", "nothingin"} {
			target, err := os.Readlink(filepath.Join(to, link))
			if err != nil || filepath.IsAbs(target) {
				t.Errorf("%s of %s leads to %q, %v", link, from, target, err)
			}
		}
		for _, file := range []string{"file.go", "chain", "absfile.go", "hard.go"} {
			if info, err := os.Lstat(filepath.Join(to, file)); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%s of %s is no file: %v, %v", file, from, info, err)
			}
		}
	}
	for name, want := range map[string]string{"m/a.go": "a", "m/sub/b.go": "b", "out/c.go": "c", "out/d/e.go": "e"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("original %s: %q, %v", name, got, err)
		}
	}
}

func TestCopyLeavesOut(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"x.go": "x", ".git/HEAD": "ref", "sub/.git": "gitdir: elsewhere", "sub/y.go": "y",
		"tmp/scratch/z.go": "z", "tmp/kept.go": "k", "locked.go": "l",
	})
	if err := os.Chmod(filepath.Join(dir, "locked.go"), 0o444); err != nil {
		t.Fatal(err)
	}
	if l, err := net.Listen("unix", filepath.Join(dir, "socket")); err == nil {
		defer l.Close()
	}
	to := filepath.Join(dir, "tmp", "copy") // in the tree itself
	if err := Copy(t.Context(), to, dir, func(path string) bool { return path == "tmp/scratch" }); err != nil {
		t.Fatal(err)
	}
	var got []string
	filepath.WalkDir(to, func(name string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			rel, _ := filepath.Rel(to, name)
			got = append(got, filepath.ToSlash(rel))
		}
		return err
	})
	if text := strings.Join(got, " "); text != "locked.go sub/y.go tmp/kept.go x.go" {
		t.Errorf("copied: %s", text)
	}
	if info, err := os.Stat(filepath.Join(to, "locked.go")); err != nil || info.Mode()&0o200 == 0 {
		t.Errorf("the copy of a read-only file: %v, %v", info.Mode(), err)
	}
}

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
	if err := Copy(t.Context(), to, from, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.go", "new.go"} {
		if err := os.WriteFile(filepath.Join(to, "sub", name), []byte("package b\n"), 0o644); err != nil {
			t.Error(err)
		}
	}
}

func TestCopyFails(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"m/x.go": "x"})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Copy(ended, filepath.Join(dir, "a"), filepath.Join(dir, "m"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	absent := filepath.Join(dir, "absent")
	if err := Copy(t.Context(), filepath.Join(dir, "b"), absent, nil); err == nil ||
		!strings.Contains(err.Error(), absent) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if err := Copy(t.Context(), filepath.Join(dir, "m"), filepath.Join(dir, "m"), nil); err == nil {
		t.Error("a tree was copied onto itself")
	}
}

func TestRel(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"m/sub/x": "", "n/x": "", "m/way -> ../n": "", "n/back -> ../m/sub": "",
		"link -> m": ""})
	root := filepath.Join(dir, "m")
	for path, want := range map[string]string{
		"m": ".", "m/sub": "sub", "link": ".", "link/sub": "sub", "n/back": "sub",
		"m/way": "way", "n": "", "": "", "absent": "",
	} {
		got, ok := Rel(root, filepath.Join(dir, path))
		if ok != (want != "") || got != want {
			t.Errorf("%s: %q, %v; want %q", path, got, ok, want)
		}
	}
	if got, ok := Rel(filepath.Join(dir, "link"), filepath.Join(root, "sub")); !ok || got != "sub" {
		t.Errorf("a root behind a link: %q, %v", got, ok)
	}
	upper := filepath.Join(dir, "M", "SUB")
	if _, err := os.Stat(upper); err != nil {
		t.Log("letter case counts here")
	} else if got, ok := Rel(root, upper); !ok || !strings.EqualFold(got, "sub") {
		t.Errorf("other letter case: %q, %v", got, ok)
	}
}

package cache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What is kept is kept up to a size, what was used last; what another process
// holds stays whatever its age.
func TestEvict(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"new": 0, "middle": time.Hour, "old": 2 * time.Hour,
		"held": 3 * time.Hour, "aged": 2 * Age} {
		write(t, filepath.Join(dir, name, LockName), "")
		write(t, filepath.Join(dir, name, "0/m.test"), strings.Repeat(".", 100))
		used := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(dir, name, LockName), used, used); err != nil {
			t.Fatal(err)
		}
	}
	held, err := TryLock(filepath.Join(dir, "held", LockName))
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
		Evict(dir, step.limit)
		if got := names(t, dir); !slices.Equal(got, step.left) {
			t.Errorf("limit %d: left %q, want %q", step.limit, got, step.left)
		}
	}
}

// Whatever stands in the folder's place, it is there afterwards, and nothing
// else is.
func TestPublishReplacesWhatIsDamaged(t *testing.T) {
	sound := func(dir string) bool {
		data, err := os.ReadFile(filepath.Join(dir, "sub", "file"))
		return err == nil && string(data) == "right"
	}
	fill := func(dir string) error {
		write(t, filepath.Join(dir, "sub", "file"), "right")
		return nil
	}
	for name, damage := range map[string]func(dir string){
		"nothing":       func(string) {},
		"sound":         func(dir string) { fill(dir) },
		"truncated":     func(dir string) { write(t, filepath.Join(dir, "sub", "file"), "ri") },
		"zeroed":        func(dir string) { write(t, filepath.Join(dir, "sub", "file"), "\x00\x00\x00\x00\x00") },
		"empty":         func(dir string) { os.MkdirAll(dir, 0o755) },
		"file":          func(dir string) { write(t, dir, "") },
		"file above":    func(dir string) { write(t, filepath.Dir(dir), "") },
		"folder inside": func(dir string) { write(t, filepath.Join(dir, "sub", "file", "x"), "") },
		"unreadable": func(dir string) {
			fill(dir)
			write(t, filepath.Join(dir, "sub", "file"), "wrong") // root reads all
			os.Chmod(filepath.Join(dir, "sub", "file"), 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "above", "dir")
			damage(dir)
			if err := Publish(dir, sound, fill); err != nil {
				t.Fatal(err)
			}
			if !sound(dir) {
				t.Error("not sound")
			}
			if got := names(t, filepath.Dir(dir)); !slices.Equal(got, []string{"dir"}) {
				t.Errorf("beside it: %q", got)
			}
		})
	}
}

func TestPublishFailsAsFillDoes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	want := errors.New("no")
	if err := Publish(dir, func(string) bool { return false }, func(string) error { return want }); !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
	if got := names(t, filepath.Dir(dir)); len(got) > 0 {
		t.Errorf("left %q", got)
	}
}

// A lock is released when its owner is killed.
func TestLockEndsWithItsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockName)
	if os.Getenv("LOCK") != "" {
		if _, err := TryLock(os.Getenv("LOCK")); err != nil {
			t.Fatal(err)
		}
		write(t, os.Getenv("LOCK")+".taken", "")
		select {}
	}
	owner := exec.Command(os.Args[0], "-test.run=^TestLockEndsWithItsOwner$", "-test.timeout=1m")
	owner.Env = append(os.Environ(), "LOCK="+path)
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	defer owner.Wait()
	defer owner.Process.Kill()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(path + ".taken"); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the lock was not taken")
		}
	}
	if _, err := TryLock(path); err == nil {
		t.Fatal("two processes hold the lock")
	}
	waited := 0
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := Lock(ctx, path, func() { waited++ }); err == nil {
		t.Fatal("waiting for the lock did not end")
	}
	time.AfterFunc(10*time.Millisecond, func() { owner.Process.Kill() })
	ctx, cancel = context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	lock, err := Lock(ctx, path, func() { waited++ })
	if err != nil {
		t.Fatal(err)
	}
	lock.Close()
	if waited != 2 {
		t.Errorf("said %d times that it waits, want 2", waited)
	}
	if _, err := Lock(ctx, filepath.Join(path, "in", "file"), func() { t.Error("waits for what cannot be") }); err == nil {
		t.Error("locked a file in a file")
	}
}

// A folder has its lock for as long as it has anything else: a removal that is killed can be done again.
func TestRemoveKeepsTheLockToTheEnd(t *testing.T) {
	for range 3 {
		dir := filepath.Join(t.TempDir(), "dir")
		write(t, filepath.Join(dir, LockName), "")
		for i := range 500 {
			write(t, filepath.Join(dir, fmt.Sprint(i)), "")
		}
		removed := make(chan error, 1)
		go func() { removed <- Remove(dir) }()
		for left := true; left; {
			_, err := os.Stat(filepath.Join(dir, LockName))
			entries, _ := os.ReadDir(dir) // after the look at the lock: what is there now was there then
			left = len(entries) > 0
			if left && err != nil {
				t.Fatalf("no lock, and %d files", len(entries))
			}
		}
		if err := <-removed; err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Fatal("the folder is there")
		}
	}
}

// A folder in the lock's place is no owner.
func TestLockReplacesAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockName)
	write(t, filepath.Join(path, "x"), "")
	lock, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	lock.Close()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
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

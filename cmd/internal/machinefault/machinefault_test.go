package machinefault

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	for said, next := range map[string]string{
		"# example.com/m\nbytes: write /tmp/go-build1/b041/vet.cfg: no space left on " +
			"device\n": "free some space",
		"go list: write /cache/go-build/71/x-d: no space left on device; fix the module or the " +
			"request": "free some space",
		"go: creating work dir: stat /nonexistent: no such file or " +
			"directory": "set TMPDIR",
		"making a temporary folder: mkdir /x/interlock-1-2: permission " +
			"denied": "set TMPDIR",
		"go list: failed to initialize build cache at /f/go-build: mkdir /f: permission denied; fix the module or the " +
			"request": "set GOCACHE",
		"running go vet: exit status 1:\nbuild cache is required, but could not be located: GOCACHE is not defined and " +
			"neither $HOME…": "set GOCACHE",
		"fork/exec /usr/bin/go: resource temporarily " +
			"unavailable": "ulimit",
		"--- FAIL: TestServe (0.00s)\n    serve_test.go:9: listen tcp :9991: bind: address already in " +
			"use\nFAIL\n": "end the program that holds the port",
	} {
		got, ok := Find(said)
		if !ok || !strings.Contains(got, next) || strings.Contains(got, "fix the module") || strings.Contains(got, "\n") {
			t.Errorf("%q: got %q, want one line with %q", said, got, next)
		}
	}
	for _, said := range []string{
		"# m\n./a.go:3:5: undefined: x",
		`./a.go:3:5: cannot use "no space left on device" (untyped string constant) as int value in assignment`,
		"go: go.mod file not found in current directory or any parent directory",
	} {
		if got, ok := Find(said); ok {
			t.Errorf("%q is no fault of the machine: %q", said, got)
		}
	}
}

func TestFindOnDisk(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("GOTMPDIR", "")
	t.Setenv("GOCACHE", dir)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "not-made-yet"))
	if fault, ok := FindOnDisk(); ok {
		t.Errorf("a sound disk: %s", fault)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "nowhere"))
	if fault, ok := FindOnDisk(); !ok || !strings.Contains(fault, "TMPDIR") {
		t.Errorf("a TMPDIR that is not there: %q", fault)
	}
}

// Package testmodule makes modules for the tests of the packages below dynamic, which build them
// with the go command.
package testmodule

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/interlock-go/interlock/dynamic/tree"
)

// Main runs tests as TestMain does. They share the go command's own cache, while Interlock's
// is an empty one that goes with them; no network is used.
func Main(m *testing.M) {
	os.Exit(func() int {
		out, err := exec.Command("go", "env", "GOCACHE").Output()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		dir, err := os.MkdirTemp("", "testmodule")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		os.Setenv("GOCACHE", strings.TrimSpace(string(out)))
		os.Setenv("XDG_CACHE_HOME", dir)
		os.Setenv("GOFLAGS", "")
		os.Setenv("GOPROXY", "off")
		return m.Run()
	}())
}

// Unpack writes a txtar archive to a folder of its own.
func Unpack(t testing.TB, archive string) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		files[f.Name] = f.Data
	}
	if err := tree.Create(dir, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

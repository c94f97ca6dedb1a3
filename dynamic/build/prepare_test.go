package build

import (
	"context"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/build/internal/store"
	"github.com/interlock-go/interlock/dynamic/cache"
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/internal/testmodule"
	"github.com/interlock-go/interlock/dynamic/scratch"
	"github.com/interlock-go/interlock/dynamic/tree"
)

// godebug returns the GODEBUG defaults that are linked into a binary.
func godebug(t *testing.T, binary string) string {
	t.Helper()
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range info.Settings {
		if s.Key == "DefaultGODEBUG" {
			return s.Value
		}
	}
	return ""
}

// The program must run with the GODEBUG defaults of the user's own build.
func TestGODEBUGStays(t *testing.T) {
	if os.Getenv("INTERLOCK_TEST_LONG") == "" {
		t.Skip("make long has it: it links for each version")
	}
	t.Parallel()
	const test = "-- a_test.go --\npackage m\n\nimport \"testing\"\n\nfunc TestX(*testing.T) {}\n"
	for _, tt := range []struct{ name, archive, dir string }{
		{"no go line", "-- go.mod --\nmodule m\n", ""},
		{"1.12", "-- go.mod --\nmodule m\n\ngo 1.12\n", ""},
		{"1.20", "-- go.mod --\nmodule m\n\ngo 1.20\n", ""},
		{"1.22", "-- go.mod --\nmodule m\n\ngo 1.22.0\n", ""},
		{"1.26", "-- go.mod --\nmodule m\n\ngo 1.26\n", ""},
		{"godebug line", "-- go.mod --\nmodule m\n\ngo 1.23\n\ngodebug panicnil=1\n", ""},
		{"godebug default", "-- go.mod --\nmodule m\n\ngo 1.23\n\ngodebug default=go1.21\n", ""},
		{"workspace", "-- go.work --\ngo 1.22\n\nuse ./m\n\ngodebug asynctimerchan=0\n-- m/go.mod --\nmodule m\n\n" +
			"go 1.20\n", "m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := testmodule.Unpack(t, tt.archive)
			dir = filepath.Join(dir, tt.dir)
			if err := tree.Create(dir, map[string][]byte{"a_test.go": []byte(strings.SplitN(test, "\n",
				2)[1])}); err != nil {
				t.Fatal(err)
			}
			plain := filepath.Join(t.TempDir(), "plain.test")
			cmd := exec.Command("go", "test", "-c", "-o", plain, ".")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			m := load(t, dir)
			bins := buildTests(t, workspace(t, m, mark(m)))
			if got, want := godebug(t, bins[0].Path), godebug(t, plain); got != want {
				t.Errorf("GODEBUG defaults\n%s\nwant those of the plain build\n%s", got, want)
			}
			run(t, bins)
		})
	}
}

func TestUsersWorkspace(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	t.Parallel()
	dir := testmodule.Unpack(t, `
-- go.work --
go 1.22

use (
	./a
	./b
)

replace example.com/c v1.0.0 => ./c
-- a/go.mod --
module example.com/a

go 1.21

require (
	example.com/b v0.0.0
	example.com/c v1.0.0
)

replace example.com/b => ../b
-- a/a.go --
package a

import (
	"example.com/b"
	"example.com/c"
)

func A() string { return b.B() + c.C() }
-- a/a_test.go --
package a

import "testing"

func TestA(t *testing.T) {
	if A() != "bc" {
		t.Error(A())
	}
}
-- b/go.mod --
module example.com/b

go 1.20
-- b/b.go --
package b

func B() string { return "b" }
-- c/go.mod --
module example.com/c
-- c/c.go --
package c

func C() string { return "c" }
`)
	before := snapshot(t, dir)
	m := load(t, filepath.Join(dir, "a"), "./...")
	if m.Root != dir || m.Path != "example.com/a example.com/b" {
		t.Errorf("%q at %s", m.Path, m.Root)
	}
	out := run(t, buildTests(t, workspace(t, m, mark(m))))
	for _, file := range []string{"a/a.go", "a/a_test.go", "b/b.go"} {
		if !strings.Contains(out, "monitored "+file+"\n") {
			t.Errorf("%s was not monitored:\n%s", file, out)
		}
	}
	if strings.Contains(out, "c/c.go") {
		t.Errorf("a replaced dependency is no main module:\n%s", out)
	}
	if after := snapshot(t, dir); len(after) != len(before) {
		t.Error("the user's tree was changed")
	}
}

// A vendor folder is what the program is built from, even where it differs
// from the module that it copies, and even if that cannot be had.
func TestVendorFolderCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	t.Parallel()
	const rest = `
-- a.go --
package m

import "example.com/dep/sub"

func Word() string { return sub.Word() }
-- a_test.go --
package m

import "testing"

func TestWord(t *testing.T) {
	if Word() != "from vendor, indirect" {
		t.Error(Word())
	}
}
-- vendor/example.com/dep/sub/sub.go --
package sub

import "example.com/indirect"

func Word() string { return "from vendor, " + indirect.Word }
-- vendor/example.com/indirect/i.go --
package indirect

const Word = "indirect"
`
	for _, tt := range []struct{ name, mod string }{
		{"lazy", `
-- go.mod --
module m

go 1.22

require example.com/dep v1.2.3

require (
	example.com/indirect v0.1.0 // indirect
	example.com/unused v0.2.0 // indirect
)
-- vendor/modules.txt --
# example.com/dep v1.2.3
## explicit; go 1.20
example.com/dep/sub
# example.com/indirect v0.1.0
## explicit
example.com/indirect
# example.com/unused v0.2.0
## explicit; go 1.13
`},
		{"before 1.17", `
-- go.mod --
module m

go 1.14

require example.com/dep v1.2.3
-- vendor/modules.txt --
# example.com/dep v1.2.3
## explicit
example.com/dep/sub
# example.com/indirect v0.1.0
example.com/indirect
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := testmodule.Unpack(t, tt.mod+rest)
			before := snapshot(t, dir)
			m := load(t, dir)
			out := run(t, buildTests(t, workspace(t, m, mark(m))))
			if !strings.Contains(out, "monitored a.go\n") {
				t.Errorf("not monitored:\n%s", out)
			}
			if after := snapshot(t, dir); len(after) != len(before) {
				t.Error("the user's tree was changed")
			}
		})
	}
}

func TestModFlagOfTheUser(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	t.Setenv("GOFLAGS", "-mod=mod '-ldflags=-X m.v=ab'")
	m := load(t, testmodule.Unpack(t, wholeModule), "./util")
	ws := workspace(t, m, mark(m))
	run(t, buildTests(t, ws))
	if env := strings.Join(ws.Env(), "\n"); strings.Contains(env, "-mod=") ||
		!strings.Contains(env, "'-ldflags=-X m.v=ab'") {
		t.Errorf("environment %s", env)
	}
}

func TestTagsReachLoadAndBuild(t *testing.T) {
	dir := testmodule.Unpack(t, "-- go.mod --\nmodule m\n\ngo 1.22\n-- a.go --\npackage m\n-- x.go --\n//go:build x\n\n"+
		"package m\n-- a_test.go --\npackage m\n\nimport \"testing\"\n\nfunc TestX(*testing.T) {}\n")
	m, err := Load(context.Background(), Options{Dir: dir, BuildFlags: []string{"-tags=x"}})
	if err != nil {
		t.Fatal(err)
	}
	if out := run(t, buildTests(t, workspace(t, m, mark(m)))); !strings.Contains(out, "monitored x.go\n") {
		t.Errorf("the tag was lost:\n%s", out)
	}
}

func TestMonitorFolderIsMended(t *testing.T) {
	cache := t.TempDir()
	dir, err := store.ExtractMonitor(monitor, cache, "")
	if err != nil {
		t.Fatal(err)
	}
	again, err := store.ExtractMonitor(monitor, cache, "")
	if err != nil || again != dir {
		t.Errorf("second time %q, %v; want %q", again, err, dir)
	}
	if err := os.WriteFile(filepath.Join(dir, "rt.go"), []byte("garbage"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := store.ExtractMonitor(monitor, cache, ""); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "rt.go")); string(data) != string(monitor["rt.go"]) {
		t.Errorf("a changed monitor was used: %s", data)
	}
}

func TestCacheThatCannotBeWritten(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", file)
	m := load(t, testmodule.Unpack(t, wholeModule), "./util")
	ws := workspace(t, m, mark(m))
	bins := buildTests(t, ws)
	run(t, bins)
	if !strings.HasPrefix(bins[0].Path, ws.Dir) || !strings.HasPrefix(ws.monitor, ws.Dir) {
		t.Errorf("binary %s, monitor %s", bins[0].Path, ws.monitor)
	}
}

func TestLeftoversAreRemoved(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	live, err := scratch.New(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"interlock-1-2", "interlock-3-4", "interlock-x", "interlock-5-6"} {
		if err := os.Mkdir(filepath.Join(tmp, name), 0o755); err != nil {
			t.Fatal(err)
		}
		os.Chtimes(filepath.Join(tmp, name), old, old)
	}
	// 1-2 died at work, 3-4 before it took its lock, 5-6 is taking it.
	if err := os.WriteFile(filepath.Join(tmp, "interlock-1-2", cache.LockName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	os.Chtimes(filepath.Join(tmp, "interlock-5-6"), now, now)
	next, err := scratch.New(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{filepath.Base(live.Dir), "interlock-5-6", "interlock-x"}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

func TestGOFLAGSRoundTrip(t *testing.T) {
	for _, words := range [][]string{nil, {"-a"}, {"-ldflags=-s -w", "-tags=x,y"}, {"-ldflags=-X 'm.v=1'"},
		{`-ldflags=-X "m.v=1"`}} {
		got, err := gocmd.SplitFlags(gocmd.JoinFlags(words))
		if err != nil || !slices.Equal(got, words) {
			t.Errorf("%q: %q, %v", words, got, err)
		}
	}
	if _, err := gocmd.SplitFlags("-a '-b"); err == nil {
		t.Error("an open quote was accepted")
	}
}

func TestStripDebugKeepsTheUsersFlags(t *testing.T) {
	for _, tt := range []struct{ env, in, want string }{
		{"", "", "-ldflags=-s -w"},
		{"", "-tags=x", "-tags=x -ldflags=-s -w"},
		{"", "-ldflags=-X=m.v=1", "-ldflags=-X=m.v=1 -ldflags=-X=m.v=1 -s -w"},
		{"", "--ldflags=-X=m.v=1", "--ldflags=-X=m.v=1 -ldflags=-X=m.v=1 -s -w"},
		{"", "-ldflags=m/...=-X=m.v=1", "-ldflags=m/...=-X=m.v=1"},
		{"-ldflags=-X=m.v=1", "-tags=x", "-tags=x -ldflags=-X=m.v=1 -s -w"},
		{"-ldflags=-X=m.v=1", "-ldflags=-X=m.v=2", "-ldflags=-X=m.v=2 -ldflags=-X=m.v=2 -s -w"},
	} {
		if got := strings.Join(gocmd.StripDebug(strings.Fields(tt.in), strings.Fields(tt.env)), " "); got != tt.want {
			t.Errorf("%q with GOFLAGS %q: %q, want %q", tt.in, tt.env, got, tt.want)
		}
	}
}

func TestCompareGo(t *testing.T) {
	order := []string{"1.9", "1.12", "1.20", "1.21", "1.21rc2", "1.21.0", "1.21.3", "1.22"}
	for i := range order[1:] {
		if compareGo(order[i], order[i+1]) >= 0 {
			t.Errorf("%s is not before %s", order[i], order[i+1])
		}
	}
}

func TestPrograms(t *testing.T) {
	dir := testmodule.Unpack(t, "-- go.mod --\nmodule m\n\ngo 1.22\n-- main.go --\npackage main\n\nfunc main() {}\n"+
		"-- main_test.go --\npackage main\n\nvar _ = undefined\n")
	m, err := Load(context.Background(), Options{Dir: dir, Programs: true})
	if err != nil {
		t.Fatal(err)
	}
	ws := workspace(t, m, mark(m))
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), ws.Env()...)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "monitored main.go\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

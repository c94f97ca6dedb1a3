package driver_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/summary"
	"github.com/interlock-go/interlock/cmd/internal/driver"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// tool is the program under test. It is built without the race detector, even
// where the tests run under it: the go command runs it on every dependency.
var tool string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "driver")
	if err != nil {
		log.Fatal(err)
	}
	tool = filepath.Join(dir, "interlock.exe")
	build := exec.Command("go", "build", "-race=false", "-o", tool, "../../interlock")
	if out, err := build.CombinedOutput(); err != nil {
		log.Fatalf("building the tool: %v\n%s", err, out)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// unpack lays out the module in testdata/name.txtar in a folder of its own.
func unpack(t *testing.T, name string) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func vet(t *testing.T, dir string, patterns ...string) (*driver.Result, error) {
	t.Helper()
	return driver.Vet(t.Context(), driver.Options{Dir: dir, Patterns: patterns, Tool: tool,
		Env: []string{"GOFLAGS=", "GOWORK=off"}})
}

func TestVet(t *testing.T) {
	dir := unpack(t, "module")
	r, err := vet(t, dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if r.Root != dir || r.Path != "example.com/m" {
		t.Errorf("root %q, path %q", r.Root, r.Path)
	}
	if want := []string{"example.com/m", "example.com/m/sub", "example.com/m/sub_test"}; !slices.Equal(r.Packages, want) {
		t.Errorf("packages %q, want %q", r.Packages, want)
	}
	var got []string
	for _, f := range r.Findings {
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
		got = append(got, string(f.Code)+" "+f.Accesses[0].String()+" "+f.Accesses[0].Source)
	}
	want := []string{
		"IL1001 m.go:20:32 func (c *C) Get() int { return c.n }",
		"IL1001 sub/sub.go:20:32 func (s *S) Get() int { return s.C.Len }",
	}
	if !slices.Equal(got, want) {
		t.Errorf("findings:\n got %q\nwant %q", got, want)
	}
	if want := []string{"m.go:22:1: interlock:ignore IL1001 suppresses no finding of a check: remove it, unless it " +
		"accepts one of `interlock test`"}; !slices.Equal(r.Unused, want) || len(r.Problems) > 0 {
		t.Errorf("unused %q, want %q; problems %q", r.Unused, want, r.Problems)
	}
	skip := driver.Skip{File: "m.go", Line: 25, Column: 2, Mode: finding.Write, Reason: summary.Fresh}
	if !slices.Contains(r.Skips, skip) {
		t.Errorf("skips %+v, want among them %+v", r.Skips, skip)
	}
	edges := r.Locks["example.com/m/sub"].Orders
	if len(edges) != 1 || edges[0].From != "example.com/m/sub.S.mu" || edges[0].To != "example.com/m.C.Mu" ||
		edges[0].Position.File != "sub/sub.go" || edges[0].Function != "(*S).Set" {
		t.Errorf("lock order %+v", edges)
	}
}

// No package sees the cycle: one has each of its orders.
func TestJoin(t *testing.T) {
	dir := unpack(t, "orders")
	r, err := vet(t, dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || len(r.Problems) > 0 {
		t.Fatalf("%d findings, want 1; problems %q", len(r.Findings), r.Problems)
	}
	f := r.Findings[0]
	if err := f.Validate(); err != nil {
		t.Error(err)
	}
	var got []string
	for _, e := range f.Cycle {
		got = append(got, fmt.Sprintf("%s %s: %s -> %s, locked at line %d, %s", e.Position, e.Function, e.From, e.To,
			e.Since.Line, e.Via))
	}
	want := []string{
		"ab/ab.go:7:2 Move: example.com/m.A.Mu -> example.com/m.B.Mu, locked at line 6, ",
		"ba/ba.go:8:2 Move: example.com/m.B.Mu -> example.com/m.A.Mu, locked at line 6, (*A).Add at m.go:16",
	}
	if f.Code != finding.LockCycle || f.Title != "A.Mu and B.Mu are locked in both orders" || !slices.Equal(got, want) {
		t.Errorf("%s %q\n got %q\nwant %q", f.Code, f.Title, got, want)
	}
	if one, err := vet(t, dir, "./ab", "."); err != nil || len(one.Findings) > 0 {
		t.Errorf("without the other package: %v, %+v", err, one)
	}
}

// One package has a lock and calls through an interface, another the
// implementation and the other order; a third has neither put there.
func TestDispatch(t *testing.T) {
	dir := unpack(t, "dispatch")
	r, err := vet(t, dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || len(r.Problems) > 0 {
		t.Fatalf("%d findings, want 1; problems %q", len(r.Findings), r.Problems)
	}
	var got []string
	for _, e := range r.Findings[0].Cycle {
		got = append(got, fmt.Sprintf("%s %s: %s -> %s, %s", e.Position, e.Function, e.From, e.To, e.Via))
	}
	want := []string{
		"index/index.go:26:3 (*Index).Refresh: example.com/m/index.Index.mu -> example.com/m/store.Store.mu, " +
			"(*Store).Touch at store.go:30",
		"store/store.go:26:2 (*Store).Put: example.com/m/store.Store.mu -> example.com/m/index.Index.mu, (*Index).Add " +
			"at index.go:17",
	}
	if r.Findings[0].Code != finding.LockCycle || !slices.Equal(got, want) {
		t.Errorf("%s\n got %q\nwant %q", r.Findings[0].Code, got, want)
	}
}

// The same result comes from the go command's cache.
func TestVetCached(t *testing.T) {
	dir := unpack(t, "module")
	first, err := vet(t, dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	second, err := vet(t, dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Findings) == 0 || len(first.Findings) != len(second.Findings) ||
		first.Findings[0].ID != second.Findings[0].ID {
		t.Errorf("%d findings, then %d", len(first.Findings), len(second.Findings))
	}
}

func TestCompileErrors(t *testing.T) {
	for _, name := range []string{"typeerror", "syntaxerror"} {
		t.Run(name, func(t *testing.T) {
			_, err := vet(t, unpack(t, name), "./...")
			var compile *driver.CompileError
			if !errors.As(err, &compile) {
				t.Fatalf("error %v, want a CompileError", err)
			}
			if !strings.Contains(compile.Output, ".go:4:") {
				t.Errorf("output without the compiler's position:\n%s", compile.Output)
			}
		})
	}
}

func TestUsageErrors(t *testing.T) {
	for _, test := range []struct{ name, pattern, want string }{
		{"empty", "./...", "go.mod"},
		{"module", "./nope", "nope"},
		{"module", "./docs/...", "no package matches ./docs/..."},
		{"module", "fmt", "not of the module worked on"},
	} {
		_, err := vet(t, unpack(t, test.name), test.pattern)
		var usage *gocmd.ConfigError
		if !errors.As(err, &usage) {
			t.Errorf("%s %s: error %v, want a ConfigError", test.name, test.pattern, err)
			continue
		}
		if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || usage.Next == "" {
			t.Errorf("%s %s: error %q, want one line with %q", test.name, test.pattern, err, test.want)
		}
	}
}

func TestVetCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := driver.Vet(ctx, driver.Options{Dir: unpack(t, "module"), Patterns: []string{"./..."}, Tool: tool})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// A tool that cannot run is no compile error of the user's.
func TestToolFails(t *testing.T) {
	dir := unpack(t, "module")
	_, err := driver.Vet(t.Context(), driver.Options{Dir: dir, Patterns: []string{"./..."},
		Tool: filepath.Join(dir, "no-such-tool")})
	if err == nil || errors.As(err, new(*driver.CompileError)) {
		t.Errorf("error %v, want one that is no CompileError", err)
	}
}

// People who run the vet tool themselves see diagnostics, and no summaries.
func TestPlainVet(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "vet", "-vettool="+tool, "-guardedby.possible", "./...")
	cmd.Dir = unpack(t, "module")
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("go vet succeeded, want findings")
	}
	for _, want := range []string{
		"m.go:20:32: IL1001: C.n is read without c.Mu",
		"m.go:22:1: interlock:ignore IL1001 suppresses no finding",
		"sub.go:20:32: IL1001: C.Len is read without Mu",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("output lacks %q", want)
		}
	}
	if strings.Contains(string(out), `"version"`) {
		t.Error("output holds a summary")
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}

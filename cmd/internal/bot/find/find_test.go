package find

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// some returns a finding of a name.
func some(name string, status finding.Status) *finding.Finding {
	f := &finding.Finding{Version: finding.SchemaVersion, Code: "IL1001", Status: status, Title: name,
		Variable: finding.Variable{Package: "m", Name: name}, Evidence: &finding.Evidence{},
		Accesses: []finding.Access{{Position: finding.Position{File: "a.go", Line: 1}, Function: "f", Expr: name,
			Mode: finding.Write}}}
	f.ID = f.ComputeID()
	return f
}

// TestFind finds with commands that write reports as Interlock does: the base is a copy, and what runs have shown takes
// the place of its suspicion.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	sh := func(script string) string {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	base := sh(`git init -q -b main; mkdir -p m/a m/b m/c; cd m; printf 'module m\n\ngo 1.21\n' >go.mod
		echo 'package a' >a/a.go; printf 'package b\n\nimport _ "m/a"\n' >b/b.go; echo 'package c' >c/c.go
		printf 'package c_test\n\nimport _ "m/b"\n' >c/c_test.go; mkdir d; echo 'package d' >d/d.go
		git add .; git commit -q -m a; git rev-parse HEAD`)
	head := sh("git checkout -q -b change; echo '// more' >>m/a/a.go; git commit -q -a -m b; git checkout -q main; " +
		"git commit -q --allow-empty -m later; git checkout -q change; git rev-parse HEAD")
	module := filepath.Join(dir, "m")
	for _, c := range []struct {
		name     string
		code     int // of the check of head
		complete bool
	}{{"clean", 0, true}, {"findings", 1, true}, {"broken", 3, false}, {"interrupted", 0, false}} {
		t.Run(c.name, func(t *testing.T) {
			var calls []string
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			f, err := Find(ctx, module, Options{Base: "main", Flags: []string{"-runs=3"}, Note: func(string) {},
				Interlock: func(_ context.Context, at string, args ...string) (int, error) {
					report := []*finding.Finding{some("old", finding.Suspected)}
					code := 0
					switch {
					case at != module:
						text, err := os.ReadFile(filepath.Join(at, "a", "a.go"))
						if err != nil || string(text) != "package a\n" {
							t.Errorf("the base has %q, %v", text, err)
						}
						at = "base"
					case args[0] == "check":
						at, code = "head", c.code
						report = append(report, some("race", finding.Suspected))
					default:
						at = "head"
						report = append(report, some("race", finding.Confirmed))
						if c.name == "interrupted" {
							interrupt()
							code = 130
						}
					}
					calls = append(calls, strings.Join(append([]string{at, args[0]}, args[2:]...), " "))
					if code == 3 {
						return code, nil // it could not even begin
					}
					var text strings.Builder
					for _, f := range report {
						line, err := json.Marshal(f)
						if err != nil {
							return 0, err
						}
						text.Write(append(line, '\n'))
					}
					fmt.Fprintf(&text, `{"version":1,"end":true,"findings":%d}`+"\n", len(report))
					return code, os.WriteFile(strings.TrimPrefix(args[1], "-o=jsonl:"), []byte(text.String()), 0o644)
				}})
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"base check -possible -leads ./...", "head check -possible -leads ./...",
				"head fix -runs=3 m/a m/b m/c"}
			if !slices.Equal(calls, want) {
				t.Errorf("calls %q, want %q", calls, want)
			}
			if f.Base != base || f.Head != head || f.Module != "m" || f.Complete != c.complete {
				t.Errorf("%+v", f)
			}
			if len(f.Known) != 1 || len(f.Findings) != 2 || f.Findings[1].Status != finding.Confirmed {
				t.Errorf("known %v, findings %v", f.Known, f.Findings)
			}
		})
	}
	if status := sh("git status --porcelain; git worktree list | wc -l"); status != "1" {
		t.Errorf("the repository has changed: %s", status)
	}
}

func TestChosen(t *testing.T) {
	lines := "m/a\t/m/a\t\t\nm/b\t/m/b\t\tm/a \nm/c\t/m/c\t\t\nm/c.test\t/m/c\t\tm/c m/c_test \n" +
		"m/c_test [m/c.test]\t/m/c\tm/c\tm/b m/a \nm/d\t/m/d\t\t\nbroken\n"
	for _, c := range []struct {
		changed string
		all     bool
		want    string
	}{{"/m/a", false, "m/a m/b m/c"}, {"/m/c", false, "m/c"}, {"/m/x", false, ""}, {"", true, "m/a m/b m/c m/d"}} {
		if got := strings.Join(chosen(lines, map[string]bool{c.changed: true}, c.all), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.changed, got, c.want)
		}
	}
}

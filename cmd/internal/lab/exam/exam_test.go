package exam

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Each case has the fields from which it is made, and is of a commit that was drawn.
func TestCases(t *testing.T) {
	data, err := os.ReadFile("drawn.json")
	if err != nil {
		t.Fatal(err)
	}
	var drawn struct{ Bugs []struct{ Fix string } }
	if err := json.Unmarshal(data, &drawn); err != nil {
		t.Fatal(err)
	}
	bugs, err := readBugs(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(bugs) < 50 {
		t.Errorf("%d cases", len(bugs))
	}
	for _, b := range bugs {
		if b.Repository == "" || b.Kind == "" || b.Packages == "" || b.Run == "" || b.Why == "" {
			t.Errorf("%s: a field is empty: %+v", b.name, b)
		}
		if hasDriver := slices.ContainsFunc(b.files, isTest); hasDriver != (b.Driver == "ours") {
			t.Errorf("%s: the driver is %q, and the archive has one: %v", b.name, b.Driver, hasDriver)
		}
		if !slices.ContainsFunc(drawn.Bugs, func(d struct{ Fix string }) bool {
			return strings.HasPrefix(b.Fix, d.Fix) || strings.HasPrefix(d.Fix, b.Fix)
		}) {
			t.Errorf("%s: %s was not drawn", b.name, b.Fix)
		}
	}
	if _, err := readBugs([]string{"none"}); err == nil {
		t.Error("a name of no case is accepted")
	}
}

// Each case has been judged once, in words that docs use.
func TestJudged(t *testing.T) {
	data, err := os.ReadFile("judged.json")
	if err != nil {
		t.Fatal(err)
	}
	var judged struct {
		Bugs []struct{ Bug, First, Last, Judged, Why string }
	}
	if err := json.Unmarshal(data, &judged); err != nil {
		t.Fatal(err)
	}
	bugs, err := readBugs(nil)
	if err != nil {
		t.Fatal(err)
	}
	var cases, names []string
	for _, b := range bugs {
		cases = append(cases, b.name)
	}
	for _, j := range judged.Bugs {
		names = append(names, j.Bug)
		hasPatch := j.Last == string(finding.Verified) || j.Last == string(finding.Draft)
		words := []string{"mergeable", "bulky", "partial", "wrong"}
		if hasPatch != slices.Contains(words, j.Judged) || hasPatch != (j.Why != "") || j.First == "" {
			t.Errorf("%+v: a patch, and it alone, has a judgement, one of %q, and a reason", j, words)
		}
	}
	slices.Sort(cases)
	if !slices.Equal(cases, names) {
		t.Errorf("the judged bugs are %q, not the cases %q", names, cases)
	}
}

func isTest(f txtar.File) bool { return strings.HasSuffix(f.Name, "_test.go") }

// The module is that of the parent commit, with the fix's tests where the driver is upstream's.
func TestWrite(t *testing.T) {
	repo := filepath.Join(t.TempDir(), "o+n")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a",
			"GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	run("init", "-q")
	write(repo, "a.go", "bug")
	write(repo, "a_test.go", "old")
	write(repo, "b_test.go", "b")
	run("add", ".")
	run("commit", "-q", "-m", "1")
	write(repo, "a.go", "fixed")
	write(repo, "a_test.go", "new")
	run("commit", "-q", "-a", "-m", "2")
	if err := os.Rename(filepath.Join(repo, ".git"), filepath.Join(repo, "repo")); err != nil {
		t.Fatal(err)
	}
	b := &bug{Repository: "o/n", Driver: "upstream", Without: []string{"b_test.go"},
		files: []txtar.File{{Name: "go.mod", Data: []byte("module m\n")}}}
	b.Fix = strings.TrimSpace(run("--git-dir=repo", "rev-parse", "HEAD"))

	dir := t.TempDir()
	module, err := b.write(context.Background(), mirror(filepath.Dir(repo)), dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.go": "bug", "a_test.go": "new", "go.mod": "module m\n"} {
		if got, err := os.ReadFile(filepath.Join(module, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(module, "b_test.go")); err == nil {
		t.Error("b_test.go is there")
	}
	b.Repository = "o/other"
	_, err = b.write(context.Background(), mirror(filepath.Dir(repo)), dir)
	if err == nil || !strings.Contains(err.Error(), "git clone --bare") {
		t.Errorf("without the repository: %v", err)
	}
}

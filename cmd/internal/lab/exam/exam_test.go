package exam

import (
	"cmp"
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

// draws is drawn.json: the commits of the first draw, and of the second.
type draws struct {
	Bugs   []drawnBug
	Second struct {
		Bugs []drawnBug
	}
}

type drawnBug struct {
	Module, Fix, Left string
	Case              bool // whether cases has a driver; the second draw alone says so
}

func readDraws(t *testing.T) (d draws) {
	t.Helper()
	data, err := os.ReadFile("drawn.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// has reports whether the case is of a commit in the list.
func has(list []drawnBug, b *bug) bool {
	return slices.ContainsFunc(list, func(d drawnBug) bool {
		return strings.HasPrefix(b.Fix, d.Fix) || strings.HasPrefix(d.Fix, b.Fix)
	})
}

// Each case has the fields from which it is made, and is of a commit that was drawn.
func TestCases(t *testing.T) {
	drawn := readDraws(t)
	bugs, err := readBugs("cases", nil)
	if err != nil {
		t.Fatal(err)
	}
	first, second := 0, 0
	for _, b := range bugs {
		checkFields(t, b)
		switch {
		case has(drawn.Bugs, b):
			first++
		case has(drawn.Second.Bugs, b):
			second++
		default:
			t.Errorf("%s: %s was not drawn", b.name, b.Fix)
		}
	}
	if first < 50 || second < 60 {
		t.Errorf("%d cases of the first draw, %d of the second", first, second)
	}
	if _, err := readBugs("cases", []string{"none"}); err == nil {
		t.Error("a name of no case is accepted")
	}
}

// checkFields reports the fields without which a case cannot be made.
func checkFields(t *testing.T, b *bug) {
	t.Helper()
	if b.Repository == "" || b.Fix == "" || b.Kind == "" || b.Packages == "" || b.Run == "" || b.Why == "" {
		t.Errorf("%s: a field is empty: %+v", b.name, b)
	}
	if hasDriver := slices.ContainsFunc(b.files, isTest); hasDriver != (b.Driver == "ours") {
		t.Errorf("%s: the driver is %q, and the archive has one: %v", b.name, b.Driver, hasDriver)
	}
}

// The known bugs have cases of their own.
func TestKnown(t *testing.T) {
	bugs, err := readBugs("known", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bugs {
		checkFields(t, b)
	}
	if len(bugs) < 37 {
		t.Errorf("%d known bugs", len(bugs))
	}
	// Each case has a row in known.json.
	data, err := os.ReadFile("known.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Bugs []struct{ Bug, Then, Now, Why, Mended string }
	}
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range known.Bugs {
		if names = append(names, k.Bug); k.Then == "" || k.Now == "" || k.Why == "" {
			t.Errorf("a field is empty: %+v", k)
		}
	}
	for _, b := range bugs {
		if len(names) != len(bugs) || !slices.Contains(names, b.name) {
			t.Errorf("%s is not in known.json, or there are more: %q", b.name, names)
		}
	}
	if _, err := readBugs("other", nil); err == nil {
		t.Error("a folder that is not there is accepted")
	}
}

// The second draw has at most three commits of a module, none of a module of the first, and says of each whether it has
// a case, or why not.
func TestSecondDraw(t *testing.T) {
	drawn := readDraws(t)
	bugs, err := readBugs("cases", nil)
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]int{}
	for _, d := range drawn.Second.Bugs {
		if modules[d.Module]++; modules[d.Module] > 3 {
			t.Errorf("%s: more than three commits", d.Module)
		}
		if slices.ContainsFunc(drawn.Bugs, func(f drawnBug) bool { return f.Module == d.Module }) {
			t.Errorf("%s is in the first draw", d.Module)
		}
		found := slices.ContainsFunc(bugs, func(b *bug) bool { return has([]drawnBug{d}, b) })
		if found != d.Case || d.Case != (d.Left == "") {
			t.Errorf("%+v: there is a case: %v", d, found)
		}
	}
}

// Each case of both draws has been judged once, in words that docs use.
func TestJudged(t *testing.T) {
	data, err := os.ReadFile("judged.json")
	if err != nil {
		t.Fatal(err)
	}
	var judged struct {
		Bugs   []judgedBug
		Second struct {
			Bugs []judgedBug
		}
	}
	if err := json.Unmarshal(data, &judged); err != nil {
		t.Fatal(err)
	}
	drawn := readDraws(t)
	bugs, err := readBugs("cases", nil)
	if err != nil {
		t.Fatal(err)
	}
	checkJudged(t, judged.Bugs, drawn.Bugs, bugs)
	checkJudged(t, judged.Second.Bugs, drawn.Second.Bugs, bugs)
}

// judgedBug is a row of judged.json. The second draw has no last verdict where a case was not run again.
type judgedBug struct{ Bug, First, Last, Judged, Why string }

// checkJudged reports what is wrong with the judgements of one draw.
func checkJudged(t *testing.T, judged []judgedBug, drawn []drawnBug, bugs []*bug) {
	t.Helper()
	words := []string{"mergeable", "bulky", "partial", "wrong"}
	patches := []string{string(finding.Verified), string(finding.Manual), string(finding.Draft)}
	var names, want []string
	for _, j := range judged {
		names = append(names, j.Bug)
		hasPatch := slices.Contains(patches, cmp.Or(j.Last, j.First))
		if hasPatch != slices.Contains(words, j.Judged) || hasPatch != (j.Why != "") || j.First == "" {
			t.Errorf("%+v: a patch, and it alone, has a judgement, one of %q, and a reason", j, words)
		}
	}
	for _, b := range bugs {
		if has(drawn, b) {
			want = append(want, b.name)
		}
	}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("the judged bugs are not the cases, in order, each once: %q, want %q", names, want)
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
	// At another commit than the parent of the fix.
	b.At, b.Driver = b.Fix, "ours"
	dir = t.TempDir()
	if _, err := b.write(context.Background(), mirror(filepath.Dir(repo)), dir); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.go")); err != nil || string(got) != "fixed" {
		t.Errorf("at the fix: a.go is %q, %v", got, err)
	}
	b.Repository = "o/other"
	_, err = b.write(context.Background(), mirror(filepath.Dir(repo)), dir)
	if err == nil || !strings.Contains(err.Error(), "git clone --bare") {
		t.Errorf("without the repository: %v", err)
	}
}

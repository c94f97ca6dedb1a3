package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// onDisk is a forge whose request is a branch of a repository on disk.
type onDisk struct {
	bot.Forge
	git    func(args ...string) string
	posted bot.Posted
}

func (f *onDisk) Request(context.Context) (*bot.Request, error) {
	at := f.git("rev-parse", "--absolute-git-dir")
	return &bot.Request{Number: 7, Head: f.git("rev-parse", "change"), Open: true, Base: "main", Clone: at,
		Source: bot.Branch{Clone: at, Name: "change"}}, nil
}

func (f *onDisk) Diff(context.Context) (bot.Diff, error) {
	return bot.ParseDiff(f.git("diff", "main...change") + "\n")
}

func (f *onDisk) Text(_ context.Context, commit, path string) (string, error) {
	return f.git("show", commit+":"+path) + "\n", nil
}

func (f *onDisk) Posted(context.Context) (*bot.Posted, error) { return &f.posted, nil }
func (f *onDisk) Abilities() bot.Abilities                    { return bot.Abilities{} }

func (f *onDisk) Post(_ context.Context, _, body string, comments []bot.Comment) error {
	f.posted.Bodies = append(f.posted.Bodies, body)
	for _, c := range comments {
		f.posted.Threads = append(f.posted.Threads, bot.Thread{Body: c.Body})
	}
	return nil
}

func (f *onDisk) Self(context.Context) (bot.Author, error) {
	return bot.Author{Name: "bot", Address: "bot@example.com"}, nil
}

// Behind a review, its patches are pushed once, if they were tried together.
func TestPush(t *testing.T) {
	dir := t.TempDir()
	f := &onDisk{git: func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}}
	f.git("init", "-q", "-b", "main")
	f.git("commit", "-q", "--allow-empty", "-m", "a")
	f.git("checkout", "-q", "-b", "change")
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n\nvar x = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f.git("add", ".")
	f.git("commit", "-q", "-m", "b")
	f.git("checkout", "-q", "main")
	f.git("symbolic-ref", "refs/pull/7/head", "refs/heads/change")
	g := &finding.Finding{Version: finding.SchemaVersion, Code: "IL1001", Status: finding.Confirmed, Title: "race",
		Variable: finding.Variable{Package: "a", Name: "x"}, Evidence: &finding.Evidence{},
		Accesses: []finding.Access{{Position: finding.Position{File: "a.go", Line: 3}, Function: "f", Expr: "x",
			Mode: finding.Write}},
		Fix: &finding.Fix{Verdict: finding.Verified, Diff: "--- a/a.go\n+++ b/a.go\n@@ -3 +3 @@\n-var x = 1\n+var x = 2\n"}}
	g.ID = g.ComputeID()
	fileOf := func(tried *bot.Tried) *bot.File {
		data, err := json.Marshal(bot.File{Version: bot.FileVersion, Base: f.git("rev-parse", "main"),
			Head: f.git("rev-parse", "change"), Findings: []*finding.Finding{g}, Tried: tried})
		if err != nil {
			t.Fatal(err)
		}
		file, _, err := bot.ReadFile(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	if r, err := bot.Review(t.Context(), f, fileOf(nil), func(time.Duration) {}); err != nil || r.Ending != bot.Reviewed {
		t.Fatal(r, err)
	}
	together := []string{bot.Patchsum(g)}
	for _, c := range []struct {
		tried *bot.Tried
		want  string
	}{
		{&bot.Tried{}, "`nothing was tried`"},
		{&bot.Tried{Patches: together, Failed: "go vet fails in a"}, "`go vet fails in a`"},
		{&bot.Tried{Patches: together}, "pushed: "},
		{&bot.Tried{Patches: together}, "the head is a commit of the bot already"},
	} {
		var stderr bytes.Buffer
		if code := pushPatches(&call{ctx: t.Context(), stderr: &stderr}, f, fileOf(c.tried), ""); code != exitClean {
			t.Errorf("exit code %d", code)
		}
		if !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%q, want %q", stderr.String(), c.want)
		}
	}
	if text := f.git("show", "change:a.go"); !strings.Contains(text, "var x = 2") {
		t.Errorf("the branch has %s", text)
	}
}

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// A token that may not write turns a review into annotations and a page for the job.
func TestReadOnlyReview(t *testing.T) {
	summary := filepath.Join(t.TempDir(), "summary")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	f := &finding.Finding{Version: finding.SchemaVersion, Code: "IL1001", Status: finding.Confirmed,
		Title: "race\n::error::<b>@x", Variable: finding.Variable{Package: "m", Name: "x"}, Evidence: &finding.Evidence{},
		Accesses: []finding.Access{{Position: finding.Position{File: "a.go", Line: 1}, Function: "f", Expr: "x",
			Mode: finding.Write}}}
	f.ID = f.ComputeID()
	commit := strings.Repeat("0", 40)
	name := filepath.Join(t.TempDir(), "findings.json")
	if err := (&bot.File{Version: bot.FileVersion, Base: commit, Head: commit, Findings: []*finding.Finding{f}}).Write(
		name); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	file, _, err := bot.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Findings) != 1 {
		t.Fatal("the finding is left out")
	}
	d, err := bot.ParseDiff("--- /dev/null\n+++ b/a.go\n@@ -0,0 +1 @@\n+package a\n")
	if err != nil {
		t.Fatal(err)
	}
	r := &bot.Result{Ending: bot.ReadOnly, Decision: bot.Decide(bot.State{File: file, Diff: d,
		Posted: new(bot.Posted), Text: func(string) (string, error) { return "package a\n", nil }})}
	var stdout, stderr bytes.Buffer
	if code := new(botReviewOptions).finish(&call{stdout: &stdout, stderr: &stderr}, r); code != exitClean {
		t.Errorf("exit code %d", code)
	}
	if out := stdout.String(); !strings.HasPrefix(out, "::error file=a.go,line=1") || strings.Count(out, "\n") != 1 {
		t.Errorf("annotations:\n%s", out)
	}
	page, err := os.ReadFile(summary)
	if err != nil || !strings.Contains(string(page), "1 concurrency bug") || strings.Contains(string(page), "<b>") {
		t.Errorf("%v\n%s", err, page)
	}
}

// The request is that of the event, except where flags name another one.
func TestConnect(t *testing.T) {
	for _, name := range strings.Fields("GITEA_ACTIONS GITHUB_REPOSITORY INTERLOCK_TOKEN GITEA_TOKEN GITHUB_EVENT_PATH") {
		t.Setenv(name, "")
	}
	t.Setenv("GITHUB_TOKEN", "x")
	event := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(event, []byte(`{"pull_request":{"number":7}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := (&botReviewOptions{repository: "o/r"}).connect(t.Context()); err == nil {
		t.Error("a request from nowhere")
	}
	t.Setenv("GITHUB_EVENT_PATH", event)
	t.Setenv("GITHUB_REPOSITORY", "o/r")
	for _, o := range []*botReviewOptions{{}, {number: 8}} {
		forge, err := o.connect(t.Context())
		if err != nil || forge == nil || o.repository != "o/r" || o.number != max(7, o.number) || o.forge != "github" {
			t.Errorf("%+v, %v", o, err)
		}
	}
	if err := os.WriteFile(event, []byte(`{`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := new(botReviewOptions).connect(t.Context()); err == nil {
		t.Error("no error about a broken event")
	}
}

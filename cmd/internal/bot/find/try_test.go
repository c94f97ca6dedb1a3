package find

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/bot"
)

// TestTry tries patches together: what builds and passes the tests, and what fails with them alone.
func TestTry(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) string {
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
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "a")
	base := git("rev-parse", "HEAD")
	if err := write(dir, map[string]string{"go.mod": "module m\n\ngo 1.21\n",
		"a.go": "package m\n\nvar x = 1\n\nvar y = 1\n",
		"a_test.go": "package m\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {\n\tif x > 1 && y > 1 {\n" +
			"\t\tt.Error(x)\n\t}\n}\n"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "broken"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := write(dir, map[string]string{"broken/b_test.go": "package b\n\nimport \"testing\"\n\n" +
		"func TestB(t *testing.T) { t.Fail() }\n"}); err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	git("commit", "-q", "-m", "b")
	patched := func(name, line, text string) *finding.Finding {
		f := some(name, finding.Confirmed)
		f.Accesses[0].Line = 3
		f.Fix = &finding.Fix{Strategy: "guard", Verdict: finding.Verified,
			Diff: "--- a/a.go\n+++ b/a.go\n@@ -" + line + " +" + line + " @@\n-var " + text[:1] + " = 1\n+var " + text + "\n"}
		f.ID = f.ComputeID()
		return f
	}
	x, y, wrong := patched("x", "3", "x = 2"), patched("y", "5", "y = 2"), patched("z", "5", "y = nothing")
	for _, c := range []struct {
		name     string
		findings []*finding.Finding
		only     []string
		patches  int
		failed   string
	}{
		{"two", []*finding.Finding{x, y}, nil, 2, "go test fails in m"},
		{"one of two", []*finding.Finding{x, y}, []string{y.ID}, 1, ""},
		{"does not build", []*finding.Finding{wrong}, nil, 1, "go build fails in m"},
		{"none", nil, nil, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, err := json.Marshal(bot.File{Version: bot.FileVersion, Base: base, Head: git("rev-parse", "HEAD"),
				Findings: c.findings})
			if err != nil {
				t.Fatal(err)
			}
			file, _, err := bot.ReadFile(strings.NewReader(string(data)))
			if err != nil {
				t.Fatal(err)
			}
			if err := Try(t.Context(), dir, file, TryOptions{Only: c.only, Note: func(string) {}}); err != nil {
				t.Fatal(err)
			}
			if len(file.Tried.Patches) != c.patches || file.Tried.Failed != c.failed {
				t.Errorf("%+v, want %d patches, %q", file.Tried, c.patches, c.failed)
			}
		})
	}
	if status := git("status", "--porcelain"); status != "" {
		t.Errorf("the repository has changed: %s", status)
	}
}

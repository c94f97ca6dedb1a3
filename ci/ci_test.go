// Package ci tests the recipes for CI systems: the shell of their steps runs here as the system would run it.
package ci

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// action is what the test reads of action.yml.
type action struct {
	Runs struct {
		Steps []struct{ Name, Run string }
	}
}

// decode reads a YAML file of the repository.
func decode(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", name))
	if err == nil {
		err = yaml.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// repository is a copy of testdata/bank under git, and the variables that steps have there.
type repository struct {
	t   *testing.T
	dir string
	env []string
	// reports is the folder that the action writes SARIF to.
	reports string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	r := &repository{t: t, dir: t.TempDir()}
	if err := os.CopyFS(r.dir, os.DirFS("../testdata/bank")); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	r.reports = filepath.Join(temp, "sarif")
	r.env = append(os.Environ(), "PWD="+r.dir, "GITHUB_ACTION_PATH="+here, "RUNNER_TEMP="+temp,
		"GITHUB_PATH="+filepath.Join(temp, "path"), "GITHUB_OUTPUT="+filepath.Join(temp, "output"),
		"CI_REPORTS="+r.reports, "CI_FORMAT=github",
		"PATH="+filepath.Join(temp, "interlock-bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	return r
}

// sh runs a script as a step does, and returns its exit code and what it printed.
func (r *repository) sh(script string, env ...string) (int, string) {
	r.t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = r.dir, append(append([]string{}, r.env...), env...)
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		r.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// commit puts the race into the bank or takes it out, and commits.
func (r *repository) commit(racy bool) {
	r.t.Helper()
	edit := "sed 's/a.balance -= n/a.Deposit(-n)/' bank.go >new"
	if racy {
		edit = "sed 's/a.Deposit(-n)/a.balance -= n/' bank.go >new"
	}
	code, out := r.sh(edit + "; mv new bank.go; git init -q; git add .; " +
		"git -c user.name=x -c user.email=x@example.com commit -qm change --allow-empty")
	if code != 0 {
		r.t.Fatal(out)
	}
}

// A pull request that adds a race is red, and one that mends it green.
func TestAction(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	var a action
	decode(t, "ci/action.yml", &a)
	r := newRepository(t)
	r.build()
	step := a.Runs.Steps[1].Run
	r.commit(false)
	r.commit(true)
	code, out := r.sh(step, "CI_SINCE=HEAD~1", "CI_FLAGS=-runs=4 -seed=1")
	if code != 1 || !strings.Contains(out, "::warning file=bank.go") || !strings.Contains(out, "::error file=bank.go") {
		t.Errorf("a race: exit code %d\n%s", code, out)
	}
	for _, name := range []string{"check.sarif", "test.sarif"} {
		if _, err := os.Stat(filepath.Join(r.reports, name)); err != nil {
			t.Error(err)
		}
	}
	// The mend; then a change of no Go file, which runs no test.
	r.commit(false)
	if code, out := r.sh(step, "CI_SINCE=HEAD~1", "CI_FLAGS=-runs=4 -seed=1"); code != 0 || strings.Contains(out, "::") {
		t.Errorf("the mend: exit code %d\n%s", code, out)
	}
	r.commit(false)
	if code, out := r.sh(step, "CI_SINCE=HEAD~1", "CI_TEST=changed", "CI_FLAGS=-bogus"); code != 0 {
		t.Errorf("nothing has changed: exit code %d\n%s", code, out)
	}
	// Wrong settings.
	if code, out := r.sh(step, "CI_TEST=some"); code != 2 || !strings.Contains(out, "want changed, all or none") {
		t.Errorf("CI_TEST=some: exit code %d\n%s", code, out)
	}
	if code, out := r.sh(step, "CI_SINCE=nowhere"); code != 2 {
		t.Errorf("CI_SINCE=nowhere: exit code %d\n%s", code, out)
	}
	// GitLab's job runs the same program.
	var gitlab struct {
		Interlock struct{ Script []string }
	}
	decode(t, "ci/gitlab.yml", &gitlab)
	r.commit(true)
	code, out = r.sh(strings.Join(gitlab.Interlock.Script, "\n"), "CI_MERGE_REQUEST_DIFF_BASE_SHA=HEAD~1")
	if code != 1 || !strings.Contains(out, "IL1001 confirmed") {
		t.Errorf("GitLab: exit code %d\n%s", code, out)
	}
	if code, out = r.sh("ls check.json interlock.xml"); code != 0 {
		t.Errorf("GitLab's reports: %s", out)
	}
}

// The other recipes are YAML, and name what is there.
func TestRecipes(t *testing.T) {
	var hooks []struct{ Entry, Language string }
	decode(t, ".pre-commit-hooks.yaml", &hooks)
	if len(hooks) != 1 || hooks[0].Entry != "interlock check" || hooks[0].Language != "golang" {
		t.Errorf("the hooks are %+v", hooks)
	}
	var release struct {
		Builds []struct{ Main string }
	}
	decode(t, "ci/goreleaser.yaml", &release)
	for _, b := range release.Builds {
		if _, err := os.Stat(filepath.Join("..", b.Main, "main.go")); err != nil {
			t.Error(err)
		}
	}
	var workflow map[string]any
	decode(t, "ci/workflow.yml", &workflow)
}

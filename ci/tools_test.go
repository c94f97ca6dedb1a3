package ci

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The programs of others that read what Interlock writes, each at a version that is known to work.
const (
	reviewdog  = "github.com/reviewdog/reviewdog/cmd/reviewdog@v0.21.0"
	actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7"
	goreleaser = "github.com/goreleaser/goreleaser/v2@v2.12.7"
	multitool  = "@microsoft/sarif-multitool@5.7.0"
)

var snapshot = flag.Bool("snapshot", false, "make the archives of a release too, which takes some minutes")

// unreachable matches what go and npm print where the registries cannot be reached.
var unreachable = regexp.MustCompile(`dial tcp|no such host|i/o timeout|connection refused|TLS handshake|GOPROXY=off|` +
	`ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENOTCACHED`)

// skipUnlessLong leaves the programs of others to make long: they take minutes to build, and change with their versions
// alone. What Interlock writes for them has golden files and schemas in cmd/internal/report.
func skipUnlessLong(t *testing.T) {
	t.Helper()
	if os.Getenv("INTERLOCK_TEST_LONG") == "" && !*snapshot {
		t.Skip("make long tries the programs of others")
	}
}

// install builds a program in a folder of its own, and returns its path. Without a module proxy the test is skipped.
func install(t *testing.T, module string) string {
	t.Helper()
	skipUnlessLong(t)
	dir := t.TempDir()
	cmd := exec.Command("go", "install", module)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); unreachable.Match(out) {
		t.Skipf("%s cannot be downloaded: %s", module, out)
	} else if err != nil {
		t.Fatalf("%s: %v\n%s", module, err, out)
	}
	programs, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(programs) != 1 {
		t.Fatalf("%s: %v, %v", module, programs, err)
	}
	return programs[0]
}

// build builds interlock as the action does.
func (r *repository) build() {
	r.t.Helper()
	var a action
	decode(r.t, "ci/action.yml", &a)
	if code, out := r.sh(a.Runs.Steps[0].Run); code != 0 {
		r.t.Fatalf("%s: %s", a.Runs.Steps[0].Name, out)
	}
}

// The real reviewdog reads two formats, and posts what stands on a line that the last commit has changed.
func TestReviewdog(t *testing.T) {
	program := install(t, reviewdog)
	r := newRepository(t)
	r.build()
	r.commit(false)
	for _, racy := range []bool{true, false} {
		r.commit(racy)
		for _, format := range []string{"rdjson", "sarif"} {
			code, out := r.sh("interlock check -fail-on none -o " + format + ":$RUNNER_TEMP/found ./... >/dev/null; " + program +
				" -f=" + format + " -reporter=local -diff='git diff HEAD~1' <$RUNNER_TEMP/found")
			if posted := strings.Contains(out, "Account.balance is written without a.mu"); code != 0 || posted != racy {
				t.Errorf("%s, with the race %v: exit code %d\n%s", format, racy, code, out)
			}
		}
	}
}

// actionlint has no complaint about the workflows of the bot.
func TestActionlintOfTheBot(t *testing.T) {
	program := install(t, actionlint)
	r := newRepository(t)
	if code, out := r.sh(program + " -no-color $GITHUB_ACTION_PATH/bot.yml $GITHUB_ACTION_PATH/bot-forks.yml"); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// actionlint has no complaint about the workflow, with the action beside it, and would have one about a wrong input.
func TestActionlint(t *testing.T) {
	program := install(t, actionlint)
	r := newRepository(t)
	workflow, err := os.ReadFile("workflow.yml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(workflow), "interlock-go/interlock/ci@main", "./ci")
	if text == string(workflow) {
		t.Fatal("the workflow does not use the action")
	}
	if code, out := r.sh("git init -q; mkdir -p .github/workflows ci; cp $GITHUB_ACTION_PATH/action.yml ci"); code != 0 {
		t.Fatal(out)
	}
	for _, wrong := range []bool{false, true} {
		if wrong {
			text = strings.Replace(text, "uses: ./ci\n", "uses: ./ci\n        with:\n          pakages: ./...\n", 1)
		}
		if err := os.WriteFile(filepath.Join(r.dir, ".github", "workflows", "x.yml"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, out := r.sh(program + " -no-color"); (code != 0) != wrong || wrong && !strings.Contains(out, "pakages") {
			t.Errorf("with a wrong input %v: exit code %d\n%s", wrong, code, out)
		}
	}
}

// Microsoft's validator has no complaint, with its own rules and those of GitHub: about the examples of the report's
// tests, and about what check finds.
func TestMultitool(t *testing.T) {
	skipUnlessLong(t)
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skipf("%s is not installed: no npm", multitool)
	}
	r := newRepository(t)
	dir := t.TempDir()
	code, out := r.sh("cd " + dir + " && npm install --no-audit --no-fund --prefer-offline " + multitool)
	if unreachable.MatchString(out) {
		t.Skipf("%s cannot be downloaded: %s", multitool, out)
	} else if code != 0 {
		t.Fatal(out)
	}
	// The script of the package loses what stands behind a semicolon: the program itself is started.
	code, program := r.sh("cd " + dir + " && node -p 'require(\"@microsoft/sarif-multitool\")'")
	if code != 0 {
		t.Fatal(program)
	}
	r.build()
	r.commit(true)
	logs, err := filepath.Glob("../cmd/internal/report/testdata/*.sarif")
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	found := filepath.Join(dir, "check.sarif")
	if code, out := r.sh("interlock check -fail-on none -o sarif:" + found + " ./..."); code != 0 {
		t.Fatal(out)
	}
	broken := filepath.Join(dir, "broken.sarif") // or the test could not fail
	data, err := os.ReadFile(found)
	if err == nil {
		err = os.WriteFile(broken, []byte(strings.Replace(string(data), `"ruleIndex": `, `"ruleIndex": 9`, 1)), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range append(logs, found, broken) {
		complaints := complaintsAbout(t, strings.TrimSpace(program), log)
		if (len(complaints) > 0) != (log == broken) {
			t.Errorf("%s: %q", filepath.Base(log), complaints)
		}
	}
}

// complaintsAbout returns what the validator says about a log.
func complaintsAbout(t *testing.T, program, log string) (all []string) {
	t.Helper()
	result := filepath.Join(t.TempDir(), "result.sarif")
	cmd := exec.Command(program, "validate", log, "--rule-kind", "Sarif;Ghas", "--level", "Error;Warning",
		"--kind", "Fail", "-o", result, "--log", "ForceOverwrite")
	out, _ := cmd.CombinedOutput() // it ends in 1 if it has complaints
	data, err := os.ReadFile(result)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var results struct {
		Runs []struct {
			Results []struct {
				RuleID  string
				Message struct {
					ID        string
					Arguments []string
				}
			}
		}
	}
	if err := json.Unmarshal(data, &results); err != nil || len(results.Runs) != 1 {
		t.Fatalf("%d runs, %v\n%s", len(results.Runs), err, out)
	}
	for _, r := range results.Runs[0].Results {
		c := fmt.Sprintf("%s %s: %q", r.RuleID, r.Message.ID, r.Message.Arguments)
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// goreleaser makes the archives for all systems, and the program in them knows its revision.
func TestSnapshot(t *testing.T) {
	if !*snapshot {
		t.Skip("the archives of a release are made with -snapshot: make release")
	}
	program := install(t, goreleaser)
	r := newRepository(t)
	clone := filepath.Join(t.TempDir(), "clone")
	if code, out := r.sh("git clone -q $GITHUB_ACTION_PATH/.. " + clone); code != 0 {
		t.Fatal(out)
	}
	code, out := r.sh("cd " + clone + " && " + program + " release --snapshot --clean -f ci/goreleaser.yaml")
	if code != 0 {
		t.Fatal(out)
	}
	_, names := r.sh("cd " + clone + "/dist && ls")
	for _, want := range []string{"linux_amd64.tar.gz", "linux_arm64.tar.gz", "darwin_amd64.tar.gz", "darwin_arm64.tar.gz",
		"windows_amd64.zip", "windows_arm64.zip", "checksums.txt"} {
		if !strings.Contains(names, want) {
			t.Errorf("no %s among\n%s", want, names)
		}
	}
	_, revision := r.sh("git -C " + clone + " rev-parse --short=12 HEAD")
	_, out = r.sh(clone + "/dist/interlock_$(go env GOOS)_$(go env GOARCH)*/interlock version")
	if revision == "" || !strings.Contains(out, strings.TrimSpace(revision)) || strings.Contains(out, "dirty") {
		t.Errorf("%s does not name the revision %s, or calls it changed", out, revision)
	}
}

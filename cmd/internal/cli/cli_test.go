package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/cmd/internal/trial"
)

func newCall(ctx context.Context) (c *call, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return &call{ctx: ctx, stdout: stdout, stderr: stderr, progress: progress.New(stderr), common: new(common)},
		stdout, stderr
}

func TestAPanicIsNoUsageError(t *testing.T) {
	c, stdout, stderr := newCall(t.Context())
	code := c.guarded(flagless(func(*call) int { panic("lost") }))
	if code != exitIncomplete || stdout.Len() > 0 {
		t.Errorf("code %d, output %q", code, stdout)
	}
	for _, want := range []string{"internal error", "lost", "TestAPanicIsNoUsageError"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in %s", want, stderr)
		}
	}
}

// Names of files and what compilers print do not act on a terminal.
func TestHostileWarnings(t *testing.T) {
	c, _, stderr := newCall(t.Context())
	c.warn("two\nlines of \x1b[31m\x07\xff.go\n")
	c.usage("%s", "\x1b]0;title")
	c.compiler("x.go:1:1: \x1b[2Jbad\r\n", "fix it")
	want := "interlock: two\nlines of \\x1b[31m\\x07\\xff.go\ninterlock: \\x1b]0;title\n" +
		"x.go:1:1: \\x1b[2Jbad\ninterlock: fix it\n"
	if got := stderr.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// full is a standard output on a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputThatIsNotWritten(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"help", "test"}, {"check", "-h"}, {"version"}, {"explain"},
		{"explain", "IL1001"}} {
		var stderr bytes.Buffer
		if code := run(t.Context(), full{}, &stderr, args); code != exitIncomplete ||
			stderr.String() != "interlock: the output is not whole: no space left\n" {
			t.Errorf("%v: code %d, standard error %q", args, code, &stderr)
		}
	}
}

// A patch that cannot be written is printed, and its finding is left.
func TestPatchThatIsNotWritten(t *testing.T) {
	c, stdout, stderr := newCall(t.Context())
	o := &fixOptions{write: true, acceptFlags: acceptFlags{failOn: failOn{status: finding.Suspected}}}
	made := &trial.Patches{Before: map[string][]byte{"a.go": []byte("package a\n")},
		After: map[string][]byte{"a.go": []byte("package b\n")}}
	f := fit()
	f.Fix = &finding.Fix{Strategy: "guard", Diff: "x"}
	r := &report.Report{Root: t.TempDir(), Findings: []*finding.Finding{f}} // which has no a.go
	err := o.deliver(c, made, r)
	if err == nil || !strings.HasPrefix(err.Error(), "nothing was written, so the patches are printed: ") {
		t.Errorf("error: %v", err)
	}
	if !strings.Contains(stdout.String(), "+package b") {
		t.Errorf("standard output: %q", stdout)
	}
	if code := o.finish(c, r, false); code != exitFindings || strings.Contains(stderr.String(), "no patch was made") {
		t.Errorf("code %d, standard error: %s", code, stderr)
	}
}

func fit() *finding.Finding {
	f := &finding.Finding{
		Code: finding.Unguarded, Status: finding.Suspected, Title: "x", Variable: finding.Variable{Package: "p", Name: "x"},
		Accesses: []finding.Access{{Position: finding.Position{File: "p.go", Line: 1}, Function: "F", Expr: "x",
			Mode: finding.Write}},
	}
	finding.Seal([]*finding.Finding{f})
	return f
}

func TestVerdict(t *testing.T) {
	broken := fit()
	broken.ID = "il-0"
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name        string
		ctx         context.Context
		report      report.Report
		testsFailed bool
		want        int
	}{
		{"clean", t.Context(), report.Report{}, false, exitClean},
		{"finding", t.Context(), report.Report{Findings: []*finding.Finding{fit()}}, false, exitFindings},
		{"finding wins", canceled, report.Report{Findings: []*finding.Finding{fit()}, Problems: []string{"p"}}, true,
			exitFindings},
		{"interrupted", canceled, report.Report{Problems: []string{"p"}}, true, exitInterrupted},
		{"incomplete", t.Context(), report.Report{Problems: []string{"p"}}, true, exitIncomplete},
		{"tests failed", t.Context(), report.Report{}, true, exitFindings},
		{"unfit finding", t.Context(), report.Report{Findings: []*finding.Finding{broken}}, false, exitIncomplete},
	} {
		c, stdout, stderr := newCall(tt.ctx)
		all := &acceptFlags{failOn: failOn{status: finding.Suspected}}
		if got := c.finish(&tt.report, reportFlags{format: "jsonl"}, all, tt.testsFailed); got != tt.want {
			t.Errorf("%s: exit code %d, want %d (%s)", tt.name, got, tt.want, stderr)
		}
		if strings.Contains(stdout.String(), "il-0") {
			t.Errorf("%s: an unfit finding was reported", tt.name)
		}
	}
}

var update = flag.Bool("update", false, "write the table of exit codes and the man pages into the docs")

// The man pages are those of the program.
func TestManPages(t *testing.T) {
	for name, want := range manPages(commands) {
		name = filepath.Join("../../../docs/man", name)
		if *update {
			if err := os.WriteFile(name, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != want {
			t.Errorf("%s is stale (%v); fix it with: go test ./cmd/internal/cli -update", name, err)
		}
	}
}

// The table of exit codes in the docs is that of the program.
func TestExitCodesInDocs(t *testing.T) {
	var table strings.Builder
	table.WriteString("-->\n\n| exit code | meaning |\n|---|---|\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&table, "| %d | %s |\n", e.code, e.text())
	}
	table.WriteString("\n| command | ends in 1 for |\n|---|---|\n")
	for _, cmd := range commands {
		if cmd.fails != "" {
			fmt.Fprintf(&table, "| `%s` | %s |\n", cmd.name, cmd.fails)
		}
	}
	table.WriteString("\n")
	for _, name := range []string{"docs/ci.md", "docs/architecture.md"} {
		name = filepath.Join("../../..", filepath.FromSlash(name))
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok := strings.Cut(string(data), "<!-- exit codes: go test ./cmd/internal/cli -update ")
		_, after, closed := strings.Cut(rest, "<!-- end of exit codes -->")
		if !ok || !closed {
			t.Fatalf("%s: no marks around the table of exit codes", name)
		}
		want := before + "<!-- exit codes: go test ./cmd/internal/cli -update " + table.String() +
			"<!-- end of exit codes -->" + after
		if want == string(data) {
			continue
		}
		if !*update {
			t.Errorf("%s: its table of exit codes is stale; fix it with: go test ./cmd/internal/cli -update", name)
		} else if err := os.WriteFile(name, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// A release names its tag, a build in a checkout its revision, and one without both that it has none.
func TestVersion(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	for _, tt := range []struct {
		main     string
		settings []debug.BuildSetting
		want     string
	}{
		{"v1.2.3", []debug.BuildSetting{revision}, "v1.2.3"},
		{"v1.2.4-0.20260102030405-0123456789ab+dirty", nil, "v1.2.4-0.20260102030405-0123456789ab+dirty"},
		{"(devel)", []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, revision}, "0.0.0-devel+0123456789ab"},
		{"(devel)", nil, "0.0.0-devel"},
		{"", nil, "0.0.0-devel"},
	} {
		if got := versionOf(&debug.BuildInfo{Main: debug.Module{Version: tt.main}, Settings: tt.settings}); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.main, got, tt.want)
		}
	}
}

// Every command that runs tests holds goroutines in all cases, unless -prob says otherwise: audit has no such flag, and
// held none by that.
func TestHoldsInAllCases(t *testing.T) {
	holds := func(name string, declare func(*flag.FlagSet), o *campaignFlags, want int, args ...string) {
		t.Helper()
		fs := flag.NewFlagSet(name, flag.ContinueOnError)
		declare(fs)
		if err := fs.Parse(args); err != nil {
			t.Fatal(err)
		}
		if got := o.set.Noise.Prob; got != want {
			t.Errorf("%s %q: Prob %d, want %d", name, args, got, want)
		}
	}
	var a auditOptions
	holds("audit", a.declare, &a.campaignFlags, 0)
	var f fixOptions
	holds("fix", f.declare, &f.campaignFlags, 0)
	for value, want := range map[string]int{"1000": 0, "900": 900, "0": -1} {
		var o testOptions
		holds("test", o.declare, &o.campaignFlags, want, "-prob", value)
	}
}

// What was not searched is one line, and on request one line each.
func TestGaveUp(t *testing.T) {
	c, _, stderr := newCall(t.Context())
	all := []string{"m/a: F is not searched", "m/a: G is not searched", "m/b: H is not searched"}
	c.gaveUp(nil)
	c.gaveUp(all)
	if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, " of 2 packages ") {
		t.Errorf("it printed %q", got)
	}
	c.verbose = true
	stderr.Reset()
	c.gaveUp(all)
	if got := stderr.String(); strings.Count(got, " is not searched\n") != 3 {
		t.Errorf("on request, it printed %q", got)
	}
}

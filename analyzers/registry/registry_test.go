package registry_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/levels"
	"github.com/interlock-go/interlock/analyzers/registry"
)

var update = flag.Bool("update", false, "write docs/checks.md and the table of codes in docs/findings.md anew")

const (
	page     = "../../docs/checks.md"
	findings = "../../docs/findings.md"
)

// docs/checks.md is the checks' own help, so that the two cannot drift.
func TestChecksPageIsFresh(t *testing.T) {
	compare(t, page, checksPage(t))
}

// The tables in docs/findings.md are made from the codes and the checks, and from the readings of classes.
func TestTablesAreFresh(t *testing.T) {
	got, err := os.ReadFile(findings)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- go test ./analyzers/registry -update writes this table -->\n", "<!-- end of the table -->\n"
	var want strings.Builder
	rest := string(got)
	for _, table := range []string{classesTable(), codesTable()} {
		head, behind, ok := strings.Cut(rest, begin)
		_, tail, ends := strings.Cut(behind, end)
		if !ok || !ends {
			t.Fatalf("%s lacks a table between the lines\n%s%s", findings, begin, end)
		}
		want.WriteString(head + begin + table + end)
		rest = tail
	}
	compare(t, findings, []byte(want.String()+rest))
}

// classesTable lists the classes of findings with the verdicts of their readers.
func classesTable() string {
	var b strings.Builder
	b.WriteString("\n| class | level | true | interval | by construction |\n|---|---|---|---|---|\n")
	for _, c := range levels.Classes() {
		low, high := c.Interval()
		fmt.Fprintf(&b, "| %s | %s | %d of %d | %.0f to %.0f %% | %s |\n", c.Name, cmp.Or(c.Level(), "likely"), c.True,
			c.Read, 100*low, 100*high, cmp.Or(c.Construction, "-"))
	}
	b.WriteString("\n")
	return b.String()
}

// compare checks that the file holds want, or writes it with -update.
func compare(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is stale (%v); mend it with: go test ./analyzers/registry -update", file, err)
	}
}

// codesTable lists every code, its class, and the check that reports it
// without a run.
func codesTable() string {
	var b strings.Builder
	b.WriteString("\n| code | class | check |\n|---|---|---|\n")
	for _, code := range finding.Codes() {
		name := "runs only"
		if c, ok := registry.ByCode(code); ok {
			name = "`" + c.Analyzer.Name + "`"
		}
		name = fmt.Sprintf("[%s](checks.md#%s)", name, strings.ToLower(string(code)))
		fmt.Fprintf(&b, "| %s | %s | %s |\n", code, code.Title(), name)
	}
	b.WriteString("\n")
	return b.String()
}

// The codes of runs alone have no check, and all others have one.
func TestRunsOnly(t *testing.T) {
	for _, code := range finding.Codes() {
		if _, checked := registry.ByCode(code); checked == code.RunsOnly() {
			t.Errorf("%s: has a check: %v; of runs only: %v", code, checked, code.RunsOnly())
		}
	}
}

// Each row has the code that its check reports, and the code has a title, without which no finding can be reported.
func TestRowsMatchChecks(t *testing.T) {
	for _, c := range registry.Checks() {
		if !c.Code.Known() {
			t.Errorf("%s: %s has no title: add one to the map codes in analyzers/finding/code.go", c.Analyzer.Name, c.Code)
		}
		if !strings.HasSuffix(c.Analyzer.URL, "#"+strings.ToLower(string(c.Code))) {
			t.Errorf("the row of %s has %s, and the check reports another code: its help is at %s", c.Analyzer.Name, c.Code,
				c.Analyzer.URL)
		}
	}
}

// Every check shows what is wrong, what is right, and where it may err.
func TestHelpIsWhole(t *testing.T) {
	for _, c := range registry.Checks() {
		for _, part := range []string{"\nWRONG", "\nRIGHT", "issed", "eported falsely", string(c.Code)} {
			if !strings.Contains(c.Analyzer.Doc, part) {
				t.Errorf("the help of %s says nothing of %q: write it into its doc.go", c.Analyzer.Name,
					strings.TrimSpace(part))
			}
		}
	}
}

// explained returns the text of a code that no check reports.
func explained(t *testing.T, code finding.Code) string {
	t.Helper()
	text, err := os.ReadFile("../../cmd/internal/codetext/" + strings.ToLower(string(code)) + ".txt")
	if err != nil {
		t.Errorf("a code that no check reports has its text beside explain: %v", err)
	}
	return string(text)
}

func checksPage(t *testing.T) []byte {
	var b bytes.Buffer
	b.WriteString("# Checks\n\nWhat `interlock check` reports, code by code, and what only runs show; " +
		"`interlock explain CODE` prints the\nsame. Generated from the package comments of the checks, and from the texts " +
		"beside `explain`:\n`go test ./analyzers/registry -update`.\n")
	for _, code := range finding.Codes() {
		c, isChecked := registry.ByCode(code)
		if !isChecked {
			text := strings.TrimSpace(markdown(explained(t, code)))
			fmt.Fprintf(&b, "\n## %s\n\n**%s** (runs only)\n\n%s\n", code, code.Title(), text)
			continue
		}
		title, rest, _ := strings.Cut(c.Analyzer.Doc, "\n")
		title = strings.TrimSuffix(title, fmt.Sprintf(" (%s)", c.Code))
		fmt.Fprintf(&b, "\n## %s\n\n**%s** (`%s`)\n\n%s\n", c.Code, title, c.Analyzer.Name, strings.TrimSpace(markdown(rest)))
	}
	return b.Bytes()
}

// markdown turns the code of a package comment, which is indented by a tab,
// into fenced blocks.
func markdown(text string) string {
	var b strings.Builder
	inCode := false
	for _, para := range strings.Split(text, "\n\n") {
		code := strings.HasPrefix(strings.TrimLeft(para, "\n"), "\t")
		switch {
		case code && !inCode:
			b.WriteString("```go\n")
		case !code && inCode:
			b.WriteString("```\n\n")
		case code:
			b.WriteString("\n")
		}
		inCode = code
		for _, line := range strings.Split(strings.Trim(para, "\n"), "\n") {
			b.WriteString(strings.TrimPrefix(line, "\t") + "\n")
		}
		if !code {
			b.WriteString("\n")
		}
	}
	if inCode {
		b.WriteString("```\n")
	}
	return b.String()
}

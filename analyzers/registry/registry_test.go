package registry_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/registry"
)

var update = flag.Bool("update", false, "write docs/checks.md anew")

const page = "../../docs/checks.md"

// docs/checks.md is the checks' own help, so that the two cannot drift.
func TestChecksPageIsFresh(t *testing.T) {
	want := checksPage()
	if *update {
		if err := os.WriteFile(page, want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is stale (%v); mend it with: go test ./analyzers/registry -update", page, err)
	}
}

// Every check shows what is wrong, what is right, and where it may err.
func TestHelpIsWhole(t *testing.T) {
	for _, c := range registry.Checks() {
		for _, part := range []string{"\nWRONG", "\nRIGHT", "issed", "eported falsely", string(c.Code)} {
			if !strings.Contains(c.Analyzer.Doc, part) {
				t.Errorf("the help of %s says nothing of %q", c.Analyzer.Name, strings.TrimSpace(part))
			}
		}
	}
}

func checksPage() []byte {
	var b bytes.Buffer
	b.WriteString("# Checks\n\nWhat `interlock check` reports, code by code; `interlock explain CODE` prints the same. Generated from the package\ncomments of the checks: `go test ./analyzers/registry -update`.\n")
	for _, c := range registry.Checks() {
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

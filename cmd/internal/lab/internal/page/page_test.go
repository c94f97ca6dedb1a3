package page

import (
	"strings"
	"testing"
)

// A section replaces the one with its heading, and leaves the others.
func TestReplaceSection(t *testing.T) {
	const head = "# Costs\n"
	first := ReplaceSection("", head, "## A\n\none\n")
	if want := head + "\n## A\n\none\n"; first != want {
		t.Errorf("got %q, want %q", first, want)
	}
	both := ReplaceSection(ReplaceSection(first, head, "## B\n\ntwo\n"), head, "## A\n\nthree\n")
	if want := head + "\n## A\n\nthree\n\n## B\n\ntwo\n"; both != want {
		t.Errorf("got %q, want %q", both, want)
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	Table(&b, "None", []string{"a"}, nil)
	Table(&b, "Some", []string{"a", "b"}, [][]string{{"1|2", "3"}})
	if want := "\n## Some\n\n| a | b |\n|---|---|\n| 1\\|2 | 3 |\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

package main

import (
	"go/parser"
	"go/token"
	"testing"
)

// A section replaces the one with its heading, and leaves the others.
func TestReplaced(t *testing.T) {
	first := replaced("", "## A\n\none\n")
	if want := title + "\n## A\n\none\n"; first != want {
		t.Errorf("got %q, want %q", first, want)
	}
	both := replaced(replaced(first, "## B\n\ntwo\n"), "## A\n\nthree\n")
	if want := title + "\n## A\n\nthree\n\n## B\n\ntwo\n"; both != want {
		t.Errorf("got %q, want %q", both, want)
	}
}

func TestGeneratedParses(t *testing.T) {
	for _, i := range []int{0, 3, 1999} {
		for _, text := range []string{generatedPackage(i), generatedTest(i)} {
			if _, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.SkipObjectResolution); err != nil {
				t.Errorf("package %d: %v", i, err)
			}
		}
	}
}

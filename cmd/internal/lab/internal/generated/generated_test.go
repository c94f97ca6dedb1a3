package generated

import (
	"go/parser"
	"go/token"
	"testing"
)

func TestGeneratedParses(t *testing.T) {
	for _, i := range []int{0, 3, 1999} {
		for _, text := range []string{source(i, Types), testSource(i)} {
			if _, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.SkipObjectResolution); err != nil {
				t.Errorf("package %d: %v", i, err)
			}
		}
	}
}

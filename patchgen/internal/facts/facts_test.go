package facts_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

var mark = regexp.MustCompile(`(blocks|lasts): (.*?)(?:$| // )`)

// Each marked statement of the file in testdata has the answers that its comment expects; so it has in a test.
func TestStatements(t *testing.T) {
	text, err := os.ReadFile("testdata/a.go")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.26\n",
		"a/a.go":      string(text),
		"b/b.go":      "package a\n\nconst b = 1\n",
		"b/b_test.go": string(text) + "\nvar _ = b\n", // it uses what it tests, and so is no program of its own
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := packages.Load(&packages.Config{Mode: session.LoadMode, Dir: root, Tests: true,
		Env: append(os.Environ(), "GOWORK=off", "GOFLAGS=")}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	module, err := source.NewModule(root, loaded)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(root, loaded)
	if err != nil {
		t.Fatal(err)
	}
	before, err := s.Original()
	if err != nil {
		t.Fatal(err)
	}
	known := facts.New(before)
	for _, name := range []string{"a/a.go", "b/b_test.go"} {
		if n := checkFile(t, known, module.Files[name]); n < 40 {
			t.Errorf("%s: %d answers were compared, want 40", name, n)
		}
	}
}

// checkFile compares the answers for the marked statements of a file, and returns how many it has compared.
func checkFile(t *testing.T, known *facts.Facts, file *source.File) (n int) {
	marks := map[int][][]string{}
	for _, group := range file.Syntax.Comments {
		for _, comment := range group.List {
			marks[file.Line(comment.Pos())] = mark.FindAllStringSubmatch(comment.Text, -1)
		}
	}
	ast.Inspect(file.Syntax, func(x ast.Node) bool {
		stmt, ok := x.(ast.Stmt)
		if !ok || len(marks[file.Line(stmt.Pos())]) == 0 {
			return true
		}
		for _, m := range marks[file.Line(stmt.Pos())] {
			got := known.Blocks(file, stmt)
			if m[1] == "lasts" {
				got = known.Lasting(file, stmt)
			}
			if got == "" {
				got = "nothing"
			}
			if n++; got != m[2] {
				t.Errorf("%s: %s: %q, want %q", file.At(stmt), m[1], got, m[2])
			}
		}
		return false
	})
	return n
}

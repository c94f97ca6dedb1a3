package hidden

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// program is one test of the corpus, with the results of its runs.
type program struct {
	kind, name string  // of TestKindName
	title      string  // as its comment has it
	shown      []shown // by the schedules that are compared, in their order
}

// codes are those of findings that are the bug of a kind.
var codes = map[string]string{"Race": "IL1,IL4", "Split": "IL2", "Deadlock": "IL3,IL5001", "Leak": "IL5001,IL3"}

const clean = "Clean"

func (p *program) function() string { return "Test" + p.kind + p.name }

// isBug reports whether a confirmed finding is the bug of the program.
func (p *program) isBug(f *finding.Finding) bool {
	ofKind := func(prefix string) bool { return strings.HasPrefix(string(f.Code), prefix) }
	return f.Status == finding.Confirmed && slices.ContainsFunc(strings.Split(codes[p.kind], ","), ofKind)
}

// findPrograms finds the tests of the module in dir that have match in their names.
func findPrograms(dir, match string) (programs []*program, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(fn.Name.Name, "Test") || !strings.Contains(fn.Name.Name, match) {
				continue
			}
			p, err := newProgram(fn)
			if err != nil {
				return nil, err
			}
			programs = append(programs, p)
		}
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("no test …%s… in %s", match, dir)
	}
	return programs, nil
}

func newProgram(fn *ast.FuncDecl) (*program, error) {
	text := strings.Join(strings.Fields(fn.Doc.Text()), " ")
	for _, kind := range []string{"Race", "Split", "Deadlock", "Leak", clean} {
		if name, ok := strings.CutPrefix(fn.Name.Name, "Test"+kind); ok && strings.Contains(text, ": ") {
			return &program{kind: kind, name: name, title: strings.TrimSuffix(text, ".")}, nil
		}
	}
	return nil, fmt.Errorf("%s: the name says nothing of the bug, or there is no comment \"Title: what happens.\"",
		fn.Name.Name)
}

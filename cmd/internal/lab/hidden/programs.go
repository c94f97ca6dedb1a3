package hidden

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// program is one of a corpus, with the results of its runs.
type program struct {
	folder   string   // of its package, below that of the module
	function string   // its test; "" are all of the package
	title    string   // as the comment has it
	codes    []string // beginnings of the codes that its bug may have; a correct program has none
	halves   []place  // where `// want` comments mark the entry and the end of a section
	shown    []shown  // by the schedules that are compared, in their order
}

// place is a line of a file, by its base name.
type place struct {
	file string
	line int
}

// kinds are the first words of the names of tests, with the codes of the bug.
var kinds = []struct {
	name  string
	codes []string
}{
	{"Race", []string{"IL1", "IL4"}},
	{"Split", []string{"IL2"}},
	{"Deadlock", []string{"IL3", "IL5001"}},
	{"Leak", []string{"IL5001", "IL3"}},
	{"Clean", nil},
	{"NoRace", nil},
}

func (p *program) String() string { return path.Join(p.folder, p.function) }

func (p *program) isClean() bool { return len(p.codes) == 0 }

// isBug reports whether a confirmed finding is the bug of the program.
func (p *program) isBug(f *finding.Finding) bool {
	hasCode := func(prefix string) bool { return strings.HasPrefix(string(f.Code), prefix) }
	if f.Status != finding.Confirmed || !slices.ContainsFunc(p.codes, hasCode) {
		return false
	}
	named := map[place]bool{}
	for _, at := range f.Places() {
		named[place{path.Base(at.File), at.Line}] = true
	}
	if f.Section != nil {
		for _, at := range f.Section.Places() {
			named[place{path.Base(at.File), at.Line}] = true
		}
	}
	return !slices.ContainsFunc(p.halves, func(h place) bool { return !named[h] })
}

// findPrograms finds the programs of the module in dir that have match in their names: tests of the root package, and
// pairs of packages below it.
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
			if !ok || !strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}
			p, err := newProgram(fn)
			if err != nil {
				return nil, err
			}
			programs = append(programs, p)
		}
	}
	// Pairs have no function in their name.
	pairs, err := findPairs(dir)
	if err != nil {
		return nil, err
	}
	programs = slices.DeleteFunc(append(programs, pairs...), func(p *program) bool {
		return !strings.Contains(p.String(), match)
	})
	if len(programs) == 0 {
		return nil, fmt.Errorf("no test …%s… in %s", match, dir)
	}
	return programs, nil
}

// newProgram reads the name of a test, TestKindName, and its comment, "Title: sentence."
func newProgram(fn *ast.FuncDecl) (*program, error) {
	p := &program{function: fn.Name.Name, title: strings.TrimSuffix(strings.Join(strings.Fields(fn.Doc.Text()), " "), ".")}
	for _, kind := range kinds {
		if !strings.HasPrefix(p.function, "Test"+kind.name) {
			continue
		}
		if p.codes = kind.codes; !p.isClean() && !strings.Contains(p.title, ": ") {
			return nil, fmt.Errorf("%s has no comment of the form \"Title: what happens.\"", p.function)
		}
		return p, nil
	}
	return nil, errors.New(p.function + ": the name says nothing of the bug")
}

package quickfix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/levels"
	"github.com/interlock-go/interlock/analyzers/registry"
	"github.com/interlock-go/interlock/analyzers/resident"
	"github.com/interlock-go/interlock/patchgen"
)

// fixes are what the checks of one package suggest.
type fixes map[*finding.Finding][]analysis.SuggestedFix

// Checks returns the checks of the registry with patches as the suggested fixes of their
// diagnostics: all diagnostics with one cause have the same one. Each check keeps its name,
// its flags and what it reports. withheld, which is called with one line for each cause
// that has no patch, may be nil.
//
// The patches of one package go together: of those that change one file only the first is
// suggested. They need the go command, and change the files of the package alone.
func Checks(withheld func(string)) []*analysis.Analyzer {
	patches := &analysis.Analyzer{
		Name: "interlockpatches", Doc: "make patches for what the checks of interlock find", Requires: registry.Analyzers(),
		ResultType: reflect.TypeFor[fixes](),
		Run: func(pass *analysis.Pass) (any, error) {
			s := &suggester{pass: pass, fixes: fixes{}, taken: map[string][]byte{}, withheld: withheld}
			s.run(context.Background())
			return s.fixes, nil
		},
	}
	return levels.Shown(registry.Analyzers(), []*analysis.Analyzer{patches},
		func(pass *analysis.Pass, f *finding.Finding) []analysis.SuggestedFix {
			return pass.ResultOf[patches].(fixes)[f]
		})
}

// suggester makes the patches of one package.
type suggester struct {
	pass     *analysis.Pass
	root     string // of the module
	fixes    fixes
	taken    map[string][]byte // files of the patches so far, by slash path below the root
	withheld func(string)
}

// run makes a patch for each cause.
func (s *suggester) run(ctx context.Context) {
	var found []*finding.Finding
	for _, a := range registry.Analyzers() {
		found = append(found, s.pass.ResultOf[a].(*check.Result).Findings...)
	}
	// A finding that may well be false is not corrected behind anybody's back, nor one that nobody is shown.
	found = slices.DeleteFunc(found, func(f *finding.Finding) bool { return levels.Graded(f).Minor() })
	if len(found) == 0 {
		return
	}
	m, err := s.open(ctx)
	for _, group := range patchgen.Groups(found) {
		reason := err
		if err == nil {
			reason = s.suggest(ctx, m, group)
		}
		if reason != nil && s.withheld != nil {
			at := group[0].Places()[0]
			s.withheld(fmt.Sprintf("%s: %s: no patch: %s", at, group[0].Code, strings.ReplaceAll(reason.Error(), "\n", "; ")))
		}
	}
}

// open loads the module of the package, if the go command sees the package as the driver does.
func (s *suggester) open(ctx context.Context) (m *Module, err error) {
	first := s.name(s.pass.Files[0])
	if s.root, err = resident.Root(ctx, filepath.Dir(first), nil); err != nil {
		return nil, err
	}
	if s.root == "" {
		return nil, errors.New("the go command knows no module of the package")
	}
	var sources []string
	for _, f := range s.pass.Files {
		if name := s.name(f); !strings.HasSuffix(name, "_test.go") {
			sources = append(sources, name)
		}
	}
	if len(sources) == 0 {
		return nil, errors.New("it is a package of tests, which `interlock fix` patches")
	}
	m, err = Open(ctx, Options{File: sources[0], Options: resident.Options{
		Root: s.root, Read: os.ReadFile, Buffers: func() map[string][]byte { return nil },
	}})
	if err != nil {
		return nil, err
	}
	slices.Sort(sources)
	if files := m.analysed.Files(m.path); !slices.Equal(sources, files) {
		return nil, errors.New("the go command takes other files for the package; flags such as -tags have to be in GOFLAGS")
	}
	return m, nil
}

// name returns that of a file on disk.
func (s *suggester) name(f *ast.File) string {
	return s.pass.Fset.PositionFor(f.FileStart, false).Filename
}

// suggest makes the patch of a cause, if there is one that can be applied with those before it.
func (s *suggester) suggest(ctx context.Context, m *Module, group []*finding.Finding) error {
	var relative []*finding.Finding
	for _, f := range group {
		c, err := below(s.root, f)
		if err != nil {
			return fmt.Errorf("copying a finding: %w", err)
		}
		relative = append(relative, c)
	}
	fix, files, err := m.Fix(ctx, relative, s.taken)
	switch {
	case err != nil:
		return err
	case fix.Withheld != "":
		return errors.New(fix.Withheld)
	}
	one := analysis.SuggestedFix{Message: "Interlock: " + fix.Strategy}
	for _, rel := range slices.Sorted(maps.Keys(files)) {
		edits, err := s.edits(rel, files[rel])
		if err != nil {
			return err
		}
		one.TextEdits = append(one.TextEdits, edits...)
	}
	maps.Copy(s.taken, files)
	for _, f := range group {
		s.fixes[f] = []analysis.SuggestedFix{one}
	}
	return nil
}

// below returns a copy of f whose files are slash paths relative to root.
func below(root string, f *finding.Finding) (*finding.Finding, error) {
	data, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	c := new(finding.Finding)
	if err := json.Unmarshal(data, c); err != nil {
		return nil, err
	}
	c.RenameFiles(func(name string) string {
		if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		return filepath.ToSlash(name)
	})
	return c, nil
}

// edits returns those of one file, at the positions of the pass.
func (s *suggester) edits(rel string, after []byte) (list []analysis.TextEdit, err error) {
	name := filepath.Join(s.root, filepath.FromSlash(rel))
	i := slices.IndexFunc(s.pass.Files, func(f *ast.File) bool { return s.name(f) == name })
	if i < 0 {
		return nil, fmt.Errorf("the patch changes %s too, which is not in the package; `interlock fix` prints it", rel)
	}
	file := s.pass.Fset.File(s.pass.Files[i].FileStart)
	before, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if len(before) != file.Size() {
		return nil, fmt.Errorf("%s has changed since it was analysed", rel)
	}
	edits, err := Edits(rel, before, after)
	if err != nil {
		return nil, err
	}
	start := func(line int) token.Pos { // from 0; that behind the last one is the end
		if line < file.LineCount() {
			return file.LineStart(line + 1)
		}
		return file.Pos(file.Size())
	}
	for _, e := range edits {
		list = append(list, analysis.TextEdit{Pos: start(e.Line), End: start(e.Line + e.Gone), NewText: []byte(e.New)})
	}
	return list, nil
}

package session

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/analyzers/inprocess"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
)

// Analyzers are the passes that a snapshot holds the results of. What they
// require runs too.
var Analyzers = []*analysis.Analyzer{
	ir.Analyzer, callgraph.Analyzer, ownership.Analyzer, lockset.Analyzer, syncops.Analyzer,
}

// Snapshot is one state of the module's source, typed and analysed. It is
// read-only once built.
type Snapshot struct {
	root string
	// Packages are those of the module, each behind those that it imports.
	Packages []*Package
	byPath   map[string]*Package
	// Changes are the files that differ from the original, none in the original itself.
	Changes []Change

	session *Session            // of the original alone
	tests   map[string]*Package // see Tests
}

// Change is one file that a patch replaces.
type Change struct {
	Package       string // import path
	Before, After File
}

// File is the source of a file with its syntax.
type File struct {
	Source []byte
	Syntax *ast.File
}

// Package returns the package with an import path; nil if it is not loaded.
func (s *Snapshot) Package(path string) *Package { return s.byPath[path] }

// Tests returns the package with an import path together with its tests, analysed when it is first asked for; nil if
// that is not possible, and for the source of a patch. What others import is the package without them.
func (s *Snapshot) Tests(path string) *Package {
	if p, known := s.tests[path]; known || s.session == nil {
		return p
	}
	s.tests[path] = nil
	for _, one := range s.session.sources {
		if one.loaded.PkgPath != path {
			continue
		}
		p := newPackage(one.withTests)
		if s.analyse(p) == nil {
			s.tests[path] = p
		}
	}
	return s.tests[path]
}

// Root returns the absolute folder of the module.
func (s *Snapshot) Root() string { return s.root }

func (s *Snapshot) add(p *Package) {
	s.Packages = append(s.Packages, p)
	s.byPath[p.Path] = p
}

// Package is one package of a snapshot, with the results of the passes.
type Package struct {
	Path  string
	Fset  *token.FileSet
	Files []*ast.File
	Types *types.Package
	Info  *types.Info

	IR     *ir.Program
	Calls  *callgraph.Graph
	Owners *ownership.Result
	Locks  *lockset.Result
	Ops    *syncops.List

	loaded   *packages.Package
	facts    *inprocess.Facts
	newFacts bool // facts differ from those of the original
}

func newPackage(p *packages.Package) *Package {
	return &Package{Path: p.PkgPath, Fset: p.Fset, Files: p.Syntax, Types: p.Types, Info: p.TypesInfo, loaded: p}
}

// Outside lists the Go files of the package that were not loaded as they are: those that build constraints leave out,
// and those of which cgo has made others.
func (p *Package) Outside() []string {
	list := slices.Clone(p.loaded.IgnoredFiles)
	for _, name := range p.loaded.GoFiles {
		if !slices.Contains(p.loaded.CompiledGoFiles, name) {
			list = append(list, name)
		}
	}
	return slices.DeleteFunc(list, func(name string) bool { return !strings.HasSuffix(name, ".go") })
}

// again returns p with its types, not yet analysed.
func (p *Package) again() *Package {
	return &Package{Path: p.Path, Fset: p.Fset, Files: p.Files, Types: p.Types, Info: p.Info, loaded: p.loaded}
}

// seesNewFacts reports whether p imports a package of s whose facts are not
// those that p was analysed with.
func (s *Snapshot) seesNewFacts(p *Package) bool {
	for _, dep := range p.Types.Imports() {
		if q := s.byPath[dep.Path()]; q != nil && q.newFacts {
			return true
		}
	}
	return false
}

// analyse runs the passes on p. The packages that it imports come before it.
func (s *Snapshot) analyse(p *Package) error {
	unit := &inprocess.Unit{
		Fset: p.Fset, Files: p.Files, Types: p.Types, Info: p.Info, Sizes: p.loaded.TypesSizes, Module: module(p.loaded),
		Imported: s.factsOf,
	}
	results, facts, err := unit.Run(context.Background(), Analyzers...)
	if err != nil {
		return err
	}
	p.facts = facts
	p.IR = results[ir.Analyzer].(*ir.Program)
	p.Calls = results[callgraph.Analyzer].(*callgraph.Graph)
	p.Owners = results[ownership.Analyzer].(*ownership.Result)
	p.Locks = results[lockset.Analyzer].(*lockset.Result)
	p.Ops = results[syncops.Analyzer].(*syncops.List)
	// A pass that failed leaves an empty package behind, in which nothing is wrong.
	if problem := p.IR.Problem(); problem != "" {
		return fmt.Errorf("analysing %s: %s", p.Path, problem)
	}
	if !p.IR.Usable() {
		return fmt.Errorf("analysing %s: it is none of the packages to analyse", p.Path)
	}
	if left := p.IR.Abandoned(); len(left) > 0 {
		return fmt.Errorf("analysing %s: %s did not finish %s", p.Path, left[0].Pass, left[0].Function)
	}
	return nil
}

// factsOf returns what the passes have noted of a package; nil if it is none of s.
func (s *Snapshot) factsOf(path string) *inprocess.Facts {
	if p := s.byPath[path]; p != nil {
		return p.facts
	}
	return nil
}

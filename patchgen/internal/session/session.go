// Package session analyses the packages of one module, and then again with
// some files replaced, in one process.
//
// [New] takes packages that are loaded from source, their dependencies outside
// of the module from export data. [Session.Original] is the module as it was
// loaded; [Session.With] is the module with the files of a patch in place. Both
// are a [Snapshot]: for each package the types and the results of the shared
// passes that [Analyzers] lists.
//
// A patched snapshot keeps the packages of the original that the patch cannot
// change. A package is parsed and typed again where one of its files is
// replaced. A package that imports it keeps its types and is analysed again
// only where facts that it can see have changed; package inprocess keeps these
// beyond the types that they were noted with.
//
// Tests are left out, as the passes draw no conclusion from them, except where
// the patch changes a test, and those that are programs of their own.
//
// Cost: the first snapshot is analysed whole, once. A patch costs the type
// check and the passes of each package that it changes: linear in the size of
// the package.
package session

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// LoadMode is what [packages.Load] must be asked for so that [New] can use the result.
const LoadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule

// Session is the loaded source of one module. It is not safe for concurrent use.
type Session struct {
	root    string // absolute directory of go.mod
	fset    *token.FileSet
	sources []*source // those without tests, and those of external tests

	original *Snapshot
	library  types.Importer // of the standard library's source; made on demand
}

// source is one package as it was loaded.
type source struct {
	loaded *packages.Package
	// withTests is the variant that holds the package's own tests too; it is
	// loaded itself where there are none.
	withTests *packages.Package
}

// New makes a session of loaded packages. Packages outside of root and
// generated test mains are left out.
func New(root string, loaded []*packages.Package) (*Session, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("resolving module root: %w", err)
	}
	s := &Session{root: abs}
	byPath := map[string]*source{}
	for _, p := range loaded {
		if len(p.Syntax) == 0 || strings.HasSuffix(p.ID, ".test") || !s.inside(p) {
			continue
		}
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("package %s does not load: %w", p.PkgPath, p.Errors[0])
		}
		s.fset = p.Fset
		// Of the variants of one package, the smallest has no tests and the largest has all of its own.
		one := byPath[p.PkgPath]
		if one == nil {
			one = &source{loaded: p, withTests: p}
			byPath[p.PkgPath] = one
			s.sources = append(s.sources, one)
			continue
		}
		if len(p.Syntax) < len(one.loaded.Syntax) {
			one.loaded = p
		}
		if len(p.Syntax) > len(one.withTests.Syntax) {
			one.withTests = p
		}
	}
	if len(s.sources) == 0 {
		return nil, fmt.Errorf("no package of %s is loaded", root)
	}
	// A test that tests nothing else is a program, to be analysed with the rest.
	for _, one := range s.sources {
		if holdsProgram(one.withTests) {
			one.loaded = one.withTests
		}
	}
	s.sort()
	return s, nil
}

// holdsProgram reports whether a test file of the package is a program of its own.
func holdsProgram(p *packages.Package) bool {
	unit := ir.Unit{Fset: p.Fset, Files: p.Syntax, Pkg: p.Types, Info: p.TypesInfo}
	if p.Module != nil {
		unit.Module = p.Module.Path
	}
	testing := ir.TestingFiles(unit)
	return slices.ContainsFunc(p.Syntax, func(f *ast.File) bool {
		file := p.Fset.File(f.FileStart)
		return ir.IsTestFile(file.Name()) && !testing[file]
	})
}

func (s *Session) inside(p *packages.Package) bool {
	return slices.ContainsFunc(p.Syntax, func(f *ast.File) bool {
		_, ok := s.relative(p.Fset.PositionFor(f.FileStart, false).Filename)
		return ok
	})
}

// relative returns the slash path of a file below the module's root.
func (s *Session) relative(name string) (string, bool) {
	rel, err := filepath.Rel(s.root, name)
	if err != nil || strings.HasPrefix(rel, "..") {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// isExternalTest reports whether all files of the package test other code.
func isExternalTest(p *packages.Package) bool {
	return strings.HasSuffix(p.PkgPath, "_test") && !holdsProgram(p)
}

// sort puts each package behind those that it imports.
func (s *Session) sort() {
	byPath := map[string]*source{}
	for _, one := range s.sources {
		byPath[one.loaded.PkgPath] = one
	}
	var sorted []*source
	seen := map[*source]bool{}
	var visit func(one *source)
	visit = func(one *source) {
		if seen[one] {
			return
		}
		seen[one] = true
		for _, path := range slices.Sorted(maps.Keys(one.loaded.Imports)) {
			if dep := byPath[one.loaded.Imports[path].PkgPath]; dep != nil {
				visit(dep)
			}
		}
		sorted = append(sorted, one)
	}
	for _, one := range s.sources {
		visit(one)
	}
	s.sources = sorted
}

// Original returns the module as it was loaded, analysed. The analysis is made
// once, at the first call.
func (s *Session) Original() (*Snapshot, error) {
	if s.original != nil {
		return s.original, nil
	}
	snap := &Snapshot{root: s.root, byPath: map[string]*Package{}, session: s, tests: map[string]*Package{}}
	for _, one := range s.sources {
		if isExternalTest(one.loaded) {
			continue
		}
		p := newPackage(one.loaded)
		snap.add(p)
		if err := snap.analyse(p); err != nil {
			return nil, err
		}
	}
	s.original = snap
	return snap, nil
}

// With returns the module with the contents of files, by slash path below the
// root, in place of what was loaded. The error is that of the parser or the
// type checker where the patched source has one.
func (s *Session) With(files map[string][]byte) (*Snapshot, error) {
	before, err := s.Original()
	if err != nil {
		return nil, err
	}
	left := maps.Clone(files)
	snap := &Snapshot{root: s.root, byPath: map[string]*Package{}}
	for _, one := range s.sources {
		p, changes, err := s.replace(one, files, left)
		if err != nil {
			return nil, err
		}
		snap.Changes = append(snap.Changes, changes...)
		// What the patch leaves alone is kept, or analysed again with its old types.
		old := before.byPath[one.loaded.PkgPath]
		switch {
		case p == nil && old == nil:
			continue // an external test that the patch leaves as it is
		case p == nil && !snap.seesNewFacts(old):
			snap.add(old)
			continue
		case p == nil:
			p = old.again()
		}
		snap.add(p)
		if err := snap.analyse(p); err != nil {
			return nil, err
		}
		p.newFacts = old != nil && !p.facts.Same(old.facts)
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("%s is in no loaded package", slices.Sorted(maps.Keys(left))[0])
	}
	return snap, nil
}

// replace returns the package with its replaced files, typed; nil if the patch
// leaves all of them as they are. It takes those that it finds out of left.
func (s *Session) replace(one *source, files, left map[string][]byte) (*Package, []Change, error) {
	variant := one.loaded
	switch plain, all := s.changes(one.loaded, files), s.changes(one.withTests, files); {
	case all == 0:
		return nil, nil, nil
	case all > plain:
		variant = one.withTests
	}
	p := newPackage(variant)
	p.Files = slices.Clone(p.Files)
	var changes []Change
	for i, f := range p.Files {
		rel, ok := s.relative(s.fset.PositionFor(f.FileStart, false).Filename)
		src, changed := files[rel]
		if !ok || !changed {
			continue
		}
		delete(left, rel)
		// The new syntax stands under the file's own name, so that positions are those of the user's tree.
		name := filepath.Join(s.root, filepath.FromSlash(rel))
		old, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, fmt.Errorf("reading source to patch: %w", err)
		}
		parsed, err := parser.ParseFile(s.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		p.Files[i] = parsed
		changes = append(changes, Change{p.Path, File{old, f}, File{src, parsed}})
	}
	return p, changes, s.check(p)
}

// changes counts the files of p that are replaced.
func (s *Session) changes(p *packages.Package, files map[string][]byte) int {
	n := 0
	for _, f := range p.Syntax {
		if rel, ok := s.relative(p.Fset.PositionFor(f.FileStart, false).Filename); ok && files[rel] != nil {
			n++
		}
	}
	return n
}

type importerFunc func(string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// check types p anew. Packages that it imports keep the types that they were
// loaded with.
func (s *Session) check(p *Package) error {
	p.Info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
		Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
	}
	conf := types.Config{
		Importer: importerFunc(func(path string) (*types.Package, error) { return s.imported(p.loaded, path) }),
		Sizes:    p.loaded.TypesSizes,
	}
	if m := p.loaded.Module; m != nil && m.GoVersion != "" {
		conf.GoVersion = "go" + m.GoVersion
	}
	var first error
	conf.Error = func(err error) {
		if first == nil {
			first = err
		}
	}
	typed, err := conf.Check(p.Path, s.fset, p.Files, p.Info)
	p.Types = typed
	if first != nil {
		return first
	}
	return err
}

// imported returns a package that p imports. What a patch imports anew is taken
// from another package of the module, or from the source of the standard library.
func (s *Session) imported(p *packages.Package, path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if dep := p.Imports[path]; dep != nil && dep.Types != nil {
		return dep.Types, nil
	}
	for _, one := range s.sources {
		if dep := one.loaded.Imports[path]; dep != nil && dep.Types != nil {
			return dep.Types, nil
		}
	}
	if strings.Contains(strings.Split(path, "/")[0], ".") {
		return nil, errors.New("package " + path + " is not loaded")
	}
	if s.library == nil {
		s.library = importer.ForCompiler(s.fset, "source", nil)
	}
	return s.library.Import(path)
}

// module describes the module of p to the passes.
func module(p *packages.Package) *analysis.Module {
	if p.Module == nil {
		return nil
	}
	return &analysis.Module{Path: p.Module.Path, Version: p.Module.Version, GoVersion: p.Module.GoVersion}
}

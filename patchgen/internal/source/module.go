package source

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Module is the typed source of one main module, tests included. It is not
// changed by anything here, and not safe for concurrent use: facts are
// computed on demand and kept.
type Module struct {
	Root      string // absolute directory of go.mod
	Fset      *token.FileSet
	Packages  []*Package
	Files     map[string]*File       // by slash path relative to root
	functions map[ast.Node]*Function // by *ast.FuncDecl or *ast.FuncLit
	Declared  map[string]*Function   // declared functions by [types.Func.FullName] of the origin
}

// Package is one package in its widest variant: with its in-package tests.
type Package struct {
	Path      string
	GoVersion string // of the module's go directive: "go1.21"; "" if unknown
	Types     *types.Package
	Info      *types.Info
	Files     []*File
}

// Old returns the contents that the files had when the module was loaded, as
// [Diff] and [Apply] want them.
func (m *Module) Old(files map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for path := range files {
		if file := m.Files[path]; file != nil {
			out[path] = file.Source
		}
	}
	return out
}

// NewModule makes a module of loaded packages. Packages outside root and
// generated test mains are left out; of a package's variants the widest one
// counts. It fails where a package has errors: no patch is built on source
// that does not compile.
func NewModule(root string, loaded []*packages.Package) (*Module, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("resolving module root: %w", err)
	}
	m := &Module{Root: abs, Files: map[string]*File{}, functions: map[ast.Node]*Function{},
		Declared: map[string]*Function{}}
	for _, p := range widest(loaded) {
		if err := m.addPackage(p); err != nil {
			return nil, err
		}
	}
	if len(m.Files) == 0 {
		return nil, fmt.Errorf("no package of %s is loaded: load it with patchgen.LoadMode and Tests set", root)
	}
	m.index()
	return m, nil
}

// widest keeps of the variants of each package the one with most files.
func widest(loaded []*packages.Package) []*packages.Package {
	best := map[string]*packages.Package{}
	var order []string
	for _, p := range loaded {
		if len(p.Syntax) == 0 || strings.HasSuffix(p.ID, ".test") {
			continue
		}
		old, seen := best[p.PkgPath]
		if !seen {
			order = append(order, p.PkgPath)
		}
		if !seen || len(p.Syntax) > len(old.Syntax) {
			best[p.PkgPath] = p
		}
	}
	var out []*packages.Package
	for _, path := range order {
		out = append(out, best[path])
	}
	return out
}

func (m *Module) addPackage(p *packages.Package) error {
	if len(p.Errors) > 0 {
		return fmt.Errorf("package %s does not load: %w", p.PkgPath, p.Errors[0])
	}
	m.Fset = p.Fset
	q := &Package{Path: p.PkgPath, Types: p.Types, Info: p.TypesInfo}
	if p.Module != nil && p.Module.GoVersion != "" {
		q.GoVersion = "go" + p.Module.GoVersion
	}
	unit := ir.Unit{Fset: p.Fset, Files: p.Syntax, Pkg: p.Types, Info: p.TypesInfo}
	if p.Module != nil {
		unit.Module = p.Module.Path
	}
	testing := ir.TestingFiles(unit)
	// Files outside of the module are those that cgo has made.
	for _, f := range p.Syntax {
		name := p.Fset.PositionFor(f.FileStart, false).Filename
		rel, err := filepath.Rel(m.Root, name)
		if err != nil || strings.HasPrefix(rel, "..") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading source to patch: %w", err)
		}
		file := &File{Module: m, Package: q, Path: filepath.ToSlash(rel), Source: src, Syntax: f,
			Test: testing[p.Fset.File(f.FileStart)]}
		q.Files = append(q.Files, file)
		m.Files[file.Path] = file
	}
	if len(q.Files) > 0 {
		m.Packages = append(m.Packages, q)
	}
	return nil
}

// index finds parents and functions.
func (m *Module) index() {
	for _, p := range m.Packages {
		for _, file := range p.Files {
			file.index()
		}
	}
}

// Since reports whether the go directive is v ("go1.19") or newer. An unknown
// directive counts as old.
func (p *Package) Since(v string) bool {
	return p.GoVersion != "" && version.Compare(p.GoVersion, v) >= 0
}

func slash(name string) string { return filepath.ToSlash(name) }

// File returns the file at a path, as findings name it. The error says why it cannot be patched.
func (m *Module) File(path string) (*File, error) {
	if file := m.Files[path]; file != nil {
		return file, nil
	}
	if _, err := os.Stat(filepath.Join(m.Root, filepath.FromSlash(path))); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is gone since the finding was made: check or test again", path)
	}
	return nil, fmt.Errorf("%s is not among the loaded files of the module: cgo translates it, or build constraints "+
		"leave it out", path)
}

// FileOf returns the file of the module that holds e; nil if none does.
func (m *Module) FileOf(e ast.Node) *File {
	return m.Files[relTo(m, e.Pos())]
}

func relTo(m *Module, pos token.Pos) string {
	name := m.Fset.PositionFor(pos, false).Filename
	return strings.TrimPrefix(strings.TrimPrefix(slash(name), slash(m.Root)), "/")
}

func (m *Module) at(n ast.Node) string {
	if file := m.FileOf(n); file != nil {
		return file.At(n)
	}
	return "elsewhere"
}

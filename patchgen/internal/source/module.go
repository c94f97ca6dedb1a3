package source

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"go/version"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// LoadMode is what [packages.Load] must be asked for (with Tests set) so that
// [NewModule] can use the result.
const LoadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax |
	packages.NeedTypesInfo | packages.NeedModule

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

	std types.Importer // see library; made on demand
}

// Package is one package in its widest variant: with its in-package tests.
type Package struct {
	Path      string
	GoVersion string // of the module's go directive: "go1.21"; "" if unknown
	Types     *types.Package
	Info      *types.Info
	imports   func(path string) (*types.Package, error)
	sizes     types.Sizes
	Files     []*File
	generated []*ast.File // what cgo has made, outside of the module
	Ignored   []string    // Go files left out by build constraints
}

type importerFunc func(string) (*types.Package, error)

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

// Functions lists all functions in the order of the source.
func (m *Module) Functions() []*Function {
	var out []*Function
	for _, f := range m.functions {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b *Function) int {
		if c := strings.Compare(a.File.Path, b.File.Path); c != 0 {
			return c
		}
		return int(a.Node.Pos() - b.Node.Pos())
	})
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
	q := &Package{Path: p.PkgPath, Types: p.Types, Info: p.TypesInfo, sizes: p.TypesSizes,
		Ignored: slices.Clone(p.IgnoredFiles)}
	if p.Module != nil && p.Module.GoVersion != "" {
		q.GoVersion = "go" + p.Module.GoVersion
	}
	q.imports = func(path string) (*types.Package, error) {
		if path == "unsafe" {
			return types.Unsafe, nil
		}
		if dep := p.Imports[path]; dep != nil && dep.Types != nil {
			return dep.Types, nil
		}
		return nil, fmt.Errorf("package %s is not loaded", path)
	}
	for _, f := range p.Syntax {
		name := p.Fset.PositionFor(f.FileStart, false).Filename
		rel, err := filepath.Rel(m.Root, name)
		if err != nil || strings.HasPrefix(rel, "..") {
			q.Ignored = append(q.Ignored, name)
			q.generated = append(q.generated, f)
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading source to patch: %w", err)
		}
		file := &File{Module: m, Package: q, Path: filepath.ToSlash(rel), Source: src, Syntax: f,
			Test: strings.HasSuffix(rel, "_test.go")}
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

// With returns the module as it would be with the files replaced: parsed and
// type-checked, for the packages that hold a replaced file. The error is that
// of the parser or type checker.
func (m *Module) With(files map[string][]byte) (*Module, error) {
	out := &Module{Root: m.Root, Fset: m.Fset, Files: map[string]*File{}, functions: map[ast.Node]*Function{},
		Declared: map[string]*Function{}}
	for _, p := range m.Packages {
		q := *p
		q.Files = nil
		changed := false
		for _, file := range p.Files {
			v := &File{Module: out, Package: &q, Path: file.Path, Source: file.Source, Syntax: file.Syntax, Test: file.Test}
			if src, ok := files[file.Path]; ok {
				f, err := parser.ParseFile(m.Fset, filepath.Join(m.Root, filepath.FromSlash(file.Path)), src,
					parser.ParseComments|parser.SkipObjectResolution)
				if err != nil {
					return nil, err
				}
				v.Source, v.Syntax, changed = src, f, true
			}
			q.Files = append(q.Files, v)
			out.Files[v.Path] = v
		}
		if changed {
			if err := q.check(m); err != nil {
				return nil, err
			}
		}
		out.Packages = append(out.Packages, &q)
	}
	out.index()
	return out, nil
}

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

func (p *Package) check(m *Module) error {
	old := p.imports
	imports := func(path string) (*types.Package, error) {
		t, err := old(path)
		if err != nil && (path == "sync" || path == "sync/atomic") { // a patch may add these
			return m.library(path)
		}
		return t, err
	}
	p.Info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
		Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
	}
	var errs []error
	conf := types.Config{Importer: importerFunc(imports), GoVersion: p.GoVersion, Sizes: p.sizes,
		Error: func(err error) { errs = append(errs, err) }}
	t, err := conf.Check(p.Path, m.Fset, p.Syntax(), p.Info)
	if len(errs) > 0 {
		err = errs[0]
	}
	p.Types = t
	return err
}

// Syntax are all that the package is typed from.
func (p *Package) Syntax() []*ast.File {
	files := slices.Clone(p.generated)
	for _, file := range p.Files {
		files = append(files, file.Syntax)
	}
	return files
}

// library returns a package of the standard library that the patched package
// did not import: as another package of the module has it, or from source.
func (m *Module) library(path string) (*types.Package, error) {
	for _, p := range m.Packages {
		if t, err := p.imports(path); err == nil {
			return t, nil
		}
	}
	if m.std == nil {
		m.std = importer.ForCompiler(m.Fset, "source", nil)
	}
	return m.std.Import(path)
}

// Since reports whether the go directive is v ("go1.19") or newer. An unknown
// directive counts as old.
func (p *Package) Since(v string) bool {
	return p.GoVersion != "" && version.Compare(p.GoVersion, v) >= 0
}

func slash(name string) string { return filepath.ToSlash(name) }

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

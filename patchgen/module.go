package patchgen

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
	root  string // absolute directory of go.mod
	fset  *token.FileSet
	pkgs  []*pkg
	files map[string]*unit // by slash path relative to root
	fns   map[ast.Node]*fn // by *ast.FuncDecl or *ast.FuncLit
	decls map[string]*fn   // declared functions by [types.Func.FullName] of the origin

	mayBlock map[*fn]string // see blocking.go; filled on demand
	flow     *lockFlow      // see held.go; filled on demand
	std      types.Importer // see library; made on demand
}

// pkg is one package in its widest variant: with its in-package tests.
type pkg struct {
	path    string
	goVer   string // of the module's go directive: "go1.21"; "" if unknown
	types   *types.Package
	info    *types.Info
	imports func(path string) (*types.Package, error)
	sizes   types.Sizes
	units   []*unit
	made    []*ast.File // what cgo has made, outside of the module
	ignored []string    // Go files left out by build constraints
}

// unit is one file.
type unit struct {
	m       *Module
	pkg     *pkg
	path    string // slash path relative to the module's root
	src     []byte
	file    *ast.File
	test    bool
	parents map[ast.Node]ast.Node
	single  map[types.Object]ast.Expr // locals assigned exactly once, with the value
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
	m := &Module{root: abs, files: map[string]*unit{}, fns: map[ast.Node]*fn{}, decls: map[string]*fn{}}
	for _, p := range widest(loaded) {
		if err := m.addPackage(p); err != nil {
			return nil, err
		}
	}
	if len(m.files) == 0 {
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
	m.fset = p.Fset
	q := &pkg{path: p.PkgPath, types: p.Types, info: p.TypesInfo, sizes: p.TypesSizes, ignored: slices.Clone(p.IgnoredFiles)}
	if p.Module != nil && p.Module.GoVersion != "" {
		q.goVer = "go" + p.Module.GoVersion
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
		rel, err := filepath.Rel(m.root, name)
		if err != nil || strings.HasPrefix(rel, "..") {
			q.ignored = append(q.ignored, name)
			q.made = append(q.made, f)
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading source to patch: %w", err)
		}
		u := &unit{m: m, pkg: q, path: filepath.ToSlash(rel), src: src, file: f, test: strings.HasSuffix(rel, "_test.go")}
		q.units = append(q.units, u)
		m.files[u.path] = u
	}
	if len(q.units) > 0 {
		m.pkgs = append(m.pkgs, q)
	}
	return nil
}

// index finds parents and functions.
func (m *Module) index() {
	for _, p := range m.pkgs {
		for _, u := range p.units {
			u.index()
		}
	}
}

func (u *unit) index() {
	u.parents = map[ast.Node]ast.Node{}
	var stack []ast.Node
	var within []*fn
	ast.Inspect(u.file, func(n ast.Node) bool {
		if n == nil {
			if _, ok := u.m.fns[stack[len(stack)-1]]; ok {
				within = within[:len(within)-1]
			}
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			u.parents[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		if f := u.newFn(n); f != nil {
			if len(within) > 0 {
				f.outer = within[len(within)-1]
			}
			within = append(within, f)
			u.m.fns[n] = f
		}
		return true
	})
	u.single = singleAssigned(u)
}

// with returns the module as it would be with the files replaced: parsed and
// type-checked, for the packages that hold a replaced file. The error is that
// of the parser or type checker.
func (m *Module) with(files map[string][]byte) (*Module, error) {
	out := &Module{root: m.root, fset: m.fset, files: map[string]*unit{}, fns: map[ast.Node]*fn{}, decls: map[string]*fn{}}
	for _, p := range m.pkgs {
		q := *p
		q.units = nil
		changed := false
		for _, u := range p.units {
			v := &unit{m: out, pkg: &q, path: u.path, src: u.src, file: u.file, test: u.test}
			if src, ok := files[u.path]; ok {
				f, err := parser.ParseFile(m.fset, filepath.Join(m.root, filepath.FromSlash(u.path)), src, parser.ParseComments|parser.SkipObjectResolution)
				if err != nil {
					return nil, err
				}
				v.src, v.file, changed = src, f, true
			}
			q.units = append(q.units, v)
			out.files[v.path] = v
		}
		if changed {
			if err := q.check(m); err != nil {
				return nil, err
			}
		}
		out.pkgs = append(out.pkgs, &q)
	}
	out.index()
	return out, nil
}

type importerFunc func(string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

func (p *pkg) check(m *Module) error {
	old := p.imports
	imports := func(path string) (*types.Package, error) {
		t, err := old(path)
		if err != nil && (path == "sync" || path == "sync/atomic") { // a patch may add these
			return m.library(path)
		}
		return t, err
	}
	p.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
		Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
	}
	var errs []error
	conf := types.Config{Importer: importerFunc(imports), GoVersion: p.goVer, Sizes: p.sizes, Error: func(err error) { errs = append(errs, err) }}
	t, err := conf.Check(p.path, m.fset, p.files(), p.info)
	if len(errs) > 0 {
		err = errs[0]
	}
	p.types = t
	return err
}

// files are all that the package is typed from.
func (p *pkg) files() []*ast.File {
	files := slices.Clone(p.made)
	for _, u := range p.units {
		files = append(files, u.file)
	}
	return files
}

// library returns a package of the standard library that the patched package
// did not import: as another package of the module has it, or from source.
func (m *Module) library(path string) (*types.Package, error) {
	for _, p := range m.pkgs {
		if t, err := p.imports(path); err == nil {
			return t, nil
		}
	}
	if m.std == nil {
		m.std = importer.ForCompiler(m.fset, "source", nil)
	}
	return m.std.Import(path)
}

// since reports whether the go directive is v ("go1.19") or newer. An unknown
// directive counts as old.
func (p *pkg) since(v string) bool { return p.goVer != "" && version.Compare(p.goVer, v) >= 0 }

func slash(name string) string { return filepath.ToSlash(name) }

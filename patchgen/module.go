package patchgen

import (
	"errors"
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
	"golang.org/x/tools/go/types/typeutil"
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
	ignored []string // Go files left out by build constraints
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

// fn is one function: a declaration or a literal.
type fn struct {
	unit  *unit
	node  ast.Node
	recv  *ast.FieldList
	typ   *ast.FuncType
	body  *ast.BlockStmt
	outer *fn         // function around a literal
	obj   *types.Func // nil for a literal
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

func (u *unit) newFn(n ast.Node) *fn {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Body == nil {
			return nil
		}
		f := &fn{unit: u, node: n, recv: n.Recv, typ: n.Type, body: n.Body}
		if obj, ok := u.pkg.info.Defs[n.Name].(*types.Func); ok {
			f.obj = obj
			u.m.decls[obj.FullName()] = f
		}
		return f
	case *ast.FuncLit:
		return &fn{unit: u, node: n, typ: n.Type, body: n.Body}
	}
	return nil
}

// with gives the module as it would be with the files replaced: parsed and
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
	var files []*ast.File
	for _, u := range p.units {
		files = append(files, u.file)
	}
	var errs []error
	conf := types.Config{Importer: importerFunc(imports), GoVersion: p.goVer, Sizes: p.sizes, Error: func(err error) { errs = append(errs, err) }}
	t, err := conf.Check(p.path, m.fset, files, p.info)
	if len(errs) > 0 {
		err = errs[0]
	}
	p.types = t
	return err
}

// library gives a package of the standard library that the patched package
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

// offset of a position in its file.
func (u *unit) offset(p token.Pos) int { return u.m.fset.PositionFor(p, false).Offset }

func (u *unit) line(p token.Pos) int { return u.m.fset.PositionFor(p, false).Line }

// text is the source of n.
func (u *unit) text(n ast.Node) string { return string(u.src[u.offset(n.Pos()):u.offset(n.End())]) }

// at says in a reason where n is.
func (u *unit) at(n ast.Node) string { return fmt.Sprintf("%s:%d", u.path, u.line(n.Pos())) }

// pos turns a 1-based line and byte column into a position of the file.
func (u *unit) pos(line, column int) (token.Pos, error) {
	f := u.m.fset.File(u.file.FileStart)
	if line < 1 || line > f.LineCount() {
		return 0, errors.New("line out of the file")
	}
	p := f.LineStart(line) + token.Pos(max(column, 1)-1)
	if p > u.file.FileEnd {
		return 0, errors.New("column out of the file")
	}
	return p, nil
}

// fnOf gives the innermost function around n, or nil at package level.
func (u *unit) fnOf(n ast.Node) *fn {
	for n = u.parents[n]; n != nil; n = u.parents[n] {
		if f := u.m.fns[n]; f != nil {
			return f
		}
	}
	return nil
}

// name of f as reasons have it.
func (f *fn) name() string {
	if d, ok := f.node.(*ast.FuncDecl); ok {
		if d.Recv != nil && len(d.Recv.List) == 1 {
			return "(" + f.unit.text(d.Recv.List[0].Type) + ")." + d.Name.Name
		}
		return d.Name.Name
	}
	if f.outer != nil {
		return "a function literal in " + f.outer.name()
	}
	return "a function literal"
}

// decl is the declaration around f, f itself for a declared function; nil for
// a literal at package level.
func (f *fn) decl() *fn {
	for f.outer != nil {
		f = f.outer
	}
	return f
}

// receiver is the receiver variable of f or of a function around it.
func (f *fn) receiver() types.Object {
	d := f.decl()
	if d.recv == nil || len(d.recv.List) != 1 || len(d.recv.List[0].Names) != 1 {
		return nil
	}
	return d.unit.pkg.info.Defs[d.recv.List[0].Names[0]]
}

// callee gives the declared function of the module that call certainly calls.
func (u *unit) callee(call *ast.CallExpr) *fn {
	if f := typeutil.StaticCallee(u.pkg.info, call); f != nil {
		return u.m.decls[f.Origin().FullName()]
	}
	return nil
}

// params lists receiver and parameters of f in order; nil for an unnamed one.
func (f *fn) params() []types.Object {
	var out []types.Object
	for _, list := range []*ast.FieldList{f.recv, f.typ.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			if len(field.Names) == 0 {
				out = append(out, nil)
			}
			for _, name := range field.Names {
				out = append(out, f.unit.pkg.info.Defs[name])
			}
		}
	}
	return out
}

// arguments lists the receiver and the arguments of a call of f, in the order
// of [fn.params]; nil where they do not correspond one to one.
func (f *fn) arguments(call *ast.CallExpr) []ast.Expr {
	var out []ast.Expr
	if f.recv != nil {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		out = append(out, sel.X)
	}
	out = append(out, call.Args...)
	if len(out) != len(f.params()) || call.Ellipsis.IsValid() {
		return nil
	}
	return out
}

// sortedFns lists all functions in the order of the source.
func (m *Module) sortedFns() []*fn {
	var out []*fn
	for _, f := range m.fns {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b *fn) int {
		if c := strings.Compare(a.unit.path, b.unit.path); c != 0 {
			return c
		}
		return int(a.node.Pos() - b.node.Pos())
	})
	return out
}

func slash(name string) string { return filepath.ToSlash(name) }

package resident

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/gcexportdata"

	"github.com/interlock-go/interlock/analyzers/inprocess"
)

// Package is one package of a [Module].
type Package struct {
	Path string // import path

	dir       string
	files     []string          // that are typed, absolute; those made by cgo among them
	sources   []string          // that people write, absolute
	imports   map[string]string // as written -> import path
	deps      []*Package        // that it imports, of the module
	importers []*Package        // of the module
	module    *analysis.Module
	problem   string            // why the go command cannot list it; "" if it can
	listing   []string          // names of the Go files in dir when it was listed
	cgo       [sha256.Size]byte // of the sources that cgo had translated then
	known

	tests tests
	// Of a package that is compiled for tests of another one: its imports in place of the module's packages, by
	// import path, and the one that it is the same as, with other types; nil if there is none.
	instead map[string]*Package
	plain   *Package
}

// known is the result of the last analysis of a package.
type known struct {
	hash    [sha256.Size]byte // of the sources that it was made from
	stale   bool              // an import has changed since
	api     generation        // with which importers are typed
	apiHash [sha256.Size]byte // of the declarations that importers can see
	facts   *inprocess.Facts
	memory  *sync.Map         // of the passes; new where other packages have changed
	summary []byte            // JSON; nil if it was never analysed
	notes   map[string][]Note // by file name
	texts   map[string][]byte // the sources, by file name
}

// generation is the types of a package, and the files that their positions lie in.
type generation struct {
	types *types.Package // nil if there are none
	files []*token.File
}

// syntax is a package while it is being analysed.
type syntax struct {
	files []*ast.File
	info  *types.Info
	generation
}

// translated lists the sources of which cgo makes the files that are typed in their place.
func (n *Package) translated() []string {
	return slices.DeleteFunc(slices.Clone(n.sources), func(name string) bool { return slices.Contains(n.files, name) })
}

// hashCgo returns the hash of the sources that cgo translates: where it changes, cgo has to be run again.
func (m *Module) hashCgo(n *Package) [sha256.Size]byte {
	h := sha256.New()
	for _, name := range n.translated() {
		data, err := m.options.Read(name)
		fmt.Fprintf(h, "%s %d %v\n", name, len(data), err)
		h.Write(data)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// readSources reads the sources of a package, and the files that cgo has made of some of them. The hash is that of
// all.
func (m *Module) readSources(n *Package) (texts map[string][]byte, hash [sha256.Size]byte, err error) {
	h := sha256.New()
	texts = map[string][]byte{}
	for _, name := range slices.Concat(n.files, n.translated()) {
		data, err := m.options.Read(name)
		if err != nil {
			return nil, hash, &CompileError{n.Path, err.Error()}
		}
		texts[name] = data
		fmt.Fprintf(h, "%s %d\n", name, len(data))
		h.Write(data)
	}
	return texts, [sha256.Size]byte(h.Sum(nil)), nil
}

// importsOthers reports whether a changed file imports a package that was not listed for it.
func (m *Module) importsOthers(n *Package) bool {
	texts, hash, err := m.readSources(n)
	if err != nil || hash == n.hash {
		return err != nil
	}
	for name, text := range texts {
		if bytes.Equal(text, n.texts[name]) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			return false // the package does not compile
		}
		for _, spec := range f.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if n.imports[path] == "" && path != "unsafe" && path != "C" {
				return true
			}
		}
	}
	return false
}

// typeCheck parses and types a package.
func (m *Module) typeCheck(n *Package, texts map[string][]byte) (*syntax, error) {
	s := &syntax{info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
		Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
	}}
	for _, name := range n.files {
		f, err := parser.ParseFile(m.fset, name, texts[name], parser.ParseComments|parser.SkipObjectResolution)
		if f != nil && f.FileStart.IsValid() {
			s.generation.files = append(s.generation.files, m.fset.File(f.FileStart))
		}
		if err != nil {
			m.forget(s.generation)
			return nil, &CompileError{n.Path, err.Error()}
		}
		s.files = append(s.files, f)
	}
	// The first error says most; the type checker goes on, so that it is that of the first file.
	first := ""
	conf := types.Config{
		Importer: &importer{m, n}, Sizes: m.sizes,
		Error: func(err error) {
			first = cmp.Or(first, err.Error())
		},
	}
	if n.module.GoVersion != "" {
		conf.GoVersion = "go" + n.module.GoVersion
	}
	s.types, _ = conf.Check(n.Path, m.fset, s.files, s.info)
	if first != "" {
		m.forget(s.generation)
		return nil, &CompileError{n.Path, first}
	}
	return s, nil
}

// forget removes the positions of a generation.
func (m *Module) forget(g generation) {
	for _, f := range g.files {
		m.fset.RemoveFile(f)
	}
}

// importer finds the imports of one package.
type importer struct {
	module *Module
	of     *Package
}

// Import implements [types.Importer].
func (i *importer) Import(name string) (*types.Package, error) {
	path := i.of.imports[name]
	switch {
	case name == "unsafe":
		return types.Unsafe, nil
	case path == "":
		return nil, errors.New("it is not among the imports that the go command lists")
	}
	if dep := cmp.Or(i.of.instead[path], i.module.packages[path]); dep != nil {
		if dep.api.types == nil {
			return nil, fmt.Errorf("package %s imports %s back", path, i.of.Path)
		}
		return dep.api.types, nil
	}
	return i.module.fromExport(path)
}

// fromExport returns a package of another module.
func (m *Module) fromExport(path string) (*types.Package, error) {
	if p := m.external[path]; p != nil && p.Complete() {
		return p, nil
	}
	name := m.exports[path]
	if name == "" {
		return nil, errors.New("it cannot be compiled, or is not there; `go build` says why")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	//lint:ignore SA1019 the go command of Go 1.26 and before hands out archives, which Read alone does not take
	r, err := gcexportdata.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("reading export data: %w", err)
	}
	return gcexportdata.Read(r, m.fset, m.external, path)
}

// hashAPI returns the hash of the part of a package that importers can see, positions left out.
func hashAPI(p *types.Package) ([sha256.Size]byte, error) {
	h := sha256.New()
	err := gcexportdata.Write(h, token.NewFileSet(), p) // which knows no position
	return [sha256.Size]byte(h.Sum(nil)), err
}

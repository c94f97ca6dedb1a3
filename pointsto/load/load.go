// Package load makes the whole program that package pointsto looks at: the
// named packages with their tests, and everything that they import, from
// source, as go/ssa.
//
// All dependencies come from source, the standard library too: the effect of a
// function without a body on its arguments is unknown, and an object
// that unknown code has seen is no longer anybody's own.
package load

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	"github.com/interlock-go/interlock/atomicsets/sites"
)

// Options select the packages to load.
type Options struct {
	Dir        string   // where the user stands; "" is the current folder
	Patterns   []string // as the go command takes them; none means "."
	BuildFlags []string // of the go command
	Env        []string // nil is that of this process
	Root       string   // absolute folder that sites' files are relative to
	Tests      bool     // the packages' tests are programs
	Programs   bool     // so are their main functions
}

// Program is one or several programs that share their packages.
type Program struct {
	SSA *ssa.Program
	// Mains are the main packages, those of tests included: each is a program.
	Mains []*ssa.Package
	// Own are the packages of the main modules, with their syntax. One that
	// has internal tests is there with them and, where others import it,
	// without them.
	Own []*Package
	// Library: packages of other modules may import one of the named ones.
	Library bool
	// Called are functions of packages outside the standard library that code
	// in other languages, or of packages that do not import them, may call by
	// the name that a linkname or export directive has for them.
	Called []*ssa.Function
	// Linked are functions without a body that stand for others by a linkname
	// directive.
	Linked map[*ssa.Function]*ssa.Function
	// Files and Lines count the type-checked source, dependencies included.
	Files, Lines int
}

// Package is a package of the main modules.
type Package struct {
	*sites.Package
	SSA *ssa.Package
	// Library: packages of other modules may import it.
	Library bool
}

const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo |
	packages.NeedModule | packages.NeedForTest

// Load reads and type-checks the packages, and builds their SSA form.
// Packages that do not compile are an error.
func Load(ctx context.Context, o Options) (*Program, error) {
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"."}
	}
	fset := token.NewFileSet()
	initial, err := packages.Load(&packages.Config{
		Mode: mode, Context: ctx, Dir: o.Dir, Env: o.Env, BuildFlags: o.BuildFlags, Fset: fset, Tests: o.Tests,
		ParseFile: parseFile,
	}, o.Patterns...)
	if err != nil {
		return nil, fmt.Errorf("loading the whole program: %w", err)
	}
	if err := errors.Join(firstError(initial), ctx.Err()); err != nil {
		return nil, err
	}
	// Every main package is a program: those of tests, others only on request.
	p := &Program{Linked: map[*ssa.Function]*ssa.Function{}}
	var pkgs []*ssa.Package
	p.SSA, pkgs = ssautil.AllPackages(initial, ssa.InstantiateGenerics)
	for i, pkg := range initial {
		if pkg.Name == "main" && pkgs[i] != nil && pkgs[i].Func("main") != nil &&
			(o.Programs || strings.HasSuffix(pkg.ID, ".test")) {
			p.Mains = append(p.Mains, pkgs[i])
		}
	}
	for _, pkg := range initial {
		p.Library = p.Library || library(pkg)
	}
	// Debug mode is set before the code is built: it keeps the expressions.
	packages.Visit(initial, nil, func(pkg *packages.Package) { p.addPackage(pkg, o.Root) })
	p.SSA.Build()
	return p, ctx.Err()
}

// parseFile keeps comments, of which directives are some, and nothing of the
// deprecated objects.
func parseFile(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
	return parser.ParseFile(fset, name, src, parser.AllErrors|parser.ParseComments|parser.SkipObjectResolution)
}

func firstError(initial []*packages.Package) error {
	var first error
	packages.Visit(initial, nil, func(pkg *packages.Package) {
		if first == nil && len(pkg.Errors) > 0 {
			first = fmt.Errorf("loading the whole program: %s: %w; all of it must compile, see go vet %s", pkg.PkgPath,
				pkg.Errors[0], pkg.PkgPath)
		}
	})
	return first
}

// addPackage takes up pkg, which is not built yet.
func (p *Program) addPackage(pkg *packages.Package, root string) {
	p.Files += len(pkg.Syntax)
	for _, f := range pkg.Syntax {
		p.Lines += pkg.Fset.File(f.FileStart).LineCount()
	}
	own := pkg.Module != nil && pkg.Module.Main
	built := p.SSA.Package(pkg.Types)
	if built != nil {
		p.directives(pkg, built)
	}
	if !own || built == nil || strings.HasSuffix(pkg.ID, ".test") {
		return
	}
	built.SetDebugMode(true) // keeps expressions, which sites are found by
	q := &Package{
		Package: &sites.Package{Path: pkg.PkgPath, Root: root, Fset: pkg.Fset, Types: pkg.Types, Info: pkg.TypesInfo},
		SSA:     built,
		Library: library(pkg),
	}
	for i, name := range pkg.CompiledGoFiles {
		if i < len(pkg.Syntax) && slices.Contains(pkg.GoFiles, name) { // not a file that cgo makes
			q.Files = append(q.Files, pkg.Syntax[i])
		}
	}
	p.Own = append(p.Own, q)
}

// directives reads those that connect functions by their names.
func (p *Program) directives(pkg *packages.Package, built *ssa.Package) {
	for _, f := range pkg.Syntax {
		for _, group := range f.Comments {
			for _, c := range group.List {
				word := strings.Fields(c.Text)
				if len(word) < 2 || word[0] != "//go:linkname" && word[0] != "//export" {
					continue
				}
				if fn := built.Func(word[1]); fn != nil {
					p.directive(fn, word[2:], pkg.Module != nil)
				}
			}
		}
	}
}

// directive: fn bears a name that others may call it by, or that of another
// function. Names of the standard library are for the runtime.
func (p *Program) directive(fn *ssa.Function, name []string, named bool) {
	decl, _ := fn.Syntax().(*ast.FuncDecl)
	if decl == nil || decl.Body != nil {
		if named {
			p.Called = append(p.Called, fn)
		}
		return
	}
	if len(name) == 0 {
		return
	}
	dot := strings.LastIndexByte(name[0], '.')
	if dot < 0 {
		return
	}
	if other := p.SSA.ImportedPackage(name[0][:dot]); other != nil {
		if target := other.Func(name[0][dot+1:]); target != nil && target != fn {
			p.Linked[fn] = target
		}
	}
}

func library(pkg *packages.Package) bool {
	return pkg.Name != "main" && !strings.HasSuffix(pkg.PkgPath, "_test") && !internal(pkg.PkgPath)
}

func internal(path string) bool {
	return slices.Contains(strings.Split(path, "/"), "internal")
}

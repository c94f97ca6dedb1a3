package resident

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// Options say which module to keep.
type Options struct {
	Root       string   // absolute folder of go.mod, or of the go.work in force
	BuildFlags []string // of the go command, such as -tags=x
	Env        []string // of the go command; nil is that of this process
	// Read returns the content of a file: an editor's buffer, or the file on disk.
	Read func(name string) ([]byte, error)
	// Buffers are the files that an editor has open, where they may differ from the disk.
	Buffers func() map[string][]byte
}

// Module is the packages of one module or workspace. It is not safe for
// concurrent use.
type Module struct {
	options  Options
	fset     *token.FileSet
	sizes    types.Sizes
	packages map[string]*Package       // those of main modules, by import path
	byFile   map[string]*Package       // by absolute file name; without tests
	byDir    map[string]*Package       // by absolute folder
	external map[string]*types.Package // of other modules, by import path, as far as they are known
	exports  map[string]string         // their files of export data, by import path
	modFiles []string                  // go.mod of each main module
	config   [sha256.Size]byte         // of go.mod and its like
	spent    Spent
}

// Spent is where the time of analyses went.
type Spent struct {
	Typing, Passes time.Duration
	ByPass         map[*analysis.Analyzer]time.Duration // several run side by side
}

// Spent returns where the time went since it was last asked.
func (m *Module) Spent() Spent {
	s := m.spent
	m.spent = Spent{ByPass: map[*analysis.Analyzer]time.Duration{}}
	return s
}

// LoadError reports that the module cannot be analysed at all.
type LoadError struct{ Problem string }

func (e *LoadError) Error() string { return e.Problem }

// CompileError reports that a package does not compile, or one that it imports.
type CompileError struct {
	Package string // import path of the package at fault
	Problem string // the first error, with its position
}

func (e *CompileError) Error() string {
	return "package " + e.Package + " does not compile: " + e.Problem
}

// Root returns the folder that the module or workspace of the files in a folder is loaded from, as the go
// command reports it there; "" if they are in none. A nil env is that of this process.
func Root(ctx context.Context, dir string, env []string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "-json", "GOMOD", "GOWORK")
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("asking the go command for the module of %s: %w", dir, err)
	}
	var says struct{ GOMOD, GOWORK string }
	if err := json.Unmarshal(out, &says); err != nil {
		return "", fmt.Errorf("asking the go command for the module of %s: %w", dir, err)
	}
	switch {
	case says.GOWORK != "" && says.GOWORK != "off":
		return filepath.Dir(says.GOWORK), nil
	case says.GOMOD != "" && says.GOMOD != os.DevNull:
		return filepath.Dir(says.GOMOD), nil
	}
	return "", nil
}

// Load lists the packages of the module. The error is a [*LoadError] where the go
// command cannot list them, or that of ctx.
func Load(ctx context.Context, o Options) (*Module, error) {
	m := &Module{options: o, spent: Spent{ByPass: map[*analysis.Analyzer]time.Duration{}}}
	return m, m.reload(ctx)
}

// Root returns the folder that the module was loaded from.
func (m *Module) Root() string { return m.options.Root }

// Env returns the environment of the go command; nil is that of this process.
func (m *Module) Env() []string { return m.options.Env }

// BuildFlags returns those of the go command.
func (m *Module) BuildFlags() []string { return m.options.BuildFlags }

// Around returns a package with all of the module that it imports, and all that import it, however indirectly:
// all code that may use its declarations.
func (m *Module) Around(path string) []string {
	n := m.packages[path]
	if n == nil {
		return nil
	}
	around := map[string]bool{}
	var above func(n *Package)
	above = func(n *Package) {
		if around[n.Path] {
			return
		}
		around[n.Path] = true
		for _, importer := range n.importers {
			if m.packages[importer.Path] == importer { // the others are compiled for tests alone
				above(importer)
			}
		}
	}
	above(n)
	for _, dep := range m.behind(n) {
		around[dep.Path] = true
	}
	return slices.Sorted(maps.Keys(around))
}

// reload lists the packages anew. Their results stay, unless go.mod or its like has changed.
func (m *Module) reload(ctx context.Context) error {
	if m.fset == nil || m.hashConfig() != m.config {
		m.fset, m.packages = token.NewFileSet(), nil
		m.external, m.exports = map[string]*types.Package{}, map[string]string{}
	}
	list, err := m.loadPackages(ctx, listMode, false, m.patterns()...)
	if err != nil {
		return err
	}
	old := m.packages
	m.packages, m.byFile, m.byDir = map[string]*Package{}, map[string]*Package{}, map[string]*Package{}
	// The module's own packages, with their results.
	var own []*packages.Package
	packages.Visit(list, nil, func(p *packages.Package) {
		if isMainModule(p) {
			own = append(own, p)
			m.addPackage(p, old[p.PkgPath])
			if !slices.Contains(m.modFiles, p.Module.GoMod) {
				m.modFiles = append(m.modFiles, p.Module.GoMod)
			}
		}
		m.sizes = cmp.Or(m.sizes, p.TypesSizes)
	})
	m.config = m.hashConfig()
	if len(own) == 0 {
		return m.nothing(list)
	}
	return m.linkImports(ctx, own)
}

// isMainModule reports whether the package is of a main module, which is typed from source.
func isMainModule(p *packages.Package) bool { return p.Module != nil && p.Module.Main }

// nothing returns why there is no package to analyse.
func (m *Module) nothing(list []*packages.Package) error {
	for _, p := range list {
		for _, e := range p.Errors {
			return &LoadError{strings.TrimSpace(e.Msg)}
		}
	}
	return &LoadError{"there is no Go package in " + m.options.Root}
}

// patterns name all packages of the module, or of the modules that go.work uses.
func (m *Module) patterns() []string {
	name := filepath.Join(m.options.Root, "go.work")
	data, err := m.options.Read(name)
	if err != nil {
		return []string{"./..."}
	}
	work, err := modfile.ParseWork(name, data, nil)
	if err != nil { // the go command reports the fault
		return []string{"./..."}
	}
	var patterns []string
	for _, use := range work.Use {
		dir := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(m.options.Root, dir)
		}
		patterns = append(patterns, dir+string(filepath.Separator)+"...")
	}
	return patterns
}

// listMode is the information asked for on packages that are typed from source.
const listMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedModule | packages.NeedTypesSizes

// loadPackages runs the go command.
func (m *Module) loadPackages(ctx context.Context, mode packages.LoadMode, tests bool,
	patterns ...string) ([]*packages.Package, error) {
	list, err := packages.Load(&packages.Config{
		Mode: mode, Context: ctx, Dir: m.options.Root, Env: m.options.Env, BuildFlags: m.options.BuildFlags,
		Overlay: m.options.Buffers(), Tests: tests,
	}, patterns...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		_, said, _ := strings.Cut(err.Error(), "stderr: ") // of the go command, if it is that
		return nil, &LoadError{strings.Join(strings.Fields(cmp.Or(said, err.Error())), " ")}
	}
	return list, nil
}

// addPackage takes up one of the module's own packages.
func (m *Module) addPackage(p *packages.Package, old *Package) {
	n := m.newPackage(p, old)
	if old != nil {
		n.tests = old.tests
		n.tests.listed = false // they are linked with the packages of before
	}
	m.packages[n.Path], m.byDir[n.dir] = n, n
	for _, f := range slices.Concat(n.files, n.sources) {
		m.byFile[f] = n
	}
}

// newPackage returns a package as it is listed, with its results.
func (m *Module) newPackage(p *packages.Package, old *Package) *Package {
	n := &Package{
		Path: p.PkgPath, dir: p.Dir, files: p.CompiledGoFiles, sources: p.GoFiles, imports: map[string]string{},
		module: &analysis.Module{Path: p.Module.Path, GoVersion: p.Module.GoVersion},
	}
	for as, dep := range p.Imports {
		n.imports[as] = dep.PkgPath
	}
	// A package with faults has lost imports or files: the compiler's message is better than the errors that
	// follow.
	for _, e := range p.Errors {
		n.problem = cmp.Or(n.problem, strings.TrimPrefix(e.Error(), "-: "))
	}
	n.listing, n.cgo = listing(n.dir, false), m.hashCgo(n)
	if old != nil {
		n.known = old.known
		n.stale = n.stale || !slices.Equal(old.files, n.files) || !maps.Equal(old.imports, n.imports)
	}
	return n
}

// linkImports connects the module's packages with their imports, and asks for the export data of the others.
func (m *Module) linkImports(ctx context.Context, own []*packages.Package) error {
	for _, p := range own {
		m.connect(m.packages[p.PkgPath])
	}
	return m.addExports(ctx, own)
}

// connect connects a package with those of the module that it imports.
func (m *Module) connect(n *Package) {
	for _, path := range slices.Sorted(maps.Values(n.imports)) {
		if dep := cmp.Or(n.instead[path], m.packages[path]); dep != nil {
			n.deps, dep.importers = append(n.deps, dep), append(dep.importers, n)
		}
	}
}

// addExports asks for the export data of the packages of other modules that some import.
func (m *Module) addExports(ctx context.Context, of []*packages.Package) error {
	missing := map[string]bool{}
	for _, p := range of {
		for _, dep := range p.Imports {
			if path := dep.PkgPath; m.packages[path] == nil && path != "unsafe" && path != "C" && m.exports[path] == "" {
				missing[path] = true
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	list, err := m.loadPackages(ctx, packages.NeedName|packages.NeedExportFile, false,
		slices.Sorted(maps.Keys(missing))...)
	if err != nil {
		return err
	}
	for _, p := range list {
		if p.ExportFile != "" {
			m.exports[p.PkgPath] = p.ExportFile
		}
	}
	return nil
}

// PackageOf returns the package that a file is part of; "" if it is in none, as
// tests are, and files that build constraints leave out.
func (m *Module) PackageOf(file string) string {
	if n := m.byFile[file]; n != nil {
		return n.Path
	}
	return ""
}

// Files returns the files that people write of a package, without tests, in order.
func (m *Module) Files(path string) []string {
	if n := m.packages[path]; n != nil {
		return slices.Sorted(slices.Values(n.sources))
	}
	return nil
}

// Refresh lists the packages anew if the go command would list others now: go.mod or its like has changed, the
// files of a package, or imports, as far as one of the packages named or one that it imports is concerned. A
// file that is in no known package counts as a change too.
func (m *Module) Refresh(ctx context.Context, file string) error {
	n := cmp.Or(m.byFile[file], m.tested(file))
	if m.config == m.hashConfig() && n != nil && !m.outdated(n, map[*Package]bool{}) {
		return nil
	}
	return m.reload(ctx)
}

// outdated reports whether a package or one that it imports has other files or
// imports than it was listed with.
func (m *Module) outdated(n *Package, seen map[*Package]bool) bool {
	if seen[n] {
		return false
	}
	seen[n] = true
	return n.problem != "" || !slices.Equal(n.listing, listing(n.dir, false)) || n.cgo != m.hashCgo(n) ||
		m.importsOthers(n) || slices.ContainsFunc(n.deps, func(dep *Package) bool { return m.outdated(dep, seen) })
}

// listing returns the names of the Go files in a folder: of its tests, or of the others.
func listing(dir string, tests bool) (names []string) {
	entries, _ := os.ReadDir(dir) // a folder that is gone has none
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && ir.IsTestFile(name) == tests {
			names = append(names, name)
		}
	}
	return names
}

// hashConfig returns the hash of the files that decide about the module's dependencies.
func (m *Module) hashConfig() [sha256.Size]byte {
	h := sha256.New()
	names := slices.Clone(m.modFiles)
	for _, name := range []string{"go.mod", "go.sum", "go.work", "go.work.sum"} {
		names = append(names, filepath.Join(m.options.Root, name))
	}
	for _, name := range names {
		data, err := m.options.Read(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			data = []byte(err.Error())
		}
		fmt.Fprintf(h, "%s %d\n", name, len(data))
		h.Write(data)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

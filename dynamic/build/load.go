package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/version"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic"
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/scratch"
)

// Options select the packages to load.
type Options struct {
	Dir        string   // where the user stands; "" is the current folder
	Patterns   []string // as the go command takes them; none means "."
	BuildFlags []string // build flags of the go command, such as -tags=x
	Env        []string // environment; nil is that of this process
	// Still keeps the go commands that look at the user's tree from writing to it.
	// Test binaries are run without it.
	Still *Still
	// Deps name dependencies that are instrumented too, by patterns of module or
	// import paths, such as golang.org/x/... .
	Deps []string
	// Programs has the packages loaded without their tests: for programs that
	// are built with the variables of [Workspace.Env].
	Programs bool
	// NoTests allows packages none of which has tests: to look at, since there
	// is nothing to run.
	NoTests bool
}

// Module is the result of a request: the packages of the main modules that the
// named packages' tests are built from.
type Module struct {
	Root      string // folder of the main module, or of the user's go.work
	Work      string // the user's go.work, or "" where none is in force
	Path      string // module path; several, with blanks between, for a go.work
	GoVersion string // language version of the module that holds Root, or go line of the go.work
	// Packages are to be enumerated and rewritten. Each file is in one of
	// them only: a package with internal tests is there as the tests see it.
	Packages []*sites.Package
	// Tests are the named packages, in the order of the go command.
	Tests []Test
	// Uncompiled is the compiler's output on packages that do not compile,
	// where others do: Packages and Tests hold only these.
	Uncompiled string
	// Cgo lists files that cgo translates, relative to Root: their accesses
	// are not among the sites.
	Cgo []string

	goTool gocmd.Command
	// leaks reports whether test binaries can ask the collector for leaked goroutines, where they are
	// built with leakSwitch.
	leaks      bool
	leakSwitch leakSwitch
	userEnv    []string        // as the request came
	scratch    *scratch.Folder // of the go.work with which copies are loaded, or nil
	goRoot     string
	goFlags    []string // of the environment
	flags      []string // of the request
	main       *mainModules
	modCache   string
	deps       []dependency // to be instrumented too
	vendored   bool
	embedded   map[string]bool // Go files with a text that is part of a program, by absolute path
}

// Test is one named package.
type Test struct {
	Package string // import path
	Dir     string // where its tests run
	None    bool   // it has no test files

	internal bool // some test files are inside the package
	// weak is a package outside the standard library that imports package weak, or "", among those that the tests are
	// built from: their collector is not asked for leaked goroutines.
	weak string
}

// Load finds the main modules around o.Dir and type-checks their packages as
// far as the named ones' tests need them; dependencies come from export data.
// It returns a *ConfigError for a request that cannot be served, and a
// *CompileError with the compiler's own words where no named package compiles,
// where those that do have no tests, or where one of several programs does not.
// The caller closes the module, after the workspaces that are made of it.
func Load(ctx context.Context, o Options) (_ *Module, err error) {
	m, err := newModule(ctx, &o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	pkgs, err := listPackages(ctx, m.goTool, !o.Programs, m.flags, o.Patterns)
	if err != nil {
		return nil, err
	}
	if len(o.Deps) > 0 {
		if pkgs, err = m.takeDeps(ctx, &o, m.modCache, pkgs); err != nil {
			return nil, err
		}
	}
	sel, err := m.choose(pkgs, o.Patterns)
	if err != nil {
		return nil, err
	}
	m.vendored = sel.vendored
	m.embedded = embedded(pkgs)
	for _, p := range sel.unusable { // the others are not stopped by it
		m.Uncompiled += strings.TrimSpace(p.Error.Err) + "\n"
	}
	if !o.Programs {
		m.Tests = sel.tests()
		noteWeak(m.Tests, pkgs)
	}
	if err := m.typeCheck(ctx, sel, !o.Programs); err != nil {
		return nil, err
	}
	if !o.Programs && !o.NoTests && !slices.ContainsFunc(m.Tests, func(t Test) bool { return !t.None }) {
		if m.Uncompiled != "" { // there may be tests in the packages that were left out
			return nil, &CompileError{m.Uncompiled}
		}
		return nil, gocmd.Refuse("no test files in "+strings.Join(o.Patterns, " "),
			"name packages that have tests (./... names all), or run a program as `interlock help env` shows")
	}
	return m, nil
}

// Close removes the files that loading has left in the temporary folder. Closing twice
// does nothing.
func (m *Module) Close() error {
	if m.scratch == nil {
		return nil
	}
	return m.scratch.Close()
}

func newModule(ctx context.Context, o *Options) (*Module, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("finding the folder: %w", err)
	}
	// Defaults.
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"."}
	}
	if o.Still == nil {
		o.Still = new(Still)
	}
	m := &Module{flags: o.BuildFlags, goTool: gocmd.Command{Dir: dir, Env: o.Still.Env(o.Env)}, userEnv: o.Env}
	// Ask for the go command's version and environment, and whether it can run the tests at all.
	env, err := m.goTool.Environment(ctx)
	if err != nil {
		return nil, err
	}
	if version.IsValid(env.GOVERSION) && version.Compare(env.GOVERSION, "go"+dynamic.MonitorGo) < 0 {
		return nil, gocmd.Refuse("the go command is "+env.GOVERSION, "use Go "+dynamic.MonitorGo+" or later")
	}
	if !o.NoTests && !o.Programs && env.GOOS != "" && env.GOOS != runtime.GOOS {
		return nil, gocmd.Refuse("GOOS is "+env.GOOS+", so the tests would not run on this system, "+runtime.GOOS,
			"unset GOOS")
	}
	// With an empty name of that folder, the go command takes every file for one of it, and overlays none.
	if env.GOMODCACHE == "" {
		return nil, gocmd.Refuse("the go command has no folder for modules: GOMODCACHE is empty",
			"set HOME, GOPATH or GOMODCACHE")
	}
	// Flags that would change the build are refused, wherever they stand.
	m.goRoot, m.modCache = env.GOROOT, env.GOMODCACHE
	if m.goFlags, err = gocmd.SplitFlags(env.GOFLAGS); err != nil {
		return nil, err
	}
	if err := gocmd.RefuseFlags("GOFLAGS", m.goFlags); err != nil {
		return nil, err
	}
	if err := gocmd.RefuseFlags("the request", o.BuildFlags); err != nil {
		return nil, err
	}
	// The user's go.work names the modules, not the copy that stands for it.
	if o.Still.Work != "" {
		env.GOWORK = o.Still.Work
	}
	if m.main, err = readMainModules(dir, env); err != nil {
		return nil, err
	}
	m.Root, m.Path = m.main.root, m.main.title()
	if m.main.work != nil {
		m.Work = env.GOWORK
	}
	m.GoVersion = m.main.goVersion()
	m.leaks, m.leakSwitch = leakProfile(env)
	return m, nil
}

const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo |
	packages.NeedModule | packages.NeedForTest

// typeCheck loads the named packages, with their tests or without, and the packages
// of the main modules that they need, without.
func (m *Module) typeCheck(ctx context.Context, sel *selection, tests bool) error {
	fset := token.NewFileSet()
	src := new(sources)
	// The named packages with their tests, their imports without.
	var all []*packages.Package
	var names []string
	// Dependencies are loaded apart, as their tests are not wanted.
	for _, group := range []struct {
		pkgs  []*listed
		tests bool
	}{{sel.named, tests}, {sel.depends, false}} {
		if len(group.pkgs) == 0 {
			continue
		}
		var paths []string
		for _, p := range group.pkgs {
			paths = append(paths, p.ImportPath)
		}
		g, done := m.goTool.Tidy()
		loaded, err := packages.Load(&packages.Config{
			Mode: loadMode, Context: ctx, Dir: g.Dir, Env: g.Env,
			BuildFlags: m.flags, Fset: fset, ParseFile: src.parse, Tests: group.tests,
		}, paths...)
		done()
		if err != nil {
			return fmt.Errorf("loading packages: %w", err)
		}
		all, names = append(all, loaded...), append(names, paths...)
	}
	// Packages that do not compile are left out, if others are left.
	broken := Broken(all)
	for _, p := range distinct(all, names, broken) {
		if !slices.Contains(broken, p) {
			m.add(p, src)
		}
	}
	if len(broken) > 0 && ctx.Err() == nil {
		return m.without(ctx, sel, broken)
	}
	return ctx.Err()
}

// Broken returns the packages that do not compile, those with errors first, and
// then those that import such a one.
func Broken(loaded []*packages.Package) []*packages.Package {
	var broken []*packages.Package
	paths := map[string]bool{} // of those that others may import
	mark := func(p *packages.Package) {
		broken = append(broken, p)
		paths[p.PkgPath] = paths[p.PkgPath] || p.ForTest == ""
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			mark(p)
		}
	}
	for n := -1; n != len(broken); {
		n = len(broken)
		for _, p := range loaded {
			imports := slices.Collect(maps.Values(p.Imports))
			uses := slices.ContainsFunc(imports, func(i *packages.Package) bool { return paths[i.PkgPath] })
			if uses && !slices.Contains(broken, p) {
				mark(p)
			}
		}
	}
	return broken
}

// without goes on without the tests of packages that do not compile, if there
// are others.
func (m *Module) without(ctx context.Context, sel *selection, broken []*packages.Package) error {
	err := m.compileError(ctx, sel, broken[0].Errors)
	left := slices.DeleteFunc(slices.Clone(m.Tests), func(t Test) bool {
		return slices.ContainsFunc(broken, func(p *packages.Package) bool {
			return cmp.Or(p.ForTest,
				p.PkgPath) == t.Package
		})
	})
	var compile *CompileError
	if !errors.As(err, &compile) || len(left) == 0 || len(m.Packages) == 0 {
		return err
	}
	m.Tests, m.Uncompiled = left, m.Uncompiled+compile.Output
	return nil
}

// distinct drops the generated main packages of tests, and packages that are
// there again with their internal tests. Where these are broken the package
// itself stays, too: the tests of others may need it.
func distinct(loaded []*packages.Package, paths []string, broken []*packages.Package) []*packages.Package {
	withTests := map[string]bool{}
	for _, p := range loaded {
		if p.ForTest == p.PkgPath && !slices.Contains(broken, p) {
			withTests[p.PkgPath] = true
		}
	}
	return slices.DeleteFunc(loaded, func(p *packages.Package) bool {
		generated := p.Name == "main" && strings.HasSuffix(p.ID, ".test") &&
			slices.Contains(paths, strings.TrimSuffix(p.ID, ".test"))
		return generated || p.ForTest == "" && withTests[p.PkgPath]
	})
}

// add takes up the files of p that are compiled as they stand.
func (m *Module) add(p *packages.Package, src *sources) {
	pkg := &sites.Package{
		Path: p.PkgPath, Root: m.rootOf(p), Fset: p.Fset, Types: p.Types, Info: p.TypesInfo, Src: map[string][]byte{},
	}
	for i, name := range p.CompiledGoFiles {
		if slices.Contains(p.GoFiles, name) {
			pkg.Files = append(pkg.Files, p.Syntax[i])
			pkg.Src[name] = src.of(name)
		}
	}
	for _, name := range p.GoFiles {
		if !slices.Contains(p.CompiledGoFiles, name) {
			m.Cgo = append(m.Cgo, m.Rel(name))
		}
	}
	m.Packages = append(m.Packages, pkg)
}

// rootOf returns the folder that places in p are relative to.
func (m *Module) rootOf(p *packages.Package) string {
	for _, d := range m.deps {
		if d.copied() && p.Module != nil && p.Module.Path == d.path {
			return strings.TrimSuffix(d.dir, filepath.FromSlash(d.name))
		}
	}
	return m.Root
}

// sources keeps the contents of files as they were parsed. It is safe for
// concurrent use, as go/packages parses in parallel.
type sources struct {
	mu    sync.Mutex
	bytes map[string][]byte // guarded by mu
}

func (s *sources) parse(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
	s.mu.Lock()
	if s.bytes == nil {
		s.bytes = map[string][]byte{}
	}
	s.bytes[name] = src
	s.mu.Unlock()
	return parser.ParseFile(fset, name, src, parser.AllErrors|parser.ParseComments|parser.SkipObjectResolution)
}

func (s *sources) of(name string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes[name]
}

// compileError has the go command build the requested packages, for its own words.
func (m *Module) compileError(ctx context.Context, sel *selection, errs []packages.Error) error {
	var paths []string
	for _, p := range sel.named {
		paths = append(paths, p.ImportPath)
	}
	commands := [][]string{{"test", "-c", "-vet=off", "-o", os.DevNull}, {"build", "-o", os.DevNull}}
	if len(m.Tests) == 0 {
		commands = commands[1:]
	}
	for _, args := range commands { // go test builds no package without tests
		args = slices.Concat(args, m.flags, paths)
		if _, msg, err := m.goTool.Run(ctx, args...); err != nil && ctx.Err() == nil {
			return &CompileError{string(msg)}
		}
	}
	return fmt.Errorf("loading packages: %w; the go command itself builds them, so check that its version is not "+
		"newer than Interlock knows", errs[0])
}

// goVersion is the go line that GODEBUG defaults follow in the user's own
// build.
func (m *mainModules) goVersion() string {
	if m.work == nil {
		return m.mods[0].goVersion()
	}
	if m.work.Go == nil {
		return "1.18"
	}
	return m.work.Go.Version
}

// CompileError reports that the user's own code does not build. Output is the text
// that the go command printed, unchanged. The command line ends with code 3.
type CompileError struct {
	Output string
}

func (e *CompileError) Error() string {
	return "the packages do not compile:\n" + strings.TrimRight(e.Output, "\n")
}

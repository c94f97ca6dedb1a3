package build

import (
	"fmt"
	"go/ast"
	"go/types"
	"go/version"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic"
	"github.com/interlock-go/interlock/dynamic/build/internal/store"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// EndName is the file that does what is to be done when the tests have ended. It
// exists in the overlay only.
const EndName = "zz_interlock_test.go"

// ends returns, for each tested package, a file that has the monitor wait for goroutines
// that outlive the tests, write its counters, and ask for leaked goroutines: in tests of a
// few milliseconds, what they reached would go unsaid. Package instrument rewrites the
// TestMain functions of the user's; where there is none, the file has one.
//
// Left as they are those packages whose examples could print the frame of a TestMain, and
// those whose files //go:embed puts into a program, lest it find one more.
func ends(m *Module, rewritten map[string][]byte) map[string][]byte {
	files := map[string][]byte{}
	stacks := slices.ContainsFunc(m.Packages, readsStacks)
	leaks := m.leaks && slices.ContainsFunc(m.Packages, startsGoroutines)
	for _, t := range m.Tests {
		path := filepath.Join(t.Dir, EndName)
		inside := slices.ContainsFunc(store.SortedKeys(rewritten), func(f string) bool { return filepath.Dir(f) == t.Dir })
		_, err := os.Lstat(path)
		if err == nil || !inside && !leaks || t.None || m.embeds(t.Dir) || m.holds(t, endNames...) {
			continue
		}
		own := m.holds(t, "TestMain")
		if own && !leaks || !own && stacks && m.hasExamples(t) {
			continue
		}
		if pkg := m.packageOf(t.testPath()); pkg != nil {
			files[path] = endFile(pkg.Types.Name(), leaks, !own)
		}
	}
	return files
}

// endNames are those that a file of endFile imports.
var endNames = []string{"interlockrt", "interlockleaks", "interlocktesting"}

// endFile returns the text of EndName in a package. With leaks it asks for leaked
// goroutines, with main it has the TestMain.
func endFile(pkg string, leaks, main bool) []byte {
	imports, decls := "", ""
	if leaks {
		imports += fmt.Sprintf("\n\tinterlockleaks %q", dynamic.MonitorPath+"/leaks")
		decls += "\nfunc init() {\n\tinterlockrt.AtEnd(interlockleaks.Ended)\n}\n"
	}
	if main {
		imports += "\n\tinterlocktesting \"testing\""
		decls += "\nfunc TestMain(m *interlocktesting.M) {\n\tinterlockrt.Linger(interlockrt.Goroutines(), m.Run())\n}\n"
	}
	return fmt.Appendf(nil, "package %s\n\nimport (\n\tinterlockrt %q%s\n)\n%s", pkg, dynamic.MonitorPath, imports, decls)
}

// startsGoroutines reports whether p starts goroutines, by itself or by a function
// such as errgroup.Group.Go.
func startsGoroutines(p *sites.Package) bool {
	return slices.ContainsFunc(p.Files, func(f *ast.File) (starts bool) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				starts = true
			case *ast.SelectorExpr:
				starts = starts || n.Sel.Name == "Go" || n.Sel.Name == "AfterFunc"
			}
			return !starts
		})
		return starts
	})
}

// testPath is the path of the package that test files belong to: those inside
// the package, or those outside where there are no others.
func (t Test) testPath() string {
	if t.internal {
		return t.Package
	}
	return t.Package + "_test"
}

func (m *Module) packageOf(path string) *sites.Package {
	i := slices.IndexFunc(m.Packages, func(p *sites.Package) bool { return p.Path == path })
	if i < 0 {
		return nil
	}
	return m.Packages[i]
}

// readsStacks reports whether a package reads call stacks to their ends.
func readsStacks(p *sites.Package) bool {
	for _, obj := range p.Info.Uses {
		if f, ok := obj.(*types.Func); ok {
			switch f.FullName() {
			case "runtime.Callers", "runtime.Stack", "runtime/debug.PrintStack", "runtime/debug.Stack":
				return true
			}
		}
	}
	return false
}

// hasExamples reports whether the tests of a package have examples, which run
// on the goroutine of TestMain. Tests run on others.
func (m *Module) hasExamples(t Test) bool {
	for _, path := range []string{t.Package, t.Package + "_test"} {
		p := m.packageOf(path)
		isExample := func(n string) bool { return strings.HasPrefix(n, "Example") }
		if p != nil && slices.ContainsFunc(p.Types.Scope().Names(), isExample) {
			return true
		}
	}
	return false
}

// holds reports whether the package or its external tests declare a name.
func (m *Module) holds(t Test, names ...string) bool {
	for _, path := range []string{t.Package, t.Package + "_test"} {
		p := m.packageOf(path)
		if p != nil && slices.ContainsFunc(names, func(n string) bool { return p.Types.Scope().Lookup(n) != nil }) {
			return true
		}
	}
	return false
}

// leakSwitch is how a build gets the profile "goroutineleak" of runtime/pprof, which Go 1.26 has as
// an experiment: another text of the file that says whether it is on or, where the go command lets
// nobody replace that file, the environment. The latter shows in runtime.Version.
type leakSwitch struct{ file, text, env string }

// leakProfile reports whether the go command's runtime/pprof can have the profile, and how.
func leakProfile(env gocmd.Env) (has bool, on leakSwitch) {
	const first, settled = "go1.26", "go1.27"
	switch {
	case !version.IsValid(env.GOVERSION) || version.Compare(env.GOVERSION, first) < 0:
		return false, on
	case version.Compare(env.GOVERSION, settled) >= 0:
		return true, on
	}
	file := filepath.Join(env.GOROOT, "src", "internal", "goexperiment", "exp_goroutineleakprofile_off.go")
	text, err := os.ReadFile(file)
	const off = "GoroutineLeakProfile = false\nconst GoroutineLeakProfileInt = 0"
	const turned = "GoroutineLeakProfile = true\nconst GoroutineLeakProfileInt = 1"
	if _, cached := gocmd.Below(env.GOMODCACHE, env.GOROOT); err == nil && !cached && strings.Contains(string(text), off) {
		return true, leakSwitch{file: file, text: strings.Replace(string(text), off, turned, 1)}
	}
	return true, leakSwitch{env: "GOEXPERIMENT=" + strings.TrimPrefix(env.GOEXPERIMENT+",goroutineleakprofile", ",")}
}

// addLeakProfile puts the file that turns the profile of leaked goroutines on into the overlay.
func (ws *Workspace) addLeakProfile() error {
	on := ws.Module.leakSwitch
	if on.file == "" {
		return nil
	}
	stand := filepath.Join(ws.Dir, filepath.Base(on.file))
	if err := os.WriteFile(stand, []byte(on.text), 0o644); err != nil {
		return fmt.Errorf("turning on the profile of leaked goroutines: %w", err)
	}
	ws.overlay[on.file] = stand
	return nil
}

// usesWeak returns a package outside the standard library that imports package weak, or "". The
// collector does not follow weak pointers: what can be woken through one is marked as leaked, and
// the runtime stops the process where it is woken.
func usesWeak(pkgs []*listed) string {
	for _, p := range pkgs {
		if !p.Standard && slices.Contains(p.Imports, "weak") {
			return p.ImportPath
		}
	}
	return ""
}

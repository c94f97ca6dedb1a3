package build

import (
	"fmt"
	"go/doc"
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

// EndName is the file with the code that runs when the tests have ended. It
// exists in the overlay only.
const EndName = "zz_interlock_test.go"

// ends returns, for each tested package, a file that has the monitor wait for goroutines
// that outlive the tests, write its counters, and ask for leaked goroutines: in tests of a
// few milliseconds, the sites that they reached would be lost. Package instrument rewrites the
// TestMain functions of the user's; where there is none, the file has one.
//
// Any package may leave goroutines behind: also those of the standard library start some. No TestMain
// is put into packages with examples that print the frames around it ([Module.LeaksUnseen] names them), and no file
// into those with files that //go:embed puts into a program, lest it find one more.
func ends(m *Module, rewritten map[string][]byte) map[string][]byte {
	files := map[string][]byte{}
	for _, t := range m.Tests {
		path := filepath.Join(t.Dir, EndName)
		inside := slices.ContainsFunc(store.SortedKeys(rewritten), func(f string) bool { return filepath.Dir(f) == t.Dir })
		_, err := os.Lstat(path)
		leaks := m.leaks
		if err == nil || !inside && !leaks || t.None || m.embeds(t.Dir) || m.holds(t, endNames...) {
			continue
		}
		own := m.holds(t, "TestMain")
		main := !own && !m.printsFrames(t)
		if !main && !leaks {
			continue
		}
		if pkg := m.packageOf(t.testPath()); pkg != nil {
			files[path] = endFile(pkg.Types.Name(), leaks, t.weak != "", main)
		}
	}
	return files
}

// endNames are those that a file of endFile imports.
var endNames = []string{"interlockrt", "interlockleaks", "interlocktesting"}

// endFile returns the text of EndName in a package. With leaks it asks for leaked
// goroutines, with weak not by the collector; with main it has the TestMain.
func endFile(pkg string, leaks, weak, main bool) []byte {
	imports, decls := "", ""
	if leaks {
		imports += fmt.Sprintf("\n\tinterlockleaks %q", dynamic.MonitorPath+"/leaks")
		without := ""
		if weak {
			without = "\n\tinterlockleaks.Abandoned()"
		}
		decls += "\nfunc init() {" + without + "\n\tinterlockrt.AtEnd(interlockleaks.Ended)\n}\n"
	}
	if main {
		imports += "\n\tinterlocktesting \"testing\""
		decls += "\nfunc TestMain(m *interlocktesting.M) {\n\tinterlockrt.Linger(interlockrt.Goroutines(), m.Run())\n}\n"
	}
	return fmt.Appendf(nil, "package %s\n\nimport (\n\tinterlockrt %q%s\n)\n%s", pkg, dynamic.MonitorPath, imports, decls)
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

// printsFrames reports whether an example of a package has to print the frames between which that of a TestMain
// stands. Examples run on its goroutine; tests run on others.
func (m *Module) printsFrames(t Test) bool {
	for _, path := range []string{t.Package, t.Package + "_test"} {
		p := m.packageOf(path)
		if p == nil {
			continue
		}
		for _, f := range p.Files {
			for _, example := range doc.Examples(f) {
				if strings.Contains(example.Output, "main.main") || strings.Contains(example.Output, "testing.") {
					return true
				}
			}
		}
	}
	return false
}

// LeaksUnseen returns a line for each reason why goroutines that are blocked for ever are not looked for.
func (m *Module) LeaksUnseen() (lines []string) {
	const unseen = "goroutines blocked for ever are not looked for"
	if !m.leaks {
		return []string{unseen + ": that needs Go 1.26 or later"}
	}
	byWeak := map[string][]string{} // the tested packages, by the package that imports weak
	for _, t := range m.Tests {
		switch {
		case t.None:
		case t.weak != "":
			byWeak[t.weak] = append(byWeak[t.weak], t.Package)
		case m.embeds(t.Dir):
			lines = append(lines, unseen+" in "+t.Package+": the files of its folder are part of a program")
		case !m.holds(t, "TestMain") && m.printsFrames(t):
			lines = append(lines, unseen+" after the tests of "+t.Package+
				": an example prints its own stack, which must not change")
		}
	}
	for _, weak := range store.SortedKeys(byWeak) {
		lines = append(lines, fmt.Sprintf("%s in %s, except at locks that a goroutine has kept which has ended: package "+
			"%s imports weak, whose pointers the garbage collector does not follow", unseen, firstOf(byWeak[weak]), weak))
	}
	return lines
}

// firstOf names the first packages, and how many more there are.
func firstOf(packages []string) string {
	const most = 3
	if more := len(packages) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(packages[:most], ", "), more)
	}
	return strings.Join(packages, ", ")
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

// noteWeak sets in each test the package outside the standard library that imports package weak, if its binary has one.
// The collector does not follow weak pointers: a goroutine that can be woken through one is marked as leaked, and
// the runtime stops the process where it is woken.
func noteWeak(tests []Test, pkgs []*listed) {
	weak := map[string]bool{} // by import path, with the test that a variant of a package is for
	binaries := map[string]*listed{}
	for _, p := range pkgs {
		weak[p.ImportPath] = !p.Standard && slices.Contains(p.Imports, "weak")
		binaries[p.ImportPath] = p
	}
	for i := range tests {
		if b := binaries[tests[i].Package+".test"]; b != nil {
			for _, path := range b.Deps {
				if weak[path] {
					tests[i].weak, _, _ = strings.Cut(path, " [")
				}
			}
		}
	}
}

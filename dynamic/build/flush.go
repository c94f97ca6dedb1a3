package build

import (
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/sites"
)

// FlushName is the file that waits for stragglers and writes the monitor's last counters. It exists in
// the overlay only.
const FlushName = "zz_interlock_test.go"

// flushes returns, for each named package with rewritten files, a file with a
// TestMain that has the monitor wait for goroutines that outlive the tests, and
// then write its counters: in tests of a few milliseconds, what they reached would go
// unsaid. Packages that have a TestMain of their own are rewritten there, by package
// instrument; left as they are those whose examples could print its frame, and those whose
// files //go:embed puts into a program, lest it find one more; the generated
// program does the same with and without one.
func flushes(m *Module, rewritten map[string][]byte) map[string][]byte {
	files := map[string][]byte{}
	stacks := slices.ContainsFunc(m.Packages, readsStacks)
	for _, t := range m.Tests {
		path := filepath.Join(t.Dir, FlushName)
		inside := slices.ContainsFunc(sortedKeys(rewritten), func(f string) bool { return filepath.Dir(f) == t.Dir })
		if _, err := os.Lstat(path); err == nil || !inside || m.embeds(t.Dir) || t.None || m.holds(t, "TestMain", "interlockrt", "interlocktesting") {
			continue
		}
		if stacks && m.hasExamples(t) {
			continue
		}
		if pkg := m.packageOf(t.testPath()); pkg != nil {
			files[path] = fmt.Appendf(nil, `package %s

import (
	interlockrt %q
	interlocktesting "testing"
)

func TestMain(m *interlocktesting.M) {
	interlockrt.Linger(interlockrt.Goroutines(), m.Run())
}
`, pkg.Types.Name(), monitorPath)
		}
	}
	return files
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
		if p != nil && slices.ContainsFunc(p.Types.Scope().Names(), func(n string) bool { return strings.HasPrefix(n, "Example") }) {
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

package resident

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/summary"
)

// largestTests is how many bytes of tests a package may have for them to be analysed. With those of nats-server's
// largest package, 4.6 MB, a server kept 900 MB of memory.
const largestTests = 1 << 20

// tests are the packages that `go test` compiles for the tests of one package.
type tests struct {
	listed  bool     // by the go command, with all that follows
	listing []string // names of the test files in its folder then
	within  *Package // the package together with its own tests; nil: there are none
	outside *Package // the package that tests it from outside; nil: there is none
}

// variants lists those that there are, each behind its imports.
func (t *tests) variants() []*Package {
	return slices.DeleteFunc([]*Package{t.within, t.outside}, func(v *Package) bool { return v == nil })
}

// TestedBy returns the package with a test file in its folder; "" if it is no test of a known package.
func (m *Module) TestedBy(file string) string {
	if n := m.tested(file); n != nil {
		return n.Path
	}
	return ""
}

func (m *Module) tested(file string) *Package {
	if !ir.IsTestFile(file) {
		return nil
	}
	return m.byDir[filepath.Dir(file)]
}

// AnalyseTests brings the results of a package together with its tests up to date, and of those that test it
// from outside; the package itself comes first ([Module.Analyse]). From then on [Module.Summaries] returns the
// summary with the tests in place of that of the package. Tests are listed when they are first asked for, and
// when their files or imports change. It reports whether there is anything new. Errors are those of Analyse,
// and one, when they are listed, where there are too many of them to analyse.
func (m *Module) AnalyseTests(ctx context.Context, path string, progress func(path string)) (isNew bool, _ error) {
	n := m.packages[path]
	if n == nil || n.problem != "" {
		return false, nil
	}
	if m.outdatedTests(n) {
		isNew = len(n.tests.variants()) > 0
		if err := m.listTests(ctx, n); err != nil {
			return isNew, err
		}
	}
	for _, v := range n.tests.variants() {
		for _, dep := range m.behind(v) {
			err := m.update(ctx, dep, func(path string) {
				isNew = true
				progress(path)
			})
			if err != nil {
				return isNew, err
			}
		}
	}
	return isNew, nil
}

// outdatedTests reports whether a package has other tests, or tests with other imports, than were listed.
func (m *Module) outdatedTests(n *Package) bool {
	return !n.tests.listed || !slices.Equal(n.tests.listing, listing(n.dir, true)) ||
		slices.ContainsFunc(n.tests.variants(), func(v *Package) bool {
			return v.problem != "" || v.cgo != m.hashCgo(v) || m.importsOthers(v)
		})
}

// listTests asks the go command for the tests of a package.
func (m *Module) listTests(ctx context.Context, n *Package) error {
	old, now := n.tests, tests{listed: true, listing: listing(n.dir, true)}
	size := sizeOf(n.dir, now.listing)
	if len(now.listing) > 0 && size <= largestTests {
		list, err := m.loadPackages(ctx, listMode, true, n.Path)
		if err != nil {
			return err
		}
		// A package that is compiled for a test has the test in its ID.
		var found []*packages.Package
		for _, p := range list {
			switch {
			case p.PkgPath == n.Path && p.ID != n.Path:
				now.within = m.newPackage(p, old.within)
			case p.PkgPath == n.Path+"_test":
				now.outside = m.newPackage(p, old.outside)
			default:
				continue
			}
			found = append(found, p)
		}
		if err := m.addExports(ctx, found); err != nil {
			return err
		}
	}
	for _, v := range old.variants() {
		m.unlink(v)
	}
	n.tests = now
	m.linkTests(n)
	if size > largestTests {
		return fmt.Errorf("the tests of %s, as %.1f MB are too much after each save: `interlock check` analyses them", n.Path,
			float64(size)/(1<<20))
	}
	return nil
}

// sizeOf returns how many bytes files of a folder have together.
func sizeOf(dir string, names []string) (size int64) {
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			size += info.Size()
		}
	}
	return size
}

// linkTests connects the tests of a package with their imports, of the tested package and of others: a change
// there makes them stale.
func (m *Module) linkTests(n *Package) {
	within, outside := n.tests.within, n.tests.outside
	if within != nil {
		m.connect(within)
		within.stale = true // its imports were not watched since it was last analysed
	}
	if outside == nil {
		return
	}
	outside.stale = true
	if within != nil {
		outside.instead = map[string]*Package{n.Path: within}
		m.recompile(outside, n)
	}
	m.connect(outside)
}

// recompile has a test from outside see, in place of each package that imports the tested one, however
// indirectly, one that imports the package with its tests: their types would not be the same otherwise.
//
//	package p_test
//
//	import (
//		"m/p" // with the declarations of p's own tests
//		"m/q" // which imports m/p
//	)
func (m *Module) recompile(outside, tested *Package) {
	var visit func(path string) bool
	visit = func(path string) bool {
		if outside.instead[path] != nil {
			return true
		}
		q := m.packages[path]
		if q == nil {
			return false
		}
		needed := false
		for _, dep := range q.deps {
			needed = visit(dep.Path) || needed
		}
		if needed {
			again := &Package{
				Path: q.Path, dir: q.dir, files: q.files, sources: q.sources, imports: q.imports, module: q.module,
				problem: q.problem, plain: q, instead: outside.instead,
			}
			outside.instead[path] = again
			m.connect(again)
			again.deps, q.importers = append(again.deps, q), append(q.importers, again) // it has the facts of q
		}
		return needed
	}
	for _, path := range slices.Sorted(maps.Values(outside.imports)) {
		visit(path)
	}
}

// unlink has nothing refer to a package that was compiled for tests, and forgets its types.
func (m *Module) unlink(v *Package) {
	for _, dep := range v.deps {
		dep.importers = slices.DeleteFunc(dep.importers, func(i *Package) bool { return i == v })
	}
	m.forget(v.api)
	for _, again := range v.instead {
		if again.plain != nil && v.plain == nil {
			m.unlink(again)
		}
	}
}

// summaries returns those of a package and of the tests from outside, as far as they were analysed.
func (n *Package) summaries() (all []*summary.Summary, _ error) {
	if n.summary != nil || n.tests.within != nil && n.tests.within.summary != nil {
		s, err := n.withTests()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if outside := n.tests.outside; outside != nil && outside.summary != nil {
		s, err := outside.decode()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// withTests returns the summary of a package: with its tests, where that was made of the package as it is now.
// Where the package has changed since, findings in its tests are added to that of the package.
func (n *Package) withTests() (*summary.Summary, error) {
	within := n.tests.within
	if within == nil || within.summary == nil {
		return n.decode()
	}
	with, err := within.decode()
	if err != nil || within.madeOf(n) {
		return with, err
	}
	s, err := n.decode()
	if err != nil {
		return nil, err
	}
	for _, f := range with.Findings {
		if len(f.Accesses) > 0 && ir.IsTestFile(f.Accesses[0].File) {
			s.Findings = append(s.Findings, f)
		}
	}
	finding.Sort(s.Findings)
	return s, nil
}

// madeOf reports whether the package together with tests was analysed with the files that n was analysed with.
func (v *Package) madeOf(n *Package) bool {
	for name, text := range n.texts {
		if !bytes.Equal(text, v.texts[name]) {
			return false
		}
	}
	return true
}

// decode returns the summary of the package as the passes made it.
func (n *Package) decode() (*summary.Summary, error) {
	s := new(summary.Summary)
	if err := json.Unmarshal(n.summary, s); err != nil {
		return nil, fmt.Errorf("reading the summary of %s: %w", n.Path, err)
	}
	return s, nil
}

// byFile returns the package that a test file was last analysed with; nil if it was not.
func (t *tests) byFile(file string) *Package {
	for _, v := range t.variants() {
		if v.texts[file] != nil {
			return v
		}
	}
	return nil
}

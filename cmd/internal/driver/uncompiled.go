package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/summary"
)

// vetted is the output of go vet, and why it failed, if it did.
type vetted struct {
	output
	err error
	leftTests
}

// vet runs go vet, and again without tests that do not compile: go vet shows
// nothing of a package if its tests, or packages that its tests need, do not compile.
// First the tests go that the compiler names, then those of all packages of which
// there is no result. A package that is left without a file is not asked for any more.
func (o *Options) vet(ctx context.Context, list *packageList, flags []string) *vetted {
	run := func(patterns []string, more ...string) *vetted {
		out, err := o.watched(ctx, o.counter(list), slices.Concat(flags, more, o.BuildFlags, patterns)...)
		return &vetted{output: unmix(out), err: err}
	}
	v := run(list.patterns(o))
	if v.err == nil || ctx.Err() != nil || o.hasOverlay() {
		return v
	}
	left := new(leftTests)
	for left.add(list.brokenTests(o.Dir, compilerLines(string(v.stderr)))) || left.add(list.otherTests(v)) {
		left.compiler = append(left.compiler, newLines(left.compiler, v.stderr)...)
		patterns := list.patternsWithout(o, left.files)
		if len(patterns) == 0 {
			break
		}
		overlay, err := o.overlayWithout(left.files)
		if err != nil {
			return v // the output of go vet is reported; that the rest is missing, too
		}
		again := run(patterns, "-overlay="+overlay, "-"+summary.Name+".always")
		os.Remove(overlay)
		again.leftTests = *left
		if v = again; v.err == nil || ctx.Err() != nil {
			break
		}
	}
	return v
}

// leftTests are tests that were left out.
type leftTests struct {
	files    []string
	packages []string // that were analysed without their tests, or without those outside of the package (x_test)
	compiler []byte   // the compiler's output on these
}

// add leaves out further files, and reports whether there are any.
func (l *leftTests) add(files, packages []string) bool {
	n := len(l.files)
	for _, f := range files {
		if !slices.Contains(l.files, f) {
			l.files = append(l.files, f)
		}
	}
	for _, p := range packages {
		if !slices.Contains(l.packages, p) {
			l.packages = append(l.packages, p)
		}
	}
	return len(l.files) > n
}

// otherTests returns the test files of packages without a result that holds for
// their tests, and the names of these packages.
func (l *packageList) otherTests(v *vetted) (files, packages []string) {
	m := newMerger(l)
	if m.read(v.stdout) != nil {
		return nil, nil // the code that reads it for the result reports the fault
	}
	for _, p := range l.packages {
		tests := slices.Concat(p.paths(p.TestGoFiles), p.paths(p.XTestGoFiles))
		if len(p.TestGoFiles) > 0 && !m.tested[p.ImportPath] && !slices.Contains(v.packages, p.ImportPath) {
			files, packages = append(files, tests...), append(packages, p.ImportPath)
		}
	}
	return files, packages
}

// patternsWithout returns the packages that the go command is to vet where the files do not exist: it
// refuses a package without files.
func (l *packageList) patternsWithout(o *Options, files []string) []string {
	var paths []string
	for _, p := range l.packages {
		if slices.ContainsFunc(p.paths(p.names()), func(f string) bool { return !slices.Contains(files, f) }) {
			paths = append(paths, p.ImportPath)
		}
	}
	if len(paths) == len(l.packages) {
		return l.patterns(o)
	}
	return paths
}

// brokenTests returns the test files of each package if the compiler names a position
// in its tests, or if they import a package that no required module provides (the go command
// names the first such import alone), and the names of these packages: the external
// tests alone, where only those are concerned, else both, as the external ones may
// need the others.
func (l *packageList) brokenTests(dir, compiler string) (files, packages []string) {
	broken := map[string]bool{}
	for line := range strings.Lines(compiler) {
		if file, ok := fileOf(dir, line); ok {
			broken[file] = true
		}
	}
	_, missing := withoutUnprovided(compiler)
	isMissing := func(path string) bool { return missing[path] }
	isBroken := func(file string) bool { return broken[file] }
	for _, p := range l.packages {
		tests, external := p.paths(p.TestGoFiles), p.paths(p.XTestGoFiles)
		switch {
		case slices.ContainsFunc(tests, isBroken), slices.ContainsFunc(p.TestImports, isMissing):
			files = slices.Concat(files, tests, external)
			packages = append(packages, p.ImportPath)
		case slices.ContainsFunc(external, isBroken), slices.ContainsFunc(p.XTestImports, isMissing):
			files = append(files, external...)
			packages = append(packages, p.ImportPath+"_test")
		}
	}
	return files, packages
}

// fileOf returns the absolute path of the file that a line of the compiler begins with.
func fileOf(dir, line string) (string, bool) {
	file, _, ok := strings.Cut(line, ".go:")
	if !ok || !positioned(line) {
		return "", false
	}
	if file += ".go"; !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	abs, err := filepath.Abs(file)
	return abs, err == nil
}

// unprovided matches the go command's message about an import that no module of go.mod has.
var unprovided = regexp.MustCompile(`(?:no required module provides|cannot find module providing) package ([^\s;:]+)`)

// withoutUnprovided returns the compiler's output apart from imports of tests that no required module provides, and
// these imports. Nobody can build such tests with this go.mod: they are no fault of the code.
func withoutUnprovided(compiler string) (rest string, imports map[string]bool) {
	var b strings.Builder
	imports = map[string]bool{}
	isAdvice := false // on which module to add, below the fault
	for line := range strings.Lines(compiler) {
		match := unprovided.FindStringSubmatch(line)
		switch {
		case match != nil && strings.Contains(line, "_test.go:"):
			imports[match[1]], isAdvice = true, true
		case isAdvice && strings.HasPrefix(line, "\t"):
		default:
			isAdvice = false
			b.WriteString(line)
		}
	}
	return b.String(), imports
}

// needs lists the imports of the package's tests that are among those.
func (p *listed) needs(among map[string]bool) []string {
	imports := slices.Concat(p.TestImports, p.XTestImports)
	imports = slices.DeleteFunc(imports, func(path string) bool { return !among[path] })
	slices.Sort(imports)
	return slices.Compact(imports)
}

func (p *listed) paths(names []string) []string {
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(p.Dir, name))
	}
	return paths
}

// hasOverlay reports whether the user has set an overlay: the go command takes one.
func (o *Options) hasOverlay() bool {
	flags := append(strings.Fields(os.Getenv("GOFLAGS")), o.BuildFlags...)
	return slices.ContainsFunc(flags, func(f string) bool {
		return strings.HasPrefix(strings.TrimLeft(f, "-"),
			"overlay")
	})
}

// overlayWithout makes an overlay in which the files do not exist.
func (o *Options) overlayWithout(files []string) (string, error) {
	replace := map[string]string{}
	for _, f := range files {
		replace[f] = ""
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(o.Temp, "interlock-overlay-*.json")
	if err != nil {
		return "", fmt.Errorf("leaving out tests that do not compile: %w", err)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("leaving out tests that do not compile: %w", err)
	}
	return f.Name(), nil
}

// without goes on without the packages that do not compile, if there are others;
// finish names those that were not analysed. Else it says why go vet failed.
func (m *merger) without(v *vetted) error {
	m.result.Uncompiled = m.list.faults()
	if v.err == nil && len(v.packages) == 0 {
		return nil
	}
	// Tests that need a module which go.mod does not require are left out, and nothing is wrong.
	first, unprovided := withoutUnprovided(compilerLines(string(v.compiler)))
	m.leaveOut(v.packages, unprovided, first)
	for _, name := range v.packages {
		m.withoutTests(name)
	}
	if v.err == nil {
		m.result.Uncompiled += first
		return nil
	}
	later, _ := withoutUnprovided(newLines(v.compiler, v.stderr))
	said := first + later
	if len(m.seen) == 0 || said == "" {
		return m.explain([]byte(said), v.err)
	}
	m.result.Uncompiled += said
	return nil
}

// leaveOut notes the packages among those named with tests that import unprovided packages, if the compiler reports
// nothing else of these tests.
func (m *merger) leaveOut(testless []string, unprovided map[string]bool, compiler string) {
	faulty := map[string]bool{} // folders
	for line := range strings.Lines(compiler) {
		if file, ok := fileOf(m.list.dir, line); ok {
			faulty[filepath.Dir(file)] = true
		}
	}
	for _, p := range m.list.packages {
		isLeftOut := slices.Contains(testless, p.ImportPath) || slices.Contains(testless, p.ImportPath+"_test")
		needs := p.needs(unprovided)
		if !isLeftOut || len(needs) == 0 || faulty[p.Dir] {
			continue
		}
		m.needing[p.ImportPath] = true
		m.result.LeftOut = append(m.result.LeftOut, fmt.Sprintf("%s: tests were left out: they import %s, which no required "+
			"module provides", p.ImportPath, strings.Join(needs, ", ")))
	}
}

// withoutTests reports that tests were left out: those of a package, or by the name of an external test package these
// alone.
func (m *merger) withoutTests(name string) {
	path, isExternal := strings.CutSuffix(name, "_test")
	m.testless[name] = true
	switch {
	case m.needing[path]: // reported among those left out
	case !isExternal && m.seen[name]:
		m.problem("%s: analysed without its tests, which do not compile; `go vet %s` shows why", name, name)
	case isExternal:
		m.problem("%s: not analysed: it does not compile; `go vet %s` shows why", name, path)
	}
}

// newLines returns the lines of a later run that an earlier one did not say.
func newLines(before, after []byte) string {
	var b strings.Builder
	known := slices.Collect(strings.Lines(compilerLines(string(before))))
	for line := range strings.Lines(compilerLines(string(after))) {
		if !slices.Contains(known, line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/summary"
)

// vetted is what go vet printed, and why it failed, if it did.
type vetted struct {
	output
	err error
	// testless are the packages that were analysed without their tests, or
	// without those outside of the package (x_test), which do not compile.
	testless []string
	compiler []byte // what the compiler said of these
}

// vet runs go vet, and again without tests that do not compile: go vet shows
// nothing of a package whose tests do not, or whose tests need what does not.
// First those go that the compiler names, then those of all packages of which
// there is no result.
func (o *Options) vet(ctx context.Context, list *packageList, flags []string) *vetted {
	run := func(more ...string) *vetted {
		out, err := o.watched(ctx, o.counter(list), slices.Concat(flags, more, o.BuildFlags, list.patterns(o))...)
		return &vetted{output: unmix(out), err: err}
	}
	v := run()
	if v.err == nil || ctx.Err() != nil || o.hasOverlay() {
		return v
	}
	compiler := v.stderr
	files, testless := list.brokenTests(o.Dir, compilerLines(string(v.stderr)))
	for _, left := range []bool{true, false} {
		if len(files) > 0 {
			overlay, err := o.overlayWithout(files)
			if err != nil {
				return v // what go vet said is reported; that the rest is missing, too
			}
			again := run("-overlay="+overlay, "-"+summary.Name+".always")
			os.Remove(overlay)
			again.testless, again.compiler = testless, compiler
			if v = again; v.err == nil || ctx.Err() != nil {
				return v
			}
		}
		more, packages := list.otherTests(v, files)
		if !left || len(more) == 0 {
			return v
		}
		files, testless = append(files, more...), append(testless, packages...)
	}
	return v
}

// otherTests returns the test files, except those known, of packages without a
// result that holds for their tests, and the names of these packages.
func (l *packageList) otherTests(v *vetted, known []string) (files, packages []string) {
	m := newMerger(l)
	if m.read(v.stdout) != nil {
		return nil, nil // what reads it for the result reports what is wrong
	}
	for _, p := range l.packages {
		tests := slices.Concat(p.paths(p.TestGoFiles), p.paths(p.XTestGoFiles))
		tests = slices.DeleteFunc(tests, func(f string) bool { return slices.Contains(known, f) })
		if len(p.TestGoFiles) > 0 && !m.tested[p.ImportPath] && len(tests) > 0 {
			files, packages = append(files, tests...), append(packages, p.ImportPath)
		}
	}
	return files, packages
}

// brokenTests returns the test files of each package for whose tests the compiler
// names a position, and the names of these packages: the external tests alone,
// where only those are named, else both, as the external ones may need the others.
func (l *packageList) brokenTests(dir, compiler string) (files, packages []string) {
	broken := map[string]bool{}
	for line := range strings.Lines(compiler) {
		if file, _, ok := strings.Cut(line, ".go:"); ok && positioned(line) {
			if file += ".go"; !filepath.IsAbs(file) {
				file = filepath.Join(dir, file)
			}
			if abs, err := filepath.Abs(file); err == nil {
				broken[abs] = true
			}
		}
	}
	for _, p := range l.packages {
		tests, external := p.paths(p.TestGoFiles), p.paths(p.XTestGoFiles)
		isBroken := func(file string) bool { return broken[file] }
		switch {
		case slices.ContainsFunc(tests, isBroken):
			files = slices.Concat(files, tests, external)
			packages = append(packages, p.ImportPath)
		case slices.ContainsFunc(external, isBroken):
			files = append(files, external...)
			packages = append(packages, p.ImportPath+"_test")
		}
	}
	return files, packages
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

// without goes on without what does not compile, if there is something else;
// finish names what was not analysed. Else it says why go vet failed.
func (m *merger) without(v *vetted) error {
	m.result.Uncompiled = m.list.faults()
	if v.err == nil && len(v.testless) == 0 {
		return nil
	}
	for _, name := range v.testless {
		path, external := strings.CutSuffix(name, "_test")
		if external && m.seen[path] {
			m.problem("%s: not analysed: it does not compile; `go vet %s` shows why", name, path)
		} else if m.seen[name] {
			m.withoutTests(name)
		}
		m.testless[name] = true
	}
	if v.err == nil {
		m.result.Uncompiled += compilerLines(string(v.compiler))
		return nil
	}
	said := compilerLines(string(v.compiler)) + newLines(v.compiler, v.stderr)
	if len(m.seen) == 0 || said == "" {
		return m.explain([]byte(said), v.err)
	}
	m.result.Uncompiled += said
	return nil
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

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

// vet runs go vet, and once more without the tests that do not compile, if
// there are some: go vet gives nothing for a package whose tests do not.
func (o *Options) vet(ctx context.Context, list *packageList, flags []string) *vetted {
	run := func(more ...string) *vetted {
		out, err := o.watched(ctx, o.counter(list), slices.Concat(flags, more, o.BuildFlags, o.Patterns)...)
		return &vetted{output: unmix(out), err: err}
	}
	v := run()
	if v.err == nil || ctx.Err() != nil {
		return v
	}
	files, testless := list.brokenTests(o.Dir, compilerLines(string(v.stderr)))
	if len(files) == 0 || o.hasOverlay() {
		return v
	}
	overlay, err := overlayWithout(files)
	if err != nil {
		return v // what go vet said is told; that the rest is missing, too
	}
	defer os.Remove(overlay)
	again := run("-overlay=" + overlay)
	again.testless, again.compiler = testless, v.stderr
	return again
}

// brokenTests gives the test files of each package for whose tests the compiler
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

// hasOverlay reports whether the user gives an overlay: the go command takes one.
func (o *Options) hasOverlay() bool {
	flags := append(strings.Fields(os.Getenv("GOFLAGS")), o.BuildFlags...)
	return slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(strings.TrimLeft(f, "-"), "overlay") })
}

// overlayWithout makes an overlay in which the files do not exist.
func overlayWithout(files []string) (string, error) {
	replace := map[string]string{}
	for _, f := range files {
		replace[f] = ""
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp("", "interlock-overlay-*.json")
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
	if v.err == nil && len(v.testless) == 0 {
		return nil
	}
	for _, name := range v.testless {
		path, external := strings.CutSuffix(name, "_test")
		if external && m.seen[path] {
			m.problem("%s: not analysed: it does not compile", name)
		} else if m.seen[name] {
			m.problem("%s: analysed without its tests, which do not compile", name)
		}
		m.testless[name] = true
	}
	if v.err == nil {
		m.result.Uncompiled = compilerLines(string(v.compiler))
		return nil
	}
	err := m.explain(append(v.compiler, v.stderr...), v.err)
	var compile *CompileError
	if !errors.As(err, &compile) || len(m.seen) == 0 {
		return err
	}
	m.result.Uncompiled = compile.Output
	return nil
}

// Package quickfix makes patches where nobody waits for runs: at a diagnostic in an
// editor, and as the suggested fixes of the checks, which go vet -fix, go fix and
// golangci-lint apply ([Checks]).
//
// The strategies, and what they demand of a patch, are those of package patchgen. In
// place of builds, tests and runs a patch is checked by the static checks alone: the
// package and what it imports are analysed again with the patch, and the cause of the
// findings must be gone. What imports the package is loaded too, as a patch of a type
// concerns all that use it.
//
// Cost: the go command lists the module once; then the package, with what it imports of the
// module and what imports it, is typed and analysed, and the package again for each candidate.
package quickfix

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/resident"
	"github.com/interlock-go/interlock/analyzers/summary"
	"github.com/interlock-go/interlock/patchgen"
)

// Options say which source is patched, and what to ask about it.
type Options struct {
	resident.Options
	File string // a file of the package that the findings are in, absolute
	// Findings judges packages together; it may change the summaries. nil stands for what each
	// package shows by itself.
	Findings func([]*summary.Summary) []*finding.Finding
}

// Module is the source around one package. It is not safe for concurrent use.
type Module struct {
	options  Options
	analysed *resident.Module
	path     string // of the package
	source   *patchgen.Module
	// The patch that is being checked.
	patched map[string][]byte // contents of files by absolute name
}

// Open loads the package and those that a patch of it may concern. The error says what
// keeps it from being patched.
func Open(ctx context.Context, o Options) (*Module, error) {
	m := &Module{options: o}
	under := o.Options
	under.Read, under.Buffers = m.read, m.buffers
	var err error
	if m.analysed, err = resident.Load(ctx, under); err != nil {
		return nil, err
	}
	if m.path = m.analysed.PackageOf(o.File); m.path == "" {
		return nil, fmt.Errorf("%s is a test, or left out of the build: `interlock fix` patches tests", o.File)
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: patchgen.LoadMode, Context: ctx, Dir: o.Root, Env: o.Env, BuildFlags: o.BuildFlags, Tests: true,
	}, m.analysed.Around(m.path)...)
	if err != nil {
		return nil, fmt.Errorf("loading the packages: %w", err)
	}
	m.source, err = patchgen.NewModule(o.Root, loaded)
	return m, err
}

// read returns a file as it is with the patch.
func (m *Module) read(name string) ([]byte, error) {
	if data, ok := m.patched[name]; ok {
		return data, nil
	}
	return m.options.Read(name)
}

func (m *Module) buffers() map[string][]byte {
	all := m.options.Buffers()
	if len(m.patched) > 0 {
		all = maps.Clone(all)
		maps.Copy(all, m.patched)
	}
	return all
}

// Fix makes a patch of all findings with one cause, whose files are slash paths relative to
// the root. It returns the contents of the files that it changes, by such paths. beside are
// the contents that earlier patches have given to files: a patch that changes one of these
// is withheld, and one with which they close a circle of locks.
func (m *Module) Fix(ctx context.Context, group []*finding.Finding,
	beside map[string][]byte) (*finding.Fix, map[string][]byte, error) {
	return patchgen.Fix(ctx, patchgen.Input{Module: m.source, Group: group, Checks: patchgen.Checks{
		Static: func(ctx context.Context, c patchgen.Candidate) error {
			if err := m.still(ctx, c.Files, group); err != nil || len(beside) == 0 {
				return err
			}
			return m.together(ctx, c.Files, beside)
		},
	}})
}

// still returns an error if the checks find the cause of the group in the patched module.
func (m *Module) still(ctx context.Context, files map[string][]byte, group []*finding.Finding) error {
	list, err := m.findings(ctx, files)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(f *finding.Finding) bool { return patchgen.SameCause(f, group[0]) })
	if i >= 0 {
		return fmt.Errorf("the checks still find %s: %s", list[i].Code, list[i].Title)
	}
	return nil
}

// together returns an error if two patches cannot be applied both.
func (m *Module) together(ctx context.Context, files, beside map[string][]byte) error {
	both := maps.Clone(beside)
	for name, data := range files {
		if both[name] != nil {
			return fmt.Errorf("another patch changes %s: apply that one first, and ask again", name)
		}
		both[name] = data
	}
	before, err := m.findings(ctx, nil)
	if err != nil {
		return err
	}
	after, err := m.findings(ctx, both)
	if err != nil {
		return err
	}
	for _, f := range after {
		known := slices.ContainsFunc(before, func(g *finding.Finding) bool { return g.ID == f.ID })
		if !known && strings.HasPrefix(string(f.Code), "IL3") {
			return fmt.Errorf("with another patch the checks find %s: %s", f.Code, f.Title)
		}
	}
	return nil
}

// findings returns what the checks find with files, by slash path, in place.
func (m *Module) findings(ctx context.Context, files map[string][]byte) ([]*finding.Finding, error) {
	m.patched = map[string][]byte{}
	for rel, data := range files {
		m.patched[filepath.Join(m.options.Root, filepath.FromSlash(rel))] = data
	}
	// The packages of the patch, and the one that is asked about.
	paths := map[string]bool{m.path: true}
	for name := range m.patched {
		if path := m.analysed.PackageOf(name); path != "" {
			paths[path] = true
		}
	}
	if err := m.analysed.Refresh(ctx, m.options.File); err != nil {
		return nil, errors.Join(patchgen.ErrCannotCheck, err)
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if err := m.analysed.Analyse(ctx, path, func(string) {}); err != nil {
			return nil, err
		}
	}
	summaries, err := m.analysed.Summaries()
	if err != nil {
		return nil, errors.Join(patchgen.ErrCannotCheck, err)
	}
	if m.options.Findings != nil {
		return m.options.Findings(summaries), nil
	}
	var all []*finding.Finding
	for _, s := range summaries {
		all = append(all, s.Findings...)
	}
	return all, nil
}

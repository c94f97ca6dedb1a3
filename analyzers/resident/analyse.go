package resident

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/inprocess"
	"github.com/interlock-go/interlock/analyzers/summary"
)

// Analyse brings a package up to date, behind those that it imports. Each that is analysed is reported to
// progress first. The error is a [*CompileError], that of ctx, or an internal one; earlier results stay then.
func (m *Module) Analyse(ctx context.Context, path string, progress func(path string)) error {
	n := m.packages[path]
	if n == nil {
		return fmt.Errorf("there is no package %s", path)
	}
	for _, dep := range m.behind(n) {
		if err := m.update(ctx, dep, progress); err != nil {
			return err
		}
	}
	return nil
}

// behind returns the packages of the module that n imports, each behind those that it
// imports itself, and n.
func (m *Module) behind(n *Package) (sorted []*Package) {
	seen := map[*Package]bool{}
	var visit func(n *Package)
	visit = func(n *Package) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, dep := range n.deps {
			visit(dep)
		}
		sorted = append(sorted, n)
	}
	visit(n)
	return sorted
}

// update analyses a package if it, or a package that it imports, has changed.
func (m *Module) update(ctx context.Context, n *Package, progress func(string)) error {
	if n.problem != "" {
		return &CompileError{n.Path, n.problem}
	}
	if len(n.files) == 0 {
		return nil // there are tests alone
	}
	texts, hash, err := m.readSources(n)
	if err != nil {
		return err
	}
	if n.summary != nil && !n.stale && n.api.types != nil && hash == n.hash {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// Types and passes, with their times.
	progress(n.Path)
	start := time.Now()
	s, err := m.typeCheck(n, texts)
	m.spent.Typing += time.Since(start)
	if err != nil {
		return err
	}
	start = time.Now()
	next, err := m.analyse(ctx, n, s, texts)
	m.spent.Passes += time.Since(start)
	if err != nil {
		m.forget(s.generation)
		return err
	}
	next.hash, next.texts = hash, texts
	return m.takeResults(n, s, next)
}

// analyse runs all checks on a typed package.
func (m *Module) analyse(ctx context.Context, n *Package, s *syntax, texts map[string][]byte) (*known, error) {
	if n.plain != nil { // its types alone are others
		return &known{facts: n.plain.facts, summary: []byte("{}")}, nil
	}
	if n.memory == nil || n.stale {
		n.memory = new(sync.Map) // facts of other packages that it relied on have changed
	}
	unit := &inprocess.Unit{
		Fset: m.fset, Files: s.files, Types: s.types, Info: s.info, Sizes: m.sizes, Module: n.module, Memory: n.memory,
		Spent: map[*analysis.Analyzer]time.Duration{},
		Read: func(name string) ([]byte, error) {
			if data, ok := texts[name]; ok {
				return data, nil
			}
			return m.options.Read(name)
		},
		Imported: func(path string) *inprocess.Facts {
			if dep := cmp.Or(n.instead[path], m.packages[path]); dep != nil {
				return dep.facts
			}
			return nil
		},
	}
	results, facts, err := unit.Run(ctx, summary.Analyzer)
	for pass, took := range unit.Spent {
		m.spent.ByPass[pass] += took
	}
	if err != nil {
		return nil, err
	}
	sum := results[summary.Analyzer].(*summary.Summary)
	if len(sum.Problems) > 0 && sum.Incomplete {
		return nil, fmt.Errorf("analysing %s: %s", n.Path, sum.Problems[0])
	}
	sum.Skips, sum.Fields, sum.Written = nil, nil, nil // for plans alone, and most of it
	text, err := json.Marshal(sum)
	if err != nil {
		return nil, fmt.Errorf("analysing %s: %w", n.Path, err)
	}
	return &known{facts: facts, summary: text, notes: m.notesByFile(s, results), memory: n.memory}, nil
}

// takeResults replaces the results of a package, and marks the importers that this concerns.
func (m *Module) takeResults(n *Package, s *syntax, next *known) error {
	hash, err := hashAPI(s.types)
	if err != nil {
		return fmt.Errorf("comparing the API of %s: %w", n.Path, err)
	}
	before := n.known
	next.apiHash, next.api = hash, before.api
	if before.api.types == nil || hash != before.apiHash {
		next.api = s.generation
		m.forget(before.api)
		retype(n)
	} else {
		m.forget(s.generation)
	}
	if !next.facts.Same(before.facts) {
		for _, importer := range n.importers {
			importer.stale = true
		}
	}
	n.known = *next
	return nil
}

// retype has all that import n typed anew, as their types refer to those that n had.
func retype(n *Package) {
	for _, importer := range n.importers {
		if importer.api.types != nil {
			importer.api.types, importer.stale = nil, true
			retype(importer)
		}
	}
}

// IsStale reports whether a package was analysed, and an import of it has changed since.
func (m *Module) IsStale(path string) bool {
	n := m.packages[path]
	return n != nil && n.summary != nil && n.stale
}

// Summaries returns those of all packages that were analysed, as the passes made them.
// The caller may change them.
func (m *Module) Summaries() (all []*summary.Summary, _ error) {
	for _, path := range slices.Sorted(maps.Keys(m.packages)) {
		n := m.packages[path]
		list, err := n.summaries()
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// Text returns the source of a file as its package was last analysed with.
func (m *Module) Text(file string) []byte {
	if n := m.analysed(file); n != nil {
		return n.texts[file]
	}
	return nil
}

// analysed returns the package that a file was last analysed with; nil if it is unknown.
func (m *Module) analysed(file string) *Package {
	if n := m.tested(file); n != nil {
		return n.tests.byFile(file)
	}
	return m.byFile[file]
}

package driver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/crosspkg"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/summary"
)

// merger makes one result of the summaries of all packages.
type merger struct {
	list      *packageList
	result    *Result
	summaries map[string]*summary.Summary // by import path
	asked     map[string]bool             // import paths, those of external tests too
	seen      map[string]bool             // import paths with a summary, those of dependencies too
	tested    map[string]bool             // those of which it is with the tests within the package
	// testless are packages without their tests, and external tests left out
	testless map[string]bool
	// needing are packages with tests that were left out as no required module provides their imports
	needing map[string]bool
	// the input of the join
	variables [][]crosspkg.Variable
	written   map[string]bool   // fields that some package writes while shared
	unless    map[string][]Skip // by field that nobody must write so
	lost      bool              // some package was not analysed in full
}

func newMerger(list *packageList) *merger {
	r := &Result{Root: list.root, Path: list.path, Locks: map[string]summary.Locks{}}
	m := &merger{
		list: list, result: r, summaries: map[string]*summary.Summary{}, asked: map[string]bool{}, seen: map[string]bool{},
		tested: map[string]bool{}, testless: map[string]bool{}, needing: map[string]bool{},
		written: map[string]bool{}, unless: map[string][]Skip{},
	}
	for _, p := range list.packages {
		m.asked[p.ImportPath], m.asked[p.ImportPath+"_test"] = true, true
	}
	return m
}

// diagnostic is one of those that `go vet -json` prints.
type diagnostic struct {
	Category string `json:"category"`
	Message  string `json:"message"`
}

// read reads the stream of `go vet -json`: objects package -> analyzer ->
// diagnostics, or an object with an error in their place. Lines that are no
// JSON (the go command prints "# package") are left out.
func (m *merger) read(stdout []byte) error {
	for dec := json.NewDecoder(bytes.NewReader(stdout)); ; {
		var tree map[string]map[string]json.RawMessage
		if err := dec.Decode(&tree); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the output of go vet: %w", err)
		}
		for _, id := range sortedKeys(tree) {
			for _, analyzer := range sortedKeys(tree[id]) {
				m.message(id, analyzer, tree[id][analyzer])
			}
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (m *merger) message(id, analyzer string, raw json.RawMessage) {
	var failure struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(raw, &failure) == nil && failure.Error != "" {
		m.lost = true
		m.problem("%s: %s could not run: %s", id, analyzer, failure.Error)
		return
	}
	var list []diagnostic
	if err := json.Unmarshal(raw, &list); err != nil {
		m.lost = true
		m.problem("%s: output of %s cannot be read: %v", id, analyzer, err)
		return
	}
	for _, d := range list {
		if d.Category == summary.Category {
			m.summary(id, d.Message)
		}
	}
}

func (m *merger) problem(format string, args ...any) {
	m.result.Problems = append(m.result.Problems, fmt.Sprintf(format, args...))
}

func (m *merger) summary(id, text string) {
	var s summary.Summary
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Version != summary.Version {
		m.lost = true
		m.problem("%s: summary cannot be read (version %d): %v", id, s.Version, err)
		return
	}
	if !m.asked[s.Package] && !m.list.replays {
		return // it comes the first time only
	}
	// Of a package with tests of its own there may be one without them, too.
	if !m.seen[s.Package] || s.Tests && !m.tested[s.Package] {
		m.summaries[s.Package] = &s
	}
	m.tested[s.Package] = m.tested[s.Package] || s.Tests
	m.seen[s.Package] = true
}

// take adds a summary to the result.
func (m *merger) take(s *summary.Summary) {
	m.skips(s)
	m.fields(s)
	if !m.asked[s.Package] {
		return
	}
	r := m.result
	r.Packages = append(r.Packages, s.Package)
	for _, f := range s.Findings {
		if len(f.Cycle) > 0 {
			continue // the join sees those of one package too
		}
		f.RenameFiles(m.relative)
		r.Findings = append(r.Findings, f)
	}
	for _, sec := range s.Sections {
		for _, p := range sec.Places() {
			p.File = m.relative(p.File)
		}
		r.Sections = append(r.Sections, sec)
	}
	for i := range s.Locks.Orders {
		s.Locks.Orders[i].Edge.RenameFiles(m.relative)
	}
	r.Locks[s.Package] = s.Locks
	r.GaveUp = append(r.GaveUp, s.GaveUp...)
	below := m.list.root + string(filepath.Separator)
	for _, p := range s.Problems {
		r.Problems = append(r.Problems, strings.TrimPrefix(p, below))
	}
	for _, p := range s.Unused {
		r.Unused = append(r.Unused, strings.TrimPrefix(p, below))
	}
	for _, ig := range s.Ignores {
		ig.File = m.relative(ig.File)
		r.Ignores = append(r.Ignores, ig)
	}
}

// relative makes a slash path below the root of the main module of name.
func (m *merger) relative(name string) string {
	if rel, err := filepath.Rel(m.list.root, name); err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	return filepath.ToSlash(name)
}

// finish checks that no package was lost, and puts all in order.
func (m *merger) finish() *Result {
	for _, p := range m.list.packages {
		m.account(p)
	}
	for _, p := range m.list.broken {
		m.lost = true
		m.problem("%s: not analysed: it cannot be loaded; `go vet %s` shows why", p.ImportPath, p.ImportPath)
	}
	r := m.sum()
	m.addSource()
	return r
}

// sum puts the summaries of all packages in order, and decides questions that need all of them.
func (m *merger) sum() *Result {
	r := m.result
	for _, pkg := range sortedKeys(m.summaries) {
		m.take(m.summaries[pkg])
	}
	slices.Sort(r.Packages)
	r.Packages = slices.Compact(r.Packages)
	slices.Sort(r.Problems)
	slices.Sort(r.Unused)
	r.Unused = slices.Compact(r.Unused)
	m.join()
	finding.Sort(r.Findings)
	finding.Seal(r.Findings)
	return r
}

// Join makes one result of the summaries of packages that were analysed in this
// process, as [Vet] does. Files are slash paths relative to root. It changes the
// summaries. The lines of the source are left out.
func Join(root string, summaries []*summary.Summary) *Result {
	list := &packageList{root: root}
	for _, s := range summaries {
		list.packages = append(list.packages, listed{ImportPath: s.Package})
	}
	m := newMerger(list)
	for _, s := range summaries {
		m.summaries[s.Package], m.seen[s.Package] = s, true
	}
	return m.sum()
}

// account reports each package that was asked for and has no summary.
func (m *merger) account(p listed) {
	own := len(p.GoFiles) + len(p.CgoFiles) + len(p.TestGoFiles)
	switch {
	case p.Module == nil || !p.Module.Main:
		m.problem("%s: not analysed: it is not in a main module", p.ImportPath)
	case m.needing[p.ImportPath] && (m.seen[p.ImportPath] || len(p.GoFiles)+len(p.CgoFiles) == 0): // said before
	case own > 0 && !m.seen[p.ImportPath]:
		m.problem("%s: not analysed: it, or what it imports, does not compile; `go vet %s` shows why", p.ImportPath,
			p.ImportPath)
	case m.testless[p.ImportPath] || m.testless[p.ImportPath+"_test"]: // said before
	case len(p.TestGoFiles) > 0 && !m.tested[p.ImportPath]:
		m.withoutTests(p.ImportPath)
	case len(p.XTestGoFiles) > 0 && !m.seen[p.ImportPath+"_test"]:
		m.problem("%s_test: not analysed: it, or what it imports, does not compile; `go vet %s` shows why", p.ImportPath,
			p.ImportPath)
	default:
		return
	}
	m.lost = true
}

// explain returns why go vet failed: the code does not compile, or something else.
func (m *merger) explain(stderr []byte, err error) error {
	text := compilerLines(string(stderr))
	if text == "" {
		return fmt.Errorf("running go vet: %w", err)
	}
	if strings.Contains(text, "go: unsupported GOOS/GOARCH") {
		return refused("", text)
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") && positioned(line) {
			return &CompileError{text}
		}
	}
	return fmt.Errorf("running go vet: %w:\n%s", err, text)
}

// compilerLines drops the go command's prefix of a vet tool's messages.
func compilerLines(stderr string) string {
	var b strings.Builder
	for line := range strings.Lines(stderr) {
		b.WriteString(strings.TrimPrefix(line, "vet: "))
	}
	return b.String()
}

// positioned reports whether a line starts as file.go:1:2 does.
func positioned(line string) bool {
	_, rest, ok := strings.Cut(line, ".go:")
	return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

package lsp

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// seen is a finding that runs have shown, or another command has reported, and the code
// that it is about as it was then.
type seen struct {
	finding *finding.Finding
	// bodies are the declarations that hold its places, by file and line, as they were
	// when this session first saw them.
	bodies map[string]string
	static bool // the checks found it, too, at some time
}

// store is the findings of one module from elsewhere.
type store struct {
	runs  map[string]*seen            // by the finding's id: shown by runs of this session
	files map[string]map[string]*seen // by file of findings, and id
	times map[string]time.Time        // of these files when they were read
}

func newStore() *store {
	return &store{map[string]*seen{}, map[string]map[string]*seen{}, map[string]time.Time{}}
}

// read reads the files of findings that have changed. The errors say which cannot be read.
func (st *store) read(names []string) (problems []string) {
	for name := range st.files {
		if !slices.Contains(names, name) {
			delete(st.files, name)
			delete(st.times, name)
		}
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err == nil && info.ModTime().Equal(st.times[name]) {
			continue
		}
		var list []*finding.Finding
		var data []byte
		if err == nil {
			data, err = os.ReadFile(name)
		}
		if err == nil {
			list, err = readFindings(data)
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		st.times[name], st.files[name] = info.ModTime(), byID(list)
	}
	return problems
}

func byID(list []*finding.Finding) map[string]*seen {
	all := map[string]*seen{}
	for _, f := range list {
		all[f.ID] = &seen{finding: f}
	}
	return all
}

// all lists the findings, those of runs first.
func (st *store) all() (list []*seen) {
	known := map[string]bool{}
	for _, from := range append([]map[string]*seen{st.runs}, values(st.files)...) {
		for id, s := range from {
			if !known[id] {
				known[id] = true
				list = append(list, s)
			}
		}
	}
	slices.SortFunc(list, func(a, b *seen) int { return strings.Compare(a.finding.ID, b.finding.ID) })
	return list
}

func values(m map[string]map[string]*seen) (all []map[string]*seen) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

// join adds the findings of the store to those of the checks: in place of the same
// finding, or beside them, as long as the code that it is about has not changed.
func (st *store) join(root string, static []*finding.Finding, read func(string) *text) []*finding.Finding {
	index := map[string]int{}
	for i, f := range static {
		index[f.ID] = i
	}
	out := slices.Clone(static)
	for _, s := range st.all() {
		i, found := index[s.finding.ID]
		switch {
		case found: // the checks know best where it is now
			s.static = true
			out[i] = onto(s.finding, static[i])
		case s.static || s.finding.Status == finding.Suspected: // and when it is gone
		default:
			if moved := s.now(root, read); moved != nil {
				out = append(out, moved)
			}
		}
	}
	return out
}

// onto returns a finding of a run, at the places where the checks see it now.
func onto(shown, static *finding.Finding) *finding.Finding {
	f := *shown
	f.Accesses, f.Section, f.Cycle = static.Accesses, static.Section, static.Cycle
	return &f
}

// now returns the finding at its places in the files as they are; nil if a line is gone
// or the declaration around it has changed since the session first saw it.
func (s *seen) now(root string, read func(string) *text) *finding.Finding {
	f := *s.finding
	f.Accesses = slices.Clone(f.Accesses)
	first := s.bodies == nil
	if first {
		s.bodies = map[string]string{}
	}
	for i := range f.Accesses {
		a := &f.Accesses[i]
		t := read(absolute(root, a.File))
		if t == nil || !t.find(a) {
			return nil
		}
		key := fmt.Sprint(a.File, " ", s.finding.Accesses[i].Line)
		body := declaration(t, a.Line)
		if first {
			s.bodies[key] = body
		} else if s.bodies[key] != body {
			return nil
		}
	}
	if f.Section = nil; len(f.Accesses) == 0 {
		return nil // a cycle of locks without places of accesses: the checks find it, if it is there
	}
	f.Cycle = nil
	for _, e := range s.finding.Cycle {
		if s.moveEdge(&e, f.Accesses, func(name string) *text { return read(absolute(root, name)) }) {
			f.Cycle = append(f.Cycle, e)
		}
	}
	return &f
}

// moveEdge sets the places of a step of a cycle to where they are now, by the accesses, which have been found. It
// reports false where none of them is the step's wait. The lock that was taken before has moved along with the wait,
// or not at all in another file: where it does not stand there, its place is left out.
func (s *seen) moveEdge(e *finding.Edge, moved []finding.Access, read func(string) *text) bool {
	i := slices.IndexFunc(s.finding.Accesses, func(a finding.Access) bool {
		return a.File == e.Position.File && a.Line == e.Position.Line
	})
	if i < 0 {
		return false
	}
	a, lines := moved[i], moved[i].Line-e.Position.Line
	before := e.Since
	e.Position, e.Since = a.Position, nil
	if before == nil {
		return true
	}
	since := *before
	if since.File == a.File {
		since.Line, since.EndLine = since.Line+lines, since.EndLine+lines
	}
	if t := read(since.File); t != nil && slices.ContainsFunc(a.Locks, func(lock string) bool {
		return t.has(since, strings.TrimSuffix(lock, " (read)"))
	}) {
		e.Since = &since
	}
	return true
}

// has reports whether an expression begins at a place.
func (t *text) has(at finding.Position, expr string) bool {
	content := t.line(at.Line - 1)
	return bytes.HasPrefix(content[min(max(at.Column-1, 0), len(content)):], []byte(expr))
}

// find sets the place of an access to the nearest line that is the one that it was seen
// in, indentation aside.
func (t *text) find(a *finding.Access) bool {
	for away := range len(t.lines) + a.Line {
		for _, line := range []int{a.Line + away, a.Line - away} {
			content := t.line(line - 1)
			if content == nil || string(bytes.TrimSpace(content)) != a.Source || a.Source == "" {
				continue
			}
			a.EndLine += line - a.Line
			a.Line = line
			return true
		}
	}
	return false
}

// declaration returns the text of the declaration that a line stands in.
func declaration(t *text, line int) string {
	fset := token.NewFileSet()
	f, _ := parser.ParseFile(fset, "", t.data, parser.SkipObjectResolution)
	if f == nil {
		return ""
	}
	for _, d := range f.Decls {
		from, to := fset.Position(d.Pos()), fset.Position(d.End())
		if _, isFunc := d.(*ast.FuncDecl); isFunc && from.Line <= line && line <= to.Line {
			return string(t.data[from.Offset:to.Offset])
		}
	}
	return ""
}

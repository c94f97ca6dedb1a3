package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/resident"
	"github.com/interlock-go/interlock/cmd/internal/driver"
)

// module is what one module has to show. It does not change, except for refused.
type module struct {
	root       string
	env, flags []string           // of the go command
	all        []*finding.Finding // whether they are shown or not
	files      map[string]*shown  // by absolute file name
	notes      map[string]*noted  // by file name
	refused    refusals
}

// shown is what is shown in one file.
type shown struct {
	text     *text // as it was analysed
	findings []*finding.Finding
}

// gather returns the findings of the packages that were asked for, by the file of
// their first place.
func (w *worker) gather(m *resident.Module, r *driver.Result) *module {
	out := &module{
		root: m.Root(), env: m.Env(), flags: m.BuildFlags(),
		files: map[string]*shown{}, notes: map[string]*noted{},
	}
	out.all = w.stores[out.root].join(out.root, r.Findings, func(name string) *text {
		if data := m.Text(name); data != nil {
			return newText(data)
		}
		return nil
	})
	for _, name := range w.server.docs.names() {
		if data := m.Text(name); data != nil {
			out.notes[name] = &noted{newText(data), m.Notes(name)}
		}
	}
	// What is shown, each finding in the file of its first place.
	hints := w.server.set().in(w.repositories[out.root]).Hints
	for _, f := range out.all {
		at, ok := primary(f)
		if !ok || f.Status == finding.Lead || f.Level == finding.Hint && !hints {
			continue
		}
		name := absolute(out.root, at.File)
		data := m.Text(name)
		if data == nil || !w.asked[out.root][packageOf(m, name)] {
			continue
		}
		if out.files[name] == nil {
			out.files[name] = &shown{text: newText(data)}
		}
		out.files[name].findings = append(out.files[name].findings, f)
	}
	return out
}

// primary returns the place of a finding to look at: its first access, or where the
// first lock of a cycle is taken.
func primary(f *finding.Finding) (finding.Position, bool) {
	switch {
	case len(f.Accesses) > 0:
		return f.Accesses[0].Position, true
	case len(f.Cycle) > 0:
		return f.Cycle[0].Position, true
	}
	return finding.Position{}, false
}

// absolute returns the name of a finding's file.
func absolute(root, file string) string {
	name := filepath.FromSlash(file)
	if !filepath.IsAbs(name) {
		name = filepath.Join(root, name)
	}
	return name
}

// publish shows what a module has, in place of what it has shown before.
func (s *server) publish(ctx context.Context, m *module) {
	s.mu.Lock()
	if s.shown == nil {
		s.shown = map[string]*module{}
	}
	before := s.shown[m.root]
	s.shown[m.root] = m
	s.mu.Unlock()
	names := map[string]bool{}
	for name := range m.files {
		names[name] = true
	}
	for name := range m.notes {
		names[name] = true // it is open: that there is nothing is worth saying
	}
	if before != nil {
		for name := range before.files {
			names[name] = true // perhaps with nothing left
		}
	}
	for name := range names {
		now, version := s.docs.current(name)
		p := &protocol.PublishDiagnosticsParams{URI: s.docs.uri(name), Diagnostics: []protocol.Diagnostic{}}
		if version != nil {
			p.Version = protocol.NewOptional(*version)
		}
		if in := m.files[name]; in != nil && now != nil {
			p.Diagnostics = s.diagnostics(m.root, in, now)
		}
		s.lost(s.client.PublishDiagnostics(ctx, p))
	}
}

// diagnostics returns what is shown of a file whose text is now another one, perhaps.
func (s *server) diagnostics(root string, in *shown, now *text) []protocol.Diagnostic {
	list := []protocol.Diagnostic{}
	moved := in.text.follow(now)
	for _, f := range in.findings {
		at, _ := primary(f)
		if place, ok := moved.place(at); ok {
			list = append(list, s.diagnostic(root, f, now.span(place)))
		}
	}
	slices.SortStableFunc(list, func(a, b protocol.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Range.Start.Line, b.Range.Start.Line),
			cmp.Compare(a.Range.Start.Character, b.Range.Start.Character))
	})
	return list
}

// reference is the data of a diagnostic, from which its code actions are found.
type reference struct {
	Root string `json:"root"`
	ID   string `json:"id"` // of the finding
}

func (s *server) diagnostic(root string, f *finding.Finding, at protocol.Range) protocol.Diagnostic {
	data, err := json.Marshal(reference{root, f.ID})
	s.lost(err)
	message := f.Title
	if f.Message != "" {
		message += ". " + f.Message
	}
	return protocol.Diagnostic{
		Range: at, Severity: severity(f), Code: protocol.String(string(f.Code)),
		CodeDescription:    protocol.CodeDescription{Href: page(f.Code)},
		Source:             protocol.NewOptional("interlock"),
		Message:            protocol.String(message),
		RelatedInformation: s.related(root, f),
		Data:               data,
	}
}

// page returns where a code is explained.
func page(code finding.Code) uri.URI {
	return uri.URI("https://github.com/interlock-go/interlock/blob/main/docs/checks.md#" + strings.ToLower(string(code)))
}

func severity(f *finding.Finding) protocol.DiagnosticSeverity {
	switch {
	case f.Status == finding.Confirmed:
		return protocol.DiagnosticSeverityError
	case f.Level == finding.Hint:
		return protocol.DiagnosticSeverityHint
	}
	return protocol.DiagnosticSeverityWarning
}

// related lists the other places of a finding: accesses, acquisitions, and the ends of
// a section.
func (s *server) related(root string, f *finding.Finding) (list []protocol.DiagnosticRelatedInformation) {
	add := func(p finding.Position, format string, args ...any) {
		name := absolute(root, p.File)
		if now, _ := s.docs.current(name); now != nil && p.Line >= 1 {
			list = append(list, protocol.DiagnosticRelatedInformation{
				Location: protocol.Location{URI: s.docs.uri(name), Range: now.span(p)}, Message: fmt.Sprintf(format, args...),
			})
		}
	}
	for i, a := range f.Accesses {
		now, _ := s.docs.current(absolute(root, a.File))
		if i > 0 && now != nil && now.locate(&a) {
			add(a.Position, "%s", side(a))
		}
	}
	if sec := f.Section; sec != nil {
		add(sec.Entry, "the section begins here")
		add(sec.End, "the section ends here")
	}
	for i, e := range f.Cycle {
		if i > 0 || len(f.Accesses) > 0 {
			add(e.Position, "%s waits here for %s, with %s held", e.Function, finding.ShortLock(e.To), finding.ShortLock(e.From))
		}
		if e.Since != nil {
			add(*e.Since, "%s was locked here", finding.ShortLock(e.From))
		}
	}
	return list
}

// side describes an access that stands beside the first one.
func side(a finding.Access) string {
	text := string(a.Mode) + " of " + a.Expr + " in " + a.Function
	if len(a.Locks) > 0 {
		text += ", with " + strings.Join(a.Locks, " and ") + " held"
	}
	if a.Role != "" {
		text += " (" + a.Role + ")"
	}
	return text
}

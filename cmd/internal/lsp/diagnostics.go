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

// module is the findings and notes of one module. It does not change, except for patches. Files go by their absolute
// names.
type module struct {
	root       string
	env, flags []string                      // of the go command
	all        []*finding.Finding            // whether they are shown or not
	texts      map[string]*text              // as they were analysed; nil where that is unknown
	files      map[string][]*finding.Finding // shown in each
	notes      map[string][]resident.Note    // on each that is open
	patches    patches
}

// gather returns the findings of the packages that were asked for, by the file of
// their first place.
func (w *worker) gather(m *resident.Module, r *driver.Result) *module {
	out := &module{
		root: m.Root(), env: m.Env(), flags: m.BuildFlags(),
		texts: map[string]*text{}, files: map[string][]*finding.Finding{}, notes: map[string][]resident.Note{},
	}
	// Each text once: findings have many places in few files.
	analysed := func(name string) *text {
		t, known := out.texts[name]
		if !known {
			if data := m.Text(name); data != nil {
				t = newText(data)
			}
			out.texts[name] = t
		}
		return t
	}
	out.all = w.stores[out.root].join(out.root, r.Findings, analysed)
	for _, name := range w.server.docs.names() {
		if analysed(name) != nil {
			out.notes[name] = m.Notes(name)
		}
	}
	// Each finding is shown in the file of its first place.
	possible := w.server.set().in(w.repositories[out.root]).Possible
	for _, f := range out.all {
		at, ok := primary(f)
		if !ok || f.IsLead() || f.Minor() && !possible {
			continue
		}
		name := absolute(out.root, at.File)
		if analysed(name) == nil || !w.asked[out.root][packageOf(m, name)] {
			continue
		}
		out.files[name] = append(out.files[name], f)
		for _, p := range otherPlaces(f) {
			analysed(absolute(out.root, p.File))
		}
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

// publish shows the findings of a module, in place of those that it has shown before.
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
	v := s.view(m)
	for name := range names {
		in := v.file(name)
		p := &protocol.PublishDiagnosticsParams{URI: in.uri, Diagnostics: v.diagnostics(name)}
		if in.version != nil {
			p.Version = protocol.NewOptional(*in.version)
		}
		s.lost(s.client.PublishDiagnostics(ctx, p))
	}
}

// diagnostics returns the diagnostics of a file.
func (v *view) diagnostics(name string) []protocol.Diagnostic {
	list := []protocol.Diagnostic{}
	for _, f := range v.module.files[name] {
		at, _ := primary(f)
		if place, ok := v.place(at); ok {
			list = append(list, v.diagnostic(f, place.Range))
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

func (v *view) diagnostic(f *finding.Finding, at protocol.Range) protocol.Diagnostic {
	data, err := json.Marshal(reference{v.module.root, f.ID})
	v.server.lost(err)
	message := f.Title
	if f.Message != "" {
		message += ". " + f.Message
	}
	return protocol.Diagnostic{
		Range: at, Severity: severity(f), Code: protocol.String(string(f.Code)),
		CodeDescription:    protocol.CodeDescription{Href: uri.URI(f.Code.Page())},
		Source:             protocol.NewOptional("interlock"),
		Message:            protocol.String(message),
		RelatedInformation: v.related(f),
		Data:               data,
	}
}

func severity(f *finding.Finding) protocol.DiagnosticSeverity {
	switch {
	case f.Status == finding.Confirmed:
		return protocol.DiagnosticSeverityError
	case f.Minor():
		return protocol.DiagnosticSeverityHint
	}
	return protocol.DiagnosticSeverityWarning
}

// related lists the other places of a finding: accesses, acquisitions, and the ends of
// a section.
func (v *view) related(f *finding.Finding) (list []protocol.DiagnosticRelatedInformation) {
	add := func(p finding.Position, format string, args ...any) {
		if place, ok := v.place(p); ok {
			list = append(list, protocol.DiagnosticRelatedInformation{Location: place, Message: fmt.Sprintf(format, args...)})
		}
	}
	for i, a := range f.Accesses {
		if i > 0 && v.locate(&a) {
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

// otherPlaces lists the places of a finding that may be related ones.
func otherPlaces(f *finding.Finding) []finding.Position {
	places := f.Places()
	if sec := f.Section; sec != nil {
		places = append(places, sec.Entry, sec.End)
	}
	for _, e := range f.Cycle {
		if e.Since != nil {
			places = append(places, *e.Since)
		}
	}
	return places
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

package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/resident"
)

// notes calls f with each note on a file, at its place in the text that the client has.
func (s *server) notes(name string, f func(resident.Note, protocol.Range)) {
	for _, m := range s.modules() {
		v := s.view(m)
		for _, n := range m.notes[name] {
			if at, ok := v.place(n.Position); ok {
				f(n, at.Range)
			}
		}
	}
}

// Hover returns the guard of the variable at a place, or the variables that the lock there guards.
func (s *server) Hover(_ context.Context, p *protocol.HoverParams) (hover *protocol.Hover, _ error) {
	here := protocol.Range{Start: p.Position, End: p.Position}
	s.notes(path(p.TextDocument.URI), func(n resident.Note, r protocol.Range) {
		if overlap(r, here) {
			hover = &protocol.Hover{
				Contents: &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: n.Text}, Range: &r,
			}
		}
	})
	return hover, nil
}

// InlayHint returns, if the user wants that, the guards of the fields and variables that
// are declared in a range.
func (s *server) InlayHint(_ context.Context, p *protocol.InlayHintParams) (list []protocol.InlayHint, _ error) {
	if !s.set().InlayHints {
		return nil, nil
	}
	name := path(p.TextDocument.URI)
	now, _ := s.docs.current(name)
	s.notes(name, func(n resident.Note, r protocol.Range) {
		if !n.Declares || n.Short == "" || !overlap(r, p.Range) {
			return
		}
		end := now.span(finding.Position{Line: int(r.Start.Line) + 1, Column: 1, EndLine: int(r.Start.Line) + 1,
			EndColumn: len(now.line(int(r.Start.Line))) + 1}).End
		list = append(list, protocol.InlayHint{
			Position: end, Label: protocol.String(n.Short), PaddingLeft: ptr(true),
			Tooltip: &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: n.Text},
		})
	})
	return list, nil
}

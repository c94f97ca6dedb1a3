package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Commands that the client may ask for.
const (
	fixNow  = "interlock.fix"     // apply the patch of a finding: for clients that cannot resolve actions
	explain = "interlock.explain" // show the text about a code
)

// explaining is the kind of an action that changes nothing.
const explaining protocol.CodeActionKind = "interlock.explain"

// CodeAction lists the actions for the findings in a range: the patch, which
// is the preferred one, if there is one; a comment that accepts the finding; and its
// explanation. None of them is a source.fixAll, which editors apply without asking.
func (s *server) CodeAction(ctx context.Context, p *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	var list []protocol.CommandOrCodeAction
	add := func(a *protocol.CodeAction) {
		if a != nil && wanted(p.Context.Only, *a.Kind) {
			list = append(list, a)
		}
	}
	preferred := false
	// Some clients name the diagnostics of the whole line, wherever the cursor is in it.
	var named []string
	for _, d := range p.Context.Diagnostics {
		var ref reference
		if json.Unmarshal(d.Data, &ref) == nil {
			named = append(named, ref.ID)
		}
	}
	for _, at := range s.findingsIn(path(p.TextDocument.URI), func(f *finding.Finding, r protocol.Range) bool {
		return overlap(r, p.Range) || slices.Contains(named, f.ID)
	}) {
		if !isGenerated(at.file.now) { // its generator writes it anew
			if wanted(p.Context.Only, protocol.CodeActionKindQuickFix) { // a patch takes time
				fix := s.fixAction(ctx, at)
				if fix != nil && preferred {
					fix.IsPreferred = nil // of several findings, the first patch
				}
				preferred = preferred || fix != nil && fix.IsPreferred != nil
				add(fix)
			}
			add(s.ignoreAction(at))
		}
		add(s.explainAction(at))
	}
	return list, nil
}

// isGenerated reports whether a file says that it is generated.
func isGenerated(t *text) bool {
	f, _ := parser.ParseFile(token.NewFileSet(), "", t.data, parser.PackageClauseOnly|parser.ParseComments)
	return f != nil && ast.IsGenerated(f)
}

// wanted reports whether the client asks for actions of a kind: of all, or of one that
// the kind is a part of.
func wanted(only []protocol.CodeActionKind, kind protocol.CodeActionKind) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(k protocol.CodeActionKind) bool {
		return k == "" || k == kind || bytes.HasPrefix([]byte(kind), []byte(k+"."))
	})
}

// place is a finding as the client shows it.
type place struct {
	module     *module
	finding    *finding.Finding
	file       *viewed
	diagnostic protocol.Diagnostic
}

// findingsIn lists the findings that are shown in a file, as far as wanted reports true of them and their range.
func (s *server) findingsIn(name string, wanted func(*finding.Finding, protocol.Range) bool) (list []place) {
	for _, m := range s.modules() {
		v := s.view(m)
		for _, f := range m.files[name] {
			at, _ := primary(f)
			if here, ok := v.place(at); ok && wanted(f, here.Range) {
				list = append(list, place{m, f, v.file(name), v.diagnostic(f, here.Range)})
			}
		}
	}
	return list
}

// modules returns the modules with all that they show.
func (s *server) modules() (list []*module) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.shown {
		list = append(list, m)
	}
	return list
}

// overlap reports whether two ranges share a place, ends included: a cursor at the end
// of a word means the word.
func overlap(a, b protocol.Range) bool { return !before(a.End, b.Start) && !before(b.End, a.Start) }

func before(a, b protocol.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Character < b.Character
}

// fixAction returns the patch of a finding, with an edit that is made when the client resolves it; nil if there is
// none. Clients that can show a disabled action show the reason.
func (s *server) fixAction(ctx context.Context, at place) *protocol.CodeAction {
	made := s.patchFor(ctx, at.module, at.finding)
	if made == nil || made.withheld != "" && !s.can.disabledActions {
		return nil
	}
	a := &protocol.CodeAction{
		Title: "Interlock: fix: " + at.finding.Title, Kind: ptr(protocol.CodeActionKindQuickFix), IsPreferred: ptr(true),
		Diagnostics: []protocol.Diagnostic{at.diagnostic}, Data: at.diagnostic.Data,
	}
	if made.withheld != "" {
		a.Disabled = protocol.CodeActionDisabled{Reason: made.withheld}
		a.IsPreferred = nil
	}
	if !s.can.resolveEdit {
		a.Command = protocol.Command{Title: a.Title, Command: fixNow, Arguments: []protocol.LSPAny{at.diagnostic.Data}}
	}
	return a
}

// ignoreAction returns the comment that accepts a finding, above its line. The reason is
// for the user to write.
func (s *server) ignoreAction(at place) *protocol.CodeAction {
	start := protocol.Position{Line: at.diagnostic.Range.Start.Line}
	content := at.file.now.line(int(start.Line))
	indent := content[:len(content)-len(bytes.TrimLeft(content, " \t"))]
	comment := fmt.Sprintf("%s//interlock:ignore %s say why here\n", indent, at.finding.Code)
	return &protocol.CodeAction{
		Title:       "Interlock: accept this " + string(at.finding.Code) + " with a comment",
		Kind:        ptr(protocol.CodeActionKindQuickFix),
		Diagnostics: []protocol.Diagnostic{at.diagnostic},
		Edit: edits([]fileEdits{{at.file.uri, at.file.version, []protocol.TextEdit{
			{Range: protocol.Range{Start: start, End: start}, NewText: comment},
		}}}),
	}
}

func (s *server) explainAction(at place) *protocol.CodeAction {
	title := "Interlock: explain " + string(at.finding.Code)
	code, err := json.Marshal(at.finding.Code)
	s.lost(err)
	return &protocol.CodeAction{
		Title: title, Kind: ptr(explaining), Diagnostics: []protocol.Diagnostic{at.diagnostic},
		Command: protocol.Command{Title: title, Command: explain, Arguments: []protocol.LSPAny{code}},
	}
}

// fileEdits are the edits of one file.
type fileEdits struct {
	uri     uri.URI
	version *int32 // nil if the client does not have the file open
	edits   []protocol.TextEdit
}

// edits returns one edit of all files, for the versions that it was made for.
func edits(files []fileEdits) *protocol.WorkspaceEdit {
	e := new(protocol.WorkspaceEdit)
	for _, f := range files {
		change := &protocol.TextDocumentEdit{TextDocument: protocol.OptionalVersionedTextDocumentIdentifier{
			TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: f.uri}, Version: f.version,
		}}
		for _, one := range f.edits {
			change.Edits = append(change.Edits, &one)
		}
		e.DocumentChanges = append(e.DocumentChanges, change)
	}
	return e
}

// CodeActionResolve makes the patch of an action.
func (s *server) CodeActionResolve(ctx context.Context, a *protocol.CodeAction) (*protocol.CodeAction, error) {
	if a.Edit != nil || len(a.Data) == 0 {
		return a, nil
	}
	edit, err := s.fix(ctx, a.Data)
	if err != nil {
		return nil, err
	}
	a.Edit = edit
	return a, nil
}

// ExecuteCommand runs one of the commands that actions and lenses name.
func (s *server) ExecuteCommand(ctx context.Context, p *protocol.ExecuteCommandParams) (protocol.LSPAny, error) {
	if len(p.Arguments) == 0 {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "the command "+p.Command+" needs an argument")
	}
	switch p.Command {
	case fixNow:
		edit, err := s.fix(ctx, p.Arguments[0])
		if err != nil {
			return nil, err
		}
		_, err = s.client.ApplyEdit(ctx, &protocol.ApplyWorkspaceEditParams{Label: ptr("Interlock"), Edit: *edit})
		return nil, err
	case runTest:
		return s.runTest(ctx, p.Arguments[0])
	case explain:
		return s.explain(ctx, p.Arguments[0])
	}
	return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "there is no command "+p.Command)
}

// explain shows the page about a code, and returns the text that `interlock explain` prints.
func (s *server) explain(ctx context.Context, argument []byte) (protocol.LSPAny, error) {
	var code finding.Code
	if err := json.Unmarshal(argument, &code); err != nil || !code.Known() {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "the argument of "+explain+" is a code, such as \"IL1001\"")
	}
	text := string(code) + ": " + code.Title() + "\n\n" + s.options.Explain(code)
	if s.can.showDocument {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		_, err := s.client.ShowDocument(ctx, &protocol.ShowDocumentParams{URI: uri.URI(code.Page()), External: ptr(true)})
		s.lost(err)
	} else {
		s.log(ctx, protocol.MessageTypeInfo, text)
	}
	return json.Marshal(text)
}

package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sourcegraph/go-diff/diff"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/resident"
	"github.com/interlock-go/interlock/patchgen"
)

// refusals are why findings of one module have no patch, since they were last shown.
// Safe for concurrent use.
type refusals struct {
	mu      sync.Mutex
	reasons map[string]string // by the finding's id; guarded by mu
}

func (m *module) withheld(f *finding.Finding) string {
	m.refused.mu.Lock()
	defer m.refused.mu.Unlock()
	return m.refused.reasons[f.ID]
}

func (m *module) refuse(f *finding.Finding, reason string) {
	m.refused.mu.Lock()
	defer m.refused.mu.Unlock()
	if m.refused.reasons == nil {
		m.refused.reasons = map[string]string{}
	}
	m.refused.reasons[f.ID] = reason
}

// failed is the answer to a request that was well-formed and cannot be served.
func failed(format string, args ...any) error {
	code := jsonrpc2.Code(protocol.LSPErrorCodesRequestFailed)
	return jsonrpc2.NewError(code, "Interlock: "+fmt.Sprintf(format, args...))
}

// fix makes the patch of the finding that a reference names, as one edit. It tries
// the strategies of `interlock fix` and runs nothing: the patched package is typed,
// judged by the passes, and analysed again.
func (s *server) fix(ctx context.Context, argument []byte) (*protocol.WorkspaceEdit, error) {
	// Two at a time would take twice the memory, and nobody asks for two.
	s.fixing.Lock()
	defer s.fixing.Unlock()
	var ref reference
	if err := json.Unmarshal(argument, &ref); err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "the argument is no finding: "+err.Error())
	}
	m, f := s.find(ref)
	if f == nil {
		return nil, failed("this finding is not there any more")
	}
	if unsaved := s.unsaved(m.root); unsaved != "" {
		return nil, failed("save %s first: patches are made for what is on disk", unsaved)
	}
	p := s.newProgress()
	defer p.end()
	p.say("making a patch")
	fix, files, err := s.patch(ctx, m, f)
	switch {
	case ctx.Err() != nil:
		return nil, protocol.ErrRequestCancelled
	case err != nil:
		return nil, failed("%v", err)
	case fix.Withheld != "":
		m.refuse(f, fix.Withheld)
		return nil, failed("no patch for this: %s", fix.Withheld)
	}
	return s.editOf(m, files)
}

// find returns the finding of a reference, as it is shown now.
func (s *server) find(ref reference) (*module, *finding.Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.shown[ref.Root]
	if m == nil {
		return nil, nil
	}
	for _, f := range m.all {
		if f.ID == ref.ID {
			return m, f
		}
	}
	return nil, nil
}

// unsaved returns the name of an open file of the module that is not as it is on disk; "" if
// there is none.
func (s *server) unsaved(root string) string {
	for name, data := range s.docs.buffers() {
		rel, err := filepath.Rel(root, name)
		if err != nil || !filepath.IsLocal(rel) || !strings.HasSuffix(name, ".go") {
			continue
		}
		if disk, err := os.ReadFile(name); err == nil && !bytes.Equal(disk, data) {
			return rel
		}
	}
	return ""
}

// patch returns the fix of all findings with the cause of f, and the contents of the
// files that it changes.
func (s *server) patch(ctx context.Context, m *module, f *finding.Finding) (*finding.Fix, map[string][]byte, error) {
	var group []*finding.Finding
	for _, g := range m.all {
		if patchgen.SameCause(g, f) {
			group = append(group, g)
		}
	}
	at, _ := primary(f)
	loaded, err := packages.Load(&packages.Config{
		Mode: patchgen.LoadMode, Context: ctx, Dir: m.root, Env: m.env, BuildFlags: m.flags, Tests: true,
	}, m.around[absolute(m.root, at.File)]...)
	if err != nil {
		return nil, nil, fmt.Errorf("loading the packages: %w", err)
	}
	module, err := patchgen.NewModule(m.root, loaded)
	if err != nil {
		return nil, nil, err
	}
	return patchgen.Fix(ctx, patchgen.Input{Module: module, Group: group, Checks: patchgen.Checks{
		Static: func(ctx context.Context, c patchgen.Candidate) error { return s.stillFound(ctx, m, f, c) },
	}})
}

// stillFound returns an error if the checks find the cause of f in the patched module.
func (s *server) stillFound(ctx context.Context, m *module, f *finding.Finding, c patchgen.Candidate) error {
	read := func(name string) ([]byte, error) {
		if rel, err := filepath.Rel(c.Root, name); err == nil {
			if data, ok := c.Files[filepath.ToSlash(rel)]; ok {
				return data, nil
			}
		}
		return s.docs.read(name)
	}
	buffers := func() map[string][]byte {
		all := map[string][]byte{}
		for rel, data := range c.Files {
			all[c.Path(rel)] = data
		}
		return all
	}
	// Not the worker's module: it may be at work, and is to know nothing of patches.
	patched, err := resident.Load(ctx, resident.Options{
		Root: m.root, BuildFlags: m.flags, Env: m.env, Read: read, Buffers: buffers,
	})
	if err != nil {
		return errors.Join(patchgen.ErrCannotCheck, err)
	}
	at, _ := primary(f)
	if err := patched.Analyse(ctx, patched.PackageOf(absolute(m.root, at.File)), func(string) {}); err != nil {
		return err
	}
	r, err := patched.Findings()
	if err != nil {
		return errors.Join(patchgen.ErrCannotCheck, err)
	}
	if i := slices.IndexFunc(r.Findings, func(g *finding.Finding) bool { return patchgen.SameCause(g, f) }); i >= 0 {
		return fmt.Errorf("the checks still find %s: %s", r.Findings[i].Code, r.Findings[i].Title)
	}
	return nil
}

// editOf makes one edit of the patched files.
func (s *server) editOf(m *module, files map[string][]byte) (*protocol.WorkspaceEdit, error) {
	var all []fileEdits
	for _, rel := range slices.Sorted(maps.Keys(files)) {
		name := absolute(m.root, rel)
		now, version := s.docs.current(name)
		if now == nil {
			return nil, failed("%s is gone", rel)
		}
		list, err := changes(now, rel, files[rel])
		if err != nil {
			return nil, failed("%v", err)
		}
		all = append(all, fileEdits{s.docs.uri(name), version, list})
	}
	return edits(all), nil
}

// changes returns the edits that make one text of another, as small as the lines allow:
// marks and cursors elsewhere stay where they are.
func changes(from *text, name string, to []byte) (list []protocol.TextEdit, err error) {
	printed, err := patchgen.Diff(map[string][]byte{name: from.data}, map[string][]byte{name: to})
	if err != nil || printed == "" {
		return nil, err
	}
	file, err := diff.ParseFileDiff([]byte(printed))
	if err != nil {
		return nil, fmt.Errorf("reading the patch of %s: %w", name, err)
	}
	for _, h := range file.Hunks {
		line := int(h.OrigStartLine) - 1
		for body := slices.Collect(bytes.Lines(h.Body)); len(body) > 0; {
			if body[0][0] == ' ' {
				line, body = line+1, body[1:]
				continue
			}
			// A run of lines that go and come is one edit.
			gone, added := 0, ""
			for len(body) > 0 && body[0][0] != ' ' {
				if body[0][0] == '-' {
					gone++
				} else if body[0][0] == '+' {
					added += string(body[0][1:])
				}
				body = body[1:]
			}
			list = append(list, protocol.TextEdit{NewText: added, Range: protocol.Range{
				Start: protocol.Position{Line: uint32(line)}, End: protocol.Position{Line: uint32(line + gone)},
			}})
			line += gone
		}
	}
	return list, nil
}

package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/resident"
	"github.com/interlock-go/interlock/analyzers/summary"
	"github.com/interlock-go/interlock/cmd/internal/driver"
	"github.com/interlock-go/interlock/patchgen"
	"github.com/interlock-go/interlock/patchgen/quickfix"
)

// refusals are why findings of one module have no patch, since they were last shown.
// Safe for concurrent use.
type refusals struct {
	mu      sync.Mutex
	reasons map[string]string // by the finding's id; guarded by mu
}

// withheld returns why a finding has no patch; "" if nothing is known against one. Package quickfix, which knows
// no tests, would take any patch of one for checked.
func (m *module) withheld(f *finding.Finding) string {
	if at, _ := primary(f); strings.HasSuffix(at.File, "_test.go") {
		return "it is in a test, which `interlock fix` patches"
	}
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
	if reason := m.withheld(f); reason != "" {
		return nil, failed("no patch for this: %s", reason)
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
// files that it changes. It does not ask the worker's module, which may be at work and is
// to know nothing of patches.
func (s *server) patch(ctx context.Context, m *module, f *finding.Finding) (*finding.Fix, map[string][]byte, error) {
	var group []*finding.Finding
	for _, g := range m.all {
		if patchgen.SameCause(g, f) {
			group = append(group, g)
		}
	}
	at, _ := primary(f)
	q, err := quickfix.Open(ctx, quickfix.Options{
		File: absolute(m.root, at.File),
		Options: resident.Options{
			Root: m.root, BuildFlags: m.flags, Env: m.env, Read: s.docs.read, Buffers: s.docs.buffers,
		},
		Findings: func(list []*summary.Summary) []*finding.Finding { return driver.Join(m.root, list).Findings },
	})
	if err != nil {
		return nil, nil, err
	}
	return q.Fix(ctx, group, nil)
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
		changes, err := quickfix.Edits(rel, now.data, files[rel])
		if err != nil {
			return nil, failed("%v", err)
		}
		var list []protocol.TextEdit
		for _, c := range changes {
			list = append(list, protocol.TextEdit{NewText: c.New, Range: protocol.Range{
				Start: protocol.Position{Line: uint32(c.Line)}, End: protocol.Position{Line: uint32(c.Line + c.Gone)},
			}})
		}
		all = append(all, fileEdits{s.docs.uri(name), version, list})
	}
	return edits(all), nil
}

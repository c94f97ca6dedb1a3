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

// patches are those that were tried for the findings of one module, since they were last shown.
// Safe for concurrent use.
type patches struct {
	mu   sync.Mutex
	made map[string]*patched // by the finding's id; guarded by mu
}

// patched is a patch that was made, or the reason why there is none. It does not change.
type patched struct {
	withheld      string
	before, after map[string][]byte // the files that it changes, by slash path below the root
}

func (p *patches) get(id string) *patched {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.made[id]
}

func (p *patches) put(id string, one *patched) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made == nil {
		p.made = map[string]*patched{}
	}
	p.made[id] = one
}

// failed is the answer to a request that was well-formed and cannot be served.
func failed(format string, args ...any) error {
	code := jsonrpc2.Code(protocol.LSPErrorCodesRequestFailed)
	return jsonrpc2.NewError(code, "Interlock: "+fmt.Sprintf(format, args...))
}

// fix returns the patch of the finding that a reference names, as one edit.
func (s *server) fix(ctx context.Context, argument []byte) (*protocol.WorkspaceEdit, error) {
	var ref reference
	if err := json.Unmarshal(argument, &ref); err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "the argument is no finding: "+err.Error())
	}
	m, f := s.find(ref)
	if f == nil {
		return nil, failed("this finding is not there any more")
	}
	made := s.patchFor(ctx, m, f)
	switch {
	case made == nil:
		return nil, protocol.ErrRequestCancelled
	case made.withheld != "":
		return nil, failed("no patch for this: %s", made.withheld)
	}
	return s.editOf(m, made.after)
}

// patchFor returns the patch of a finding, or why there is none; nil if ctx ended before that was known. It tries
// the strategies of `interlock fix` and runs nothing: the patched package is typed, judged by the passes, and
// analysed again.
func (s *server) patchFor(ctx context.Context, m *module, f *finding.Finding) *patched {
	// Package quickfix, which knows no tests, would take any patch of one for checked.
	if at, _ := primary(f); strings.HasSuffix(at.File, "_test.go") {
		return &patched{withheld: "it is in a test, which `interlock fix` patches"}
	}
	if unsaved := s.unsaved(m.root); unsaved != "" {
		return &patched{withheld: "save " + unsaved + " first: patches are made for what is on disk"}
	}
	// Two at a time would take twice the memory, and nobody asks for two.
	s.fixing.Lock()
	defer s.fixing.Unlock()
	if made := m.patches.get(f.ID); made != nil && s.unchanged(m, made.before) {
		return made
	}
	if ctx.Err() != nil {
		return nil
	}
	p := s.newProgress()
	defer p.end()
	p.say("making a patch")
	made, err := s.patch(ctx, m, f)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		made = &patched{withheld: err.Error()}
	}
	m.patches.put(f.ID, made)
	return made
}

// unchanged reports whether the files are as they were when they were patched.
func (s *server) unchanged(m *module, files map[string][]byte) bool {
	for rel, data := range files {
		if now, err := s.docs.read(absolute(m.root, rel)); err != nil || !bytes.Equal(now, data) {
			return false
		}
	}
	return true
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

// patch makes the patch of all findings with the cause of f. It does not ask the worker's module, which may be at
// work and is to know nothing of patches.
func (s *server) patch(ctx context.Context, m *module, f *finding.Finding) (*patched, error) {
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
		return nil, err
	}
	fix, files, err := q.Fix(ctx, group, nil)
	if err != nil {
		return nil, err
	}
	made := &patched{withheld: fix.Withheld, before: map[string][]byte{}, after: files}
	for rel := range files {
		if made.before[rel], err = s.docs.read(absolute(m.root, rel)); err != nil {
			return nil, err
		}
	}
	return made, nil
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

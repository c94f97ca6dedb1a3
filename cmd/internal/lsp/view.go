package lsp

import (
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// view is what a module shows, seen in the texts that the client has at one moment. Each file is read and compared
// once. It belongs to one request, and is not safe for concurrent use.
type view struct {
	server *server
	module *module
	files  map[string]*viewed // by absolute name
}

// viewed is one file of a view.
type viewed struct {
	uri     uri.URI
	now     *text  // nil if it cannot be read
	version *int32 // nil if the client does not have it open
	then    *text  // as it was analysed; nil if that is unknown
	moved   moves  // from then to now
}

func (s *server) view(m *module) *view { return &view{s, m, map[string]*viewed{}} }

// file returns a file by its absolute name.
func (v *view) file(name string) *viewed {
	in := v.files[name]
	if in == nil {
		in = &viewed{uri: v.server.docs.uri(name), then: v.module.texts[name]}
		in.now, in.version = v.server.docs.current(name)
		if in.then != nil && in.now != nil {
			in.moved = in.then.follow(in.now)
		}
		v.files[name] = in
	}
	return in
}

// place returns where a place of a finding is in the client's text. It reports false where its line is no longer the
// same. A file that was not analysed in this session is taken for unchanged.
func (v *view) place(p finding.Position) (at protocol.Location, ok bool) {
	in := v.file(absolute(v.module.root, p.File))
	switch {
	case in.now == nil || p.Line < 1:
		return at, false
	case in.then != nil:
		if p, ok = in.moved.place(p); !ok {
			return at, false
		}
	}
	return protocol.Location{URI: in.uri, Range: in.now.span(p)}, true
}

// locate sets the place of an access to where its expression is in the text that was analysed last: a finding of
// another package is about the text that the file had when that package was analysed. It reports false where it is
// not there.
func (v *view) locate(a *finding.Access) bool {
	in := v.file(absolute(v.module.root, a.File))
	switch {
	case in.then != nil:
		return in.then.locate(a)
	case in.now != nil:
		return in.now.locate(a)
	}
	return false
}

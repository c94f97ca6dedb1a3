package lsp

import (
	"os"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// documents are the files that the client has open. Safe for concurrent use.
type documents struct {
	mu   sync.Mutex
	open map[string]document // by file name; guarded by mu
}

// document is one state of an open file. It does not change.
type document struct {
	uri     uri.URI // as the client writes it
	version int32
	*text
}

// path returns the name of the file that a client names; "" for a document that is no
// file, as a buffer without a name.
func path(u uri.URI) string {
	if !u.IsFile() {
		return ""
	}
	return u.FsPath()
}

func (d *documents) put(name string, doc document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[name] = doc
}

// change applies edits in their order.
func (d *documents) change(name string, version int32, changes []protocol.TextDocumentContentChangeEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, isOpen := d.open[name]
	if !isOpen {
		return // the client has not opened it: there is nothing that the edit refers to
	}
	for _, c := range changes {
		doc.text = doc.text.apply(c)
	}
	doc.version = version
	d.open[name] = doc
}

func (d *documents) close(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, name)
}

// get returns an open document.
func (d *documents) get(name string) (document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, isOpen := d.open[name]
	return doc, isOpen
}

// names lists the open files.
func (d *documents) names() (names []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range d.open {
		names = append(names, name)
	}
	return names
}

// buffers returns the contents of the open files, by name.
func (d *documents) buffers() map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string][]byte{}
	for name, doc := range d.open {
		all[name] = doc.data
	}
	return all
}

// read returns the content of a file: the client's, if it is open there.
func (d *documents) read(name string) ([]byte, error) {
	if doc, isOpen := d.get(name); isOpen {
		return doc.data, nil
	}
	return os.ReadFile(name)
}

// current returns the text of a file, and the version that the client knows it by, if
// it is open there; nil if it cannot be read.
func (d *documents) current(name string) (*text, *int32) {
	if doc, isOpen := d.get(name); isOpen {
		return doc.text, &doc.version
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil
	}
	return newText(data), nil
}

// uri returns the client's name of a file.
func (d *documents) uri(name string) uri.URI {
	if doc, isOpen := d.get(name); isOpen {
		return doc.uri
	}
	return uri.File(name)
}

// view is the findings of a module, seen in the texts that the client has at one moment. Each file is read and compared
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

package lsp

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"golang.org/x/tools/txtar"
)

// deadline is how long a test waits for what the server has to do.
const deadline = time.Minute

// editor is a client of a server that runs in this process, over pipes.
type editor struct {
	protocol.UnimplementedClient
	t      *testing.T
	root   string
	server protocol.Server
	// onShown, if set, sees what is shown, with mu held.
	onShown func(file string, version int32, list []protocol.Diagnostic)
	ended   chan error // of Serve
	hangUp  func()     // see stop

	mu       sync.Mutex
	arrived  *sync.Cond                       // something below has changed
	shown    map[string][]protocol.Diagnostic // by file, relative to root; guarded by mu
	times    map[string]int                   // how often; guarded by mu
	messages []string                         // guarded by mu
	said     []string                         // of progress; guarded by mu
	settings map[string]any                   // guarded by mu
	onBegin  func()                           // if set, is called once, before progress is accepted; guarded by mu
	versions map[string]int32                 // guarded by mu
}

// unpack lays out an archive in a folder of its own.
func unpack(t testing.TB, archive []byte) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse(archive).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// start serves an editor in the folder root.
func start(t *testing.T, root string, o Options) *editor {
	t.Helper()
	return connect(t, root, func(ctx context.Context, in, out *os.File) error { return Serve(ctx, in, out, o) })
}

// startProgram has the program serve an editor in the folder root.
func startProgram(t *testing.T, root, program string) *editor {
	t.Helper()
	return connect(t, root, func(ctx context.Context, in, out *os.File) error {
		cmd := exec.CommandContext(ctx, program, "lsp")
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = root, in, out, os.Stderr
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "PWD="+root)
		return cmd.Run()
	})
}

// connect starts an editor in the folder root with a server.
func connect(t *testing.T, root string, serve func(ctx context.Context, in, out *os.File) error) *editor {
	t.Helper()
	// Pipes of the system, as they are between processes: both ends may write at the same time.
	toServer, fromClient, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	toClient, fromServer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	e := &editor{t: t, root: root, ended: make(chan error, 1), shown: map[string][]protocol.Diagnostic{},
		times: map[string]int{}, versions: map[string]int32{}, settings: map[string]any{"possible": true}}
	e.arrived = sync.NewCond(&e.mu)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { e.ended <- serve(ctx, toServer, fromServer) }()
	conn := jsonrpc2.NewConn(jsonrpc2.NewStream(&stdio{toClient, fromClient, func() {}}), jsonrpc2.WithCodec(codec{}))
	conn.Go(ctx, protocol.ClientHandler(e, jsonrpc2.MethodNotFoundHandler))
	e.server = protocol.ServerDispatcher(conn)
	e.hangUp = func() { // and take in all that the server has sent
		fromServer.Close()
		<-conn.Done()
	}
	t.Cleanup(func() {
		cancel()
		fromClient.Close()
		fromServer.Close()
	})
	_, err = e.server.Initialize(ctx, &protocol.InitializeParams{Capabilities: protocol.ClientCapabilities{
		Window: &protocol.WindowClientCapabilities{WorkDoneProgress: ptr(true)},
		Workspace: &protocol.WorkspaceClientCapabilities{Configuration: ptr(true),
			DidChangeWatchedFiles: &protocol.DidChangeWatchedFilesClientCapabilities{DynamicRegistration: ptr(true)}},
		TextDocument: &protocol.TextDocumentClientCapabilities{CodeAction: &protocol.CodeActionClientCapabilities{
			DisabledSupport: ptr(true),
			ResolveSupport:  protocol.ClientCodeActionResolveOptions{Properties: []string{"edit"}},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.server.Initialized(ctx, &protocol.InitializedParams{}); err != nil {
		t.Fatal(err)
	}
	return e
}

// stop ends the session as clients do.
func (e *editor) stop() {
	e.t.Helper()
	if err := e.server.Shutdown(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
	if err := e.server.Exit(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
	select {
	case err := <-e.ended:
		if err != nil {
			e.t.Error(err)
		}
	case <-time.After(deadline):
		e.t.Fatal("the server goes on after exit")
	}
	e.hangUp()
}

func (e *editor) change(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
	e.arrived.Broadcast()
}

// PublishDiagnostics implements [protocol.Client].
func (e *editor) PublishDiagnostics(_ context.Context, p *protocol.PublishDiagnosticsParams) error {
	for i := range p.Diagnostics { // the connection uses for its next message what these are parts of
		p.Diagnostics[i].Data = slices.Clone(p.Diagnostics[i].Data)
	}
	e.change(func() {
		name := e.relative(p.URI)
		e.shown[name] = p.Diagnostics
		e.times[name]++
		if v, ok := p.Version.Get(); ok && e.onShown != nil {
			e.onShown(name, v, p.Diagnostics)
		}
	})
	return nil
}

// ShowMessage implements [protocol.Client].
func (e *editor) ShowMessage(_ context.Context, p *protocol.ShowMessageParams) error {
	e.change(func() { e.messages = append(e.messages, p.Message) })
	return nil
}

// LogMessage implements [protocol.Client].
func (e *editor) LogMessage(_ context.Context, p *protocol.LogMessageParams) error {
	e.change(func() { e.messages = append(e.messages, "log: "+p.Message) })
	return nil
}

// WorkDoneProgressCreate implements [protocol.Client].
func (e *editor) WorkDoneProgressCreate(context.Context, *protocol.WorkDoneProgressCreateParams) error {
	e.mu.Lock()
	f := e.onBegin
	e.onBegin = nil
	e.mu.Unlock()
	if f != nil {
		f()
	}
	return nil
}

// Progress implements [protocol.Client].
func (e *editor) Progress(_ context.Context, p *protocol.ProgressParams) error {
	e.change(func() { e.said = append(e.said, string(p.Value)) })
	return nil
}

// Configuration implements [protocol.Client].
func (e *editor) Configuration(context.Context, *protocol.ConfigurationParams) ([]protocol.LSPAny, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	data, err := protocol.Marshal(e.settings)
	return []protocol.LSPAny{data}, err
}

// RegisterCapability implements [protocol.Client].
func (e *editor) RegisterCapability(context.Context, *protocol.RegistrationParams) error { return nil }

func (e *editor) relative(u uri.URI) string {
	rel, err := filepath.Rel(e.root, u.FsPath())
	if err != nil {
		e.t.Error(err)
	}
	return filepath.ToSlash(rel)
}

func (e *editor) uri(name string) uri.URI {
	return uri.File(filepath.Join(e.root, filepath.FromSlash(name)))
}

func (e *editor) disk(name string) string {
	data, err := os.ReadFile(filepath.Join(e.root, filepath.FromSlash(name)))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(data)
}

// open opens a file as it is on disk.
func (e *editor) open(name string) {
	e.versions[name] = 1
	e.check(e.server.DidOpen(e.t.Context(), &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{
		URI: e.uri(name), LanguageID: "go", Version: 1, Text: e.disk(name)}}))
}

// edit changes the whole text of an open file.
func (e *editor) edit(name, text string) {
	e.versions[name]++
	e.check(e.server.DidChange(e.t.Context(), &protocol.DidChangeTextDocumentParams{
		TextDocument: protocol.VersionedTextDocumentIdentifier{Version: e.versions[name],
			TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: e.uri(name)}},
		ContentChanges: []protocol.TextDocumentContentChangeEvent{
			&protocol.TextDocumentContentChangeWholeDocument{Text: text}},
	}))
}

// save writes the text to disk, and says so.
func (e *editor) save(name, text string) {
	e.edit(name, text)
	e.check(os.WriteFile(filepath.Join(e.root, filepath.FromSlash(name)), []byte(text), 0o644))
	e.check(e.server.DidSave(e.t.Context(), &protocol.DidSaveTextDocumentParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: e.uri(name)}}))
}

func (e *editor) check(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// wait waits until ok reports true; it is called with mu held, after each change.
func (e *editor) wait(what string, ok func() bool) {
	e.t.Helper()
	timer := time.AfterFunc(deadline, func() { e.change(func() {}) })
	defer timer.Stop()
	end := time.Now().Add(deadline)
	e.mu.Lock()
	defer e.mu.Unlock()
	for !ok() {
		if time.Now().After(end) {
			e.t.Fatalf("waited too long for %s: shown %v, messages %q", what, e.shown, e.messages)
		}
		e.arrived.Wait()
	}
}

// codes returns what is shown in a file, as "line: code", lines from 1.
func (e *editor) codes(name string) (list []string) {
	for _, d := range e.shown[name] {
		code, _ := d.Code.(protocol.String)
		list = append(list, string(code))
	}
	return list
}

// expect waits until a file shows diagnostics with these codes, and returns them.
func (e *editor) expect(name string, codes ...string) []protocol.Diagnostic {
	e.t.Helper()
	e.wait(name+" to show "+strings.Join(codes, ", "), func() bool {
		return e.times[name] > 0 && slices.Equal(e.codes(name), codes)
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.shown[name]
}

// marked returns the source in the range of a diagnostic, by the rules of the specification.
func marked(t *testing.T, text string, r protocol.Range) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	if r.Start.Line != r.End.Line {
		t.Fatalf("range %v over lines", r)
	}
	units := utf16s(lines[r.Start.Line])
	return string(decode(units[r.Start.Character:r.End.Character]))
}

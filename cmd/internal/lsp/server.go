package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Options are the means of the program that the server is part of.
type Options struct {
	Version string                    // of this program
	Tool    string                    // this program, which runs tests; "" where they cannot be run
	From    []string                  // files with findings of campaigns, beside those that the settings name
	Explain func(finding.Code) string // the text about a code
	// Repository returns the settings of the repository around a module's root; nil if there can be none. An error
	// keeps the module from being analysed.
	Repository func(root string) (Repository, error)
}

// Repository is the settings of a repository for all its users. Settings of the client win.
type Repository struct {
	Tags     string
	Possible bool
}

// ErrNoShutdown is returned by [Serve] where the client ended the session without
// asking the server to shut down.
var ErrNoShutdown = errors.New("the client ended the session without a shutdown request")

// Serve serves one client until it ends the session. The error says why the session
// ended otherwise: the input is no JSON-RPC, or ended before the client said so.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	interrupted := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn := jsonrpc2.NewConn(newStream(&stdio{in, out, cancel}), jsonrpc2.WithCodec(codec{}))
	s := &server{options: o, client: protocol.ClientDispatcher(conn), docs: documents{open: map[string]document{}}}
	s.work = newWorker(s)
	var worker sync.WaitGroup
	worker.Go(func() { s.work.run(ctx) })
	// A client that exits does not close its side first; one that vanishes does.
	s.base, s.exited, s.running = ctx, make(chan struct{}), map[jsonrpc2.ID]func(){}
	conn.Go(ctx, s.handle)
	select {
	case <-conn.Done():
	case <-s.exited:
	case <-ctx.Done():
	}
	cancel()
	worker.Wait()
	return s.ended(interrupted, conn)
}

// ended returns why the session is over, which was perhaps interrupted.
func (s *server) ended(interrupted context.Context, conn jsonrpc2.Conn) error {
	select {
	case <-s.exited:
		if s.state != isShutDown {
			return ErrNoShutdown
		}
		return nil
	default:
	}
	if interrupted.Err() != nil {
		return nil
	}
	// The connection closes its streams, which ends everything else, before it has noted its error.
	<-conn.Done()
	if err := conn.Err(); err != nil {
		return fmt.Errorf("reading the client's messages: %w", err)
	}
	return errors.New("the client's messages ended before it said that it exits")
}

// longestMessage is how many bytes a message of the client may take: many times the largest source file. A header
// without an end, or one that announces more than comes, is not read for ever.
const longestMessage = 64 << 20

// stream is the framing of LSP without the batches of JSON-RPC, which LSP does not have: as it embeds no more than
// the interface, the connection takes an array for no message.
type stream struct {
	jsonrpc2.Stream
	in *limited
}

func newStream(both *stdio) *stream {
	in := &limited{ReadWriteCloser: both}
	return &stream{jsonrpc2.NewStream(in), in}
}

// Read implements [jsonrpc2.Stream]. It answers a frame that holds no message with an error, and reads on. Where the
// framing is lost, nobody knows where the next message begins: that is an error, which ends the session.
func (s *stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	for {
		s.in.left = longestMessage
		m, n, err := s.Stream.Read(ctx)
		fault := (*jsonrpc2.Error)(nil)
		if errors.Is(err, jsonrpc2.ErrInvalidHeader) {
			err = fmt.Errorf("a message has no header with its length, so that the next one cannot be found: %w", err)
		}
		if !errors.As(err, &fault) {
			return m, n, err
		}
		if _, err := s.Write(ctx, jsonrpc2.NewResponse(jsonrpc2.ID{}, nil, fault)); err != nil {
			return nil, 0, err
		}
	}
}

// limited is a connection of which one message may read so much.
type limited struct {
	io.ReadWriteCloser
	left int
}

// Read implements [io.Reader].
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("a message of more than %d MB", longestMessage>>20)
	}
	n, err := l.ReadWriteCloser.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// stdio is both streams as one.
type stdio struct {
	io.Reader
	io.Writer
	closed func()
}

// Close ends the session. The streams are the caller's.
func (s *stdio) Close() error {
	s.closed()
	return nil
}

// codec is that of package protocol, which knows the unions of LSP.
type codec struct{}

// Marshal implements [jsonrpc2.Codec].
func (codec) Marshal(v any) ([]byte, error) {
	if raw, ok := v.(jsonrpc2.RawMessage); ok && raw != nil {
		return raw, nil
	}
	return protocol.Marshal(v)
}

// Unmarshal implements [jsonrpc2.Codec]. The connection uses data again for its next message, and values that
// are left as JSON are parts of it.
func (codec) Unmarshal(data []byte, v any) error {
	data = slices.Clone(data)
	if raw, ok := v.(*jsonrpc2.RawMessage); ok {
		*raw = data
		return nil
	}
	return protocol.Unmarshal(data, v)
}

// server answers one client. Messages are handled one after the other, so that fields
// that only they access need no lock; those that take long let the next ones in
// (see handle).
type server struct {
	protocol.UnimplementedServer
	options Options
	client  protocol.Client
	docs    documents
	work    *worker
	state   state         // of the session; the reading goroutine's alone
	exited  chan struct{} // closed when the client says so
	can     abilities     // of the client; set before there is any other goroutine that asks
	fixing  sync.Mutex    // held while a patch is made

	base context.Context // of the session

	mu       sync.Mutex
	running  map[jsonrpc2.ID]func() // ends a request that is being served; guarded by mu
	settings settings               // guarded by mu
	shown    map[string]*module     // as each module was shown last, by its root; guarded by mu
}

// state is how far the session is.
type state int

const (
	isNew state = iota
	isReady
	isShutDown
)

// abilities are those of the client.
type abilities struct {
	progress, configuration, watchFiles, showDocument, disabledActions, resolveEdit bool
}

// slow are the requests that may take long or ask the client something: the next
// messages are read while they are served.
var slow = []string{
	protocol.MethodCodeActionResolve, protocol.MethodWorkspaceExecuteCommand, protocol.MethodTextDocumentCodeAction,
	protocol.MethodInitialized, protocol.MethodWorkspaceDidChangeConfiguration,
}

// handle serves one message. A panic is a fault of the server, and the answer to
// that request alone.
//
// The context of the connection is used again for the next message, so that none may be
// derived from it ([jsonrpc2.CancelHandler] does that): each request has one of its own.
func (s *server) handle(of context.Context, req *jsonrpc2.Request) (result any, err error) {
	method := req.Method()
	if !req.IsCall() {
		// A notification has no answer; a fault in it does not end the session.
		defer func() {
			if err != nil {
				fmt.Fprintf(os.Stderr, "interlock: %s: %v\n", method, err)
				err = nil
			}
		}()
	}
	switch {
	case method == protocol.MethodExit:
	case method == protocol.MethodCancelRequest:
		return nil, s.end(req.Params())
	case s.state == isNew && method != protocol.MethodInitialize:
		return nil, jsonrpc2.NewError(jsonrpc2.ServerNotInitialized, "the first request has to be initialize")
	case s.state != isNew && method == protocol.MethodInitialize, s.state == isShutDown:
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the session is past that")
	}
	if slices.Contains(slow, method) {
		jsonrpc2.Async(of)
	}
	ctx, ended := s.begin(req)
	defer ended()
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(os.Stderr, "interlock: internal error in %s, please report it with what follows: %v\n%s", method, v,
				debug.Stack())
			err = jsonrpc2.NewError(jsonrpc2.InternalError, fmt.Sprintf("internal error in %s: %v", method, v))
		}
	}()
	return protocol.ServerHandler(s, jsonrpc2.MethodNotFoundHandler)(ctx, req)
}

// begin returns the context of a request, and a function to call when it has been served.
func (s *server) begin(req *jsonrpc2.Request) (context.Context, func()) {
	ctx, cancel := context.WithCancel(s.base)
	if !req.IsCall() {
		return ctx, cancel
	}
	id := req.ID()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[id] = cancel
	return ctx, func() {
		s.mu.Lock()
		delete(s.running, id)
		s.mu.Unlock()
		cancel()
	}
}

// end cancels the request that the client names.
func (s *server) end(params []byte) error {
	var p protocol.CancelParams
	if err := protocol.Unmarshal(params, &p); err != nil {
		return err
	}
	var id jsonrpc2.ID
	switch v := p.ID.(type) {
	case protocol.Integer:
		id = jsonrpc2.NewNumberID(int64(v))
	case protocol.String:
		id = jsonrpc2.NewStringID(string(v))
	}
	s.mu.Lock()
	cancel := s.running[id]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	return nil
}

func (s *server) Initialize(_ context.Context, p *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	s.state = isReady
	s.can = abilitiesOf(&p.Capabilities)
	first := settings{From: s.options.From}
	if err := first.read(p.InitializationOptions); err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, err.Error())
	}
	s.mu.Lock()
	s.settings = first
	s.mu.Unlock()
	return &protocol.InitializeResult{
		ServerInfo: protocol.ServerInfo{Name: "interlock", Version: protocol.NewOptional(s.options.Version)},
		Capabilities: protocol.ServerCapabilities{
			PositionEncoding: protocol.PositionEncodingKindUTF16,
			TextDocumentSync: &protocol.TextDocumentSyncOptions{
				OpenClose: ptr(true), Change: ptr(protocol.TextDocumentSyncKindIncremental), Save: protocol.Boolean(true),
			},
			HoverProvider:     protocol.Boolean(true),
			InlayHintProvider: protocol.Boolean(true),
			CodeLensProvider:  &protocol.CodeLensOptions{},
			Workspace: &protocol.WorkspaceOptions{WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
				Supported: ptr(true),
			}},
			CodeActionProvider: &protocol.CodeActionOptions{
				CodeActionKinds: []protocol.CodeActionKind{protocol.CodeActionKindQuickFix, explaining}, ResolveProvider: ptr(true),
			},
			ExecuteCommandProvider: protocol.ExecuteCommandOptions{Commands: []string{fixNow, explain, runTest}},
		},
	}, nil
}

func abilitiesOf(c *protocol.ClientCapabilities) (can abilities) {
	if w := c.Window; w != nil {
		can.progress = isTrue(w.WorkDoneProgress)
		can.showDocument = w.ShowDocument != nil && w.ShowDocument.Support
	}
	if w := c.Workspace; w != nil {
		can.configuration = isTrue(w.Configuration)
		can.watchFiles = w.DidChangeWatchedFiles != nil && isTrue(w.DidChangeWatchedFiles.DynamicRegistration)
	}
	if d := c.TextDocument; d != nil && d.CodeAction != nil {
		can.disabledActions = isTrue(d.CodeAction.DisabledSupport)
		can.resolveEdit = slices.Contains(d.CodeAction.ResolveSupport.Properties, "edit")
	}
	return can
}

func isTrue(b *bool) bool { return b != nil && *b }

func ptr[T any](v T) *T { return &v }

// Initialized asks the client for its settings, and to report files that others change.
func (s *server) Initialized(ctx context.Context, _ *protocol.InitializedParams) error {
	s.configure(ctx)
	if s.can.watchFiles {
		s.watchFiles(ctx)
	}
	return nil
}

func (s *server) Shutdown(context.Context) error {
	s.state = isShutDown
	return nil
}

func (s *server) Exit(context.Context) error {
	close(s.exited)
	return nil
}

// SetTrace is accepted: there is no trace.
func (s *server) SetTrace(context.Context, *protocol.SetTraceParams) error { return nil }

// Progress is accepted: the server asks for no progress of the client's.
func (s *server) Progress(context.Context, *protocol.ProgressParams) error { return nil }

func (s *server) DidOpen(_ context.Context, p *protocol.DidOpenTextDocumentParams) error {
	d := p.TextDocument
	if name := path(d.URI); name != "" {
		s.docs.put(name, document{d.URI, d.Version, newText([]byte(d.Text))})
		s.work.ask(false, name)
	}
	return nil
}

func (s *server) DidChange(_ context.Context, p *protocol.DidChangeTextDocumentParams) error {
	s.docs.change(path(p.TextDocument.URI), p.TextDocument.Version, p.ContentChanges)
	return nil
}

func (s *server) DidSave(_ context.Context, p *protocol.DidSaveTextDocumentParams) error {
	s.work.ask(true, path(p.TextDocument.URI))
	return nil
}

func (s *server) DidClose(_ context.Context, p *protocol.DidCloseTextDocumentParams) error {
	name := path(p.TextDocument.URI)
	s.docs.close(name)
	s.work.ask(false, name) // text that was typed and not saved is gone, and the lines with it
	return nil
}

// DidChangeWatchedFiles has the packages of files that others have changed analysed again.
func (s *server) DidChangeWatchedFiles(_ context.Context, p *protocol.DidChangeWatchedFilesParams) error {
	var names []string
	for _, c := range p.Changes {
		// The client itself saves files that it has open.
		if name := path(c.URI); name != "" {
			if _, isOpen := s.docs.get(name); !isOpen {
				names = append(names, name)
			}
		}
	}
	s.work.ask(false, names...)
	return nil
}

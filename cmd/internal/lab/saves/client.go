package saves

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// longest is how long a save may take.
const longest = 5 * time.Minute

// client is an editor that waits for diagnostics.
type client struct {
	protocol.UnimplementedClient
	ctx     context.Context
	server  protocol.Server
	process *exec.Cmd
	version int32
	shown   chan struct{} // diagnostics of a package have come
	refused chan error    // why a package was not analysed
}

// connect starts a server in a folder.
func connect(ctx context.Context, program, dir string) (*client, error) {
	c := &client{ctx: ctx, process: exec.CommandContext(ctx, program, "lsp"), shown: make(chan struct{}, 100),
		refused: make(chan error, 1)}
	c.process.Dir, c.process.Stderr = dir, os.Stderr
	c.process.Env = append(os.Environ(), "GOWORK=off", "PWD="+dir)
	in, err := c.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.process.Start(); err != nil {
		return nil, err
	}
	_, _, c.server = protocol.NewClient(ctx, c, jsonrpc2.NewStream(streams{out, in}))
	if _, err := c.server.Initialize(ctx, &protocol.InitializeParams{}); err != nil {
		return nil, err
	}
	return c, c.server.Initialized(ctx, &protocol.InitializedParams{})
}

// streams is both pipes as one.
type streams struct {
	io.Reader
	io.WriteCloser
}

// LogMessage implements [protocol.Client].
func (c *client) LogMessage(_ context.Context, p *protocol.LogMessageParams) error {
	if strings.HasPrefix(p.Message, "tests: ") {
		return nil // nobody waits for them
	}
	if p.Type != protocol.MessageTypeLog {
		c.refuse(p.Message)
		return nil
	}
	c.shown <- struct{}{}
	return nil
}

// ShowMessage implements [protocol.Client].
func (c *client) ShowMessage(_ context.Context, p *protocol.ShowMessageParams) error {
	c.refuse(p.Message)
	return nil
}

func (c *client) refuse(why string) {
	select {
	case c.refused <- errors.New(why):
	default:
	}
}

func (c *client) openFile(name, text string) (time.Duration, error) {
	c.version = 1
	start := time.Now()
	p := new(protocol.DidOpenTextDocumentParams)
	p.TextDocument = protocol.TextDocumentItem{URI: uri.File(name), LanguageID: "go", Version: 1, Text: text}
	if err := c.server.DidOpen(c.ctx, p); err != nil {
		return 0, err
	}
	return c.waitForReport(start)
}

// saveEdited edits a file and saves it, and returns how long its diagnostics took.
func (c *client) saveEdited(name, text string) (time.Duration, error) {
	c.version++
	p := &protocol.DidChangeTextDocumentParams{ContentChanges: []protocol.TextDocumentContentChangeEvent{
		&protocol.TextDocumentContentChangeWholeDocument{Text: text}}}
	p.TextDocument.URI, p.TextDocument.Version = uri.File(name), c.version
	if err := c.server.DidChange(c.ctx, p); err != nil {
		return 0, err
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return 0, err
	}
	for len(c.shown) > 0 {
		<-c.shown // of packages that an earlier save concerned too
	}
	start := time.Now()
	saved := new(protocol.DidSaveTextDocumentParams)
	saved.TextDocument.URI = uri.File(name)
	if err := c.server.DidSave(c.ctx, saved); err != nil {
		return 0, err
	}
	return c.waitForReport(start)
}

// waitForReport waits until the server has shown the diagnostics of a package without its tests, which it logs.
func (c *client) waitForReport(start time.Time) (time.Duration, error) {
	timeout := time.After(longest)
	for {
		select {
		case <-c.shown:
			return time.Since(start), nil
		case err := <-c.refused:
			return 0, err
		case <-timeout:
			return 0, errors.New("no diagnostics came; the file that is saved has to have some")
		case <-c.ctx.Done():
			return 0, c.ctx.Err()
		}
	}
}

// forgetPeak has VmHWM count from now on, where the system knows it.
func (c *client) forgetPeak() {
	const resetPeak = "5" // proc_pid_clear_refs(5)
	os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", c.process.Process.Pid), []byte(resetPeak), 0)
}

// memory returns one of the sizes that Linux knows of the server; 0 where the system does not say.
func (c *client) memory(name string) int64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.process.Process.Pid))
	for line := range strings.Lines(string(data)) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(line, name+": %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	return 0
}

func (c *client) close() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), 10*time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) == nil && c.server.Exit(ctx) == nil {
		c.process.Wait()
		return
	}
	c.process.Process.Kill()
	c.process.Wait()
}

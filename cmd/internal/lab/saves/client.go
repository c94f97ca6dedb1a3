package saves

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
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

	mu    sync.Mutex
	spent map[string]time.Duration // by pass, types, and all, since the counts began; guarded by mu
}

// connect starts a server in a folder.
func connect(ctx context.Context, program, dir string) (*client, error) {
	c := &client{ctx: ctx, process: exec.CommandContext(ctx, program, "lsp"), shown: make(chan struct{}, 100),
		refused: make(chan error, 1), spent: map[string]time.Duration{}}
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
	c.mu.Lock()
	for name, took := range phases(p.Message) {
		c.spent[name] += took
	}
	c.mu.Unlock()
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

// phase is a name with seconds in the server's log of an analysis.
var phase = regexp.MustCompile(`([a-z]+) (\d+\.\d+)`)

// phases reads where the time of an analysis went.
func phases(message string) map[string]time.Duration {
	all := map[string]time.Duration{}
	for _, m := range phase.FindAllStringSubmatch(message, -1) {
		seconds, _ := strconv.ParseFloat(m[2], 64) // a match is a number
		all[m[1]] = time.Duration(seconds * float64(time.Second))
	}
	return all
}

// takeSpent returns where the time went since it was last asked.
func (c *client) takeSpent() map[string]time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	spent := c.spent
	c.spent = map[string]time.Duration{}
	return spent
}

// idleMemory returns how much memory of the server is resident when it has nothing to do; 0 where the system
// does not say.
func (c *client) idleMemory() int64 {
	time.Sleep(2 * time.Second) // the server releases memory that it does not need
	return c.status("VmRSS")
}

// peakMemory returns how much memory of the server was resident at most since it was last asked, or since the
// start; 0 where the system does not say.
func (c *client) peakMemory() (int64, error) {
	most := c.status("VmHWM")
	const resetPeak = "5" // proc_pid_clear_refs(5)
	err := os.WriteFile(c.procFile("clear_refs"), []byte(resetPeak), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return most, err
}

// status returns one of the sizes that Linux knows of the server.
func (c *client) status(name string) int64 {
	data, _ := os.ReadFile(c.procFile("status"))
	for line := range strings.Lines(string(data)) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(line, name+": %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	return 0
}

// procFile returns the name of a file about the server.
func (c *client) procFile(name string) string {
	return fmt.Sprintf("/proc/%d/%s", c.process.Process.Pid, name)
}

// processor returns the CPU time of the server and of the go commands that it has run, tests included that nobody
// waits for; 0 where the system does not say.
func (c *client) processor() time.Duration {
	const tick = 10 * time.Millisecond // of /proc on Linux
	data, _ := os.ReadFile(c.procFile("stat"))
	_, after, _ := strings.Cut(string(data), ") ") // the name may hold spaces
	fields := strings.Fields(after)
	if len(fields) < 15 {
		return 0
	}
	var sum time.Duration
	for _, f := range fields[11:15] { // user and system time, its own and that of its children
		n, _ := strconv.ParseInt(f, 10, 64)
		sum += time.Duration(n) * tick
	}
	return sum
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

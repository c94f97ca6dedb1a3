package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"go.lsp.dev/protocol"
)

// patience is how long the server waits for an answer of the client that it can do without.
const patience = 5 * time.Second

// progress is one piece of work as the client shows it. It begins with the first word,
// so that work that is done at once is not shown.
type progress struct {
	server *server
	title  string
	token  protocol.String // "" before the client has accepted it
	failed bool            // the client wants none
}

func (s *server) newProgress() *progress {
	return &progress{server: s, title: "Interlock", failed: !s.can.progress}
}

// checking shows which package is being analysed.
func (p *progress) checking(path string) { p.say("checking " + path) }

// say shows the current step.
func (p *progress) say(what string) {
	switch {
	case p.failed:
	case p.token == "":
		p.begin(what)
	default:
		p.send(protocol.WorkDoneProgressReport{Kind: "report", Message: &what})
	}
}

func (p *progress) begin(what string) {
	token := protocol.String(fmt.Sprintf("interlock-%d", time.Now().UnixNano()))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := p.server.client.WorkDoneProgressCreate(ctx, &protocol.WorkDoneProgressCreateParams{Token: token})
	if err != nil {
		p.failed = true
		return
	}
	p.token = token
	p.send(protocol.WorkDoneProgressBegin{Kind: "begin", Title: p.title, Message: &what})
}

func (p *progress) end() {
	if p.token != "" {
		p.send(protocol.WorkDoneProgressEnd{Kind: "end"})
	}
}

func (p *progress) send(value any) {
	data, err := json.Marshal(value)
	if err == nil {
		err = p.server.client.Progress(context.Background(), &protocol.ProgressParams{Token: p.token, Value: data})
	}
	p.server.lost(err)
}

// log writes a line into the client's log.
func (s *server) log(ctx context.Context, t protocol.MessageType, text string) {
	s.lost(s.client.LogMessage(ctx, &protocol.LogMessageParams{Type: t, Message: text}))
}

// message shows a line to the user.
func (s *server) message(ctx context.Context, text string) {
	s.lost(s.client.ShowMessage(ctx, &protocol.ShowMessageParams{Type: protocol.MessageTypeWarning, Message: text}))
}

// lost notes that the client did not get something. Where the connection is gone, the
// session ends anyway.
func (s *server) lost(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "interlock: writing to the client: %v\n", err)
	}
}

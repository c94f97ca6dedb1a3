package lsp

import (
	"context"
	"fmt"
	"io"
	"slices"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

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

// Read implements [jsonrpc2.Stream].
func (s *stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	s.in.left = longestMessage
	return s.Stream.Read(ctx)
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

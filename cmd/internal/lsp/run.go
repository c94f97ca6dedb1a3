package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// runTest is the command that runs one test under Interlock.
const runTest = "interlock.test"

// target is the argument of [runTest].
type target struct {
	URI  uri.URI `json:"uri"`  // a file of the package
	Test string  `json:"test"` // name of the test; "" for all of the package
}

// CodeLens offers, if the user wants that, to run each test of a file under Interlock.
func (s *server) CodeLens(_ context.Context, p *protocol.CodeLensParams) (list []protocol.CodeLens, _ error) {
	name := path(p.TextDocument.URI)
	now, _ := s.docs.current(name)
	if !s.set().CodeLens || s.options.Tool == "" || now == nil || !strings.HasSuffix(name, "_test.go") {
		return nil, nil
	}
	fset := token.NewFileSet()
	f, _ := parser.ParseFile(fset, name, now.data, parser.SkipObjectResolution)
	if f == nil {
		return nil, nil
	}
	// A file that is being written has the declarations that the parser made out.
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !isTest(fn) {
			continue
		}
		argument, err := json.Marshal(target{p.TextDocument.URI, fn.Name.Name})
		s.lost(err)
		start, end := fset.PositionFor(fn.Name.Pos(), false), fset.PositionFor(fn.Name.End(), false)
		at := protocol.Range{
			Start: now.position(start.Line-1, start.Column-1), End: now.position(end.Line-1, end.Column-1),
		}
		run := protocol.Command{Title: "run under Interlock", Command: runTest, Arguments: []protocol.LSPAny{argument}}
		list = append(list, protocol.CodeLens{Range: at, Command: run})
	}
	return list, nil
}

// isTest reports whether the go command runs the function as a test.
func isTest(fn *ast.FuncDecl) bool {
	rest, ok := strings.CutPrefix(fn.Name.Name, "Test")
	if !ok || fn.Recv != nil || fn.Type.Params.NumFields() != 1 || fn.Name.Name == "TestMain" {
		return false
	}
	return rest == "" || rest[0] < 'a' || rest[0] > 'z'
}

// runTest runs tests as `interlock test` does, with its output as progress, and shows
// its findings. The answer is a line for the user.
func (s *server) runTest(ctx context.Context, argument []byte) (protocol.LSPAny, error) {
	var t target
	if err := json.Unmarshal(argument, &t); err != nil || path(t.URI) == "" {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "the argument of "+runTest+" is a file and a test")
	}
	args := slices.Concat([]string{"test", "-format=json"}, s.set().buildFlags(), s.set().TestFlags, []string{"."})
	if t.Test != "" {
		args = append(args, "--", "-run=^"+t.Test+"$")
	}
	p := s.newProgress()
	p.title = "Interlock: " + t.Test
	defer p.end()
	var stdout, said bytes.Buffer
	cmd := exec.CommandContext(ctx, s.options.Tool, args...)
	cmd.Dir = filepath.Dir(path(t.URI))
	cmd.Cancel = func() error { return endTests(cmd.Process) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdout, cmd.Stderr = &stdout, io.MultiWriter(&said, &lines{say: p.say})
	p.say("building")
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, protocol.ErrRequestCancelled
	}
	var findings []*finding.Finding
	var readErr error
	if stdout.Len() > 0 { // nothing is printed where the tests do not compile
		findings, readErr = readFindings(stdout.Bytes())
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || readErr != nil {
		return nil, failed("the tests could not be run: %v: %s", errors.Join(err, readErr), lastLine(said.String()))
	}
	// The findings of the run join those of the checks.
	s.work.keep(path(t.URI), findings)
	text := fmt.Sprintf("%s under Interlock: %d findings", t.Test, len(findings))
	if len(findings) == 1 {
		text = t.Test + " under Interlock: 1 finding"
	}
	if err != nil && len(findings) == 0 {
		text = lastLine(said.String())
	}
	s.lost(s.client.ShowMessage(ctx, &protocol.ShowMessageParams{Type: protocol.MessageTypeInfo, Message: text}))
	return json.Marshal(text)
}

func lastLine(text string) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return all[len(all)-1]
}

// lines hands on whole lines.
type lines struct {
	say  func(string)
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		if text := strings.TrimSpace(string(line)); text != "" {
			l.say(text)
		}
		l.rest = slices.Clone(rest)
	}
}

// readFindings reads the output of a command with -format=json or jsonl.
func readFindings(data []byte) ([]*finding.Finding, error) {
	var whole struct{ Findings []*finding.Finding }
	if json.Unmarshal(data, &whole) == nil && whole.Findings != nil {
		return whole.Findings, nil
	}
	var list []*finding.Finding
	ended := false
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var line struct {
			finding.Finding
			End bool `json:"end"`
		}
		switch err := dec.Decode(&line); {
		case err == io.EOF && !ended:
			return nil, errors.New("reading findings: they were cut, as the end behind them is missing: write the file again")
		case err == io.EOF:
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("reading findings: %w", err)
		}
		if ended = line.End; ended {
			continue
		}
		if err := line.Validate(); err != nil {
			return nil, fmt.Errorf("reading findings: %w", err)
		}
		list = append(list, &line.Finding)
	}
}

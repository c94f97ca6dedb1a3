package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// drain receives what is left when a function leaves early that reads from a goroutine, so that this comes to its end:
//
//	tokens := make(chan token)
//	go lex(r, tokens)	// closes tokens at its end
//	defer func() {		<- new
//		for range tokens {
//		}
//	}()
//	for t := range tokens {
//		if t.err != nil {
//			return t.err
//		}
//	}
//
// It applies where the function makes the channel, hands it to one function that it starts, and else receives from it
// alone; and where the other one, declared or a literal, sends on it and closes it however it ends. Obligation:
// [validate.Drained].
func drain(p *Problem) (*strategy.Patch, error) {
	reader, err := p.readerOf()
	if err != nil {
		return nil, err
	}
	var doubts []finding.Doubt
	if len(reader.handed) > 0 {
		call := reader.handed[0] // one is enough to look there
		text := fmt.Sprintf("%s: if %s keeps %s, what is drained is missing there", reader.file.At(call),
			reader.file.Text(call.Fun), reader.channel.Name())
		if !p.Bold {
			return nil, errors.New(text)
		}
		doubts = append(doubts, finding.Doubt{Obligation: "maker", Weight: finding.Light, File: reader.file.Path,
			Line: reader.file.Line(call.Pos()), Text: text})
	}
	edits := edit.New()
	edits.After(reader.file, reader.start, func() string {
		return fmt.Sprintf("defer func() {\n\tfor range %s {\n\t}\n}()", reader.channel.Name())
	})
	files, err := edits.Files()
	v := p.Module.NewVariable(reader.channel, reader.file, nil)
	claim := validate.Claim{Kind: validate.Drained,
		Variable: validate.Variable{Package: reader.file.Package.Path, Name: v.Name}}
	claim.Variable.Func, claim.Variable.Nth = v.Place()
	return &strategy.Patch{Files: files, Claim: claim, Doubts: doubts}, err
}

// reading is a function that receives what a goroutine sends that it starts.
type reading struct {
	file    *source.File
	starter *source.Function
	channel *types.Var // its local
	start   *ast.GoStmt
	sender  *source.Function
	param   types.Object    // the channel in the sender
	handed  []*ast.CallExpr // calls that get the channel too
}

// readerOf returns the function that has started the goroutine which waits to send.
func (p *Problem) readerOf() (*reading, error) {
	reason := strategy.NotMeant("no goroutine waits to send")
	for _, f := range p.Findings {
		for _, a := range f.Accesses {
			if a.Mode != finding.Send {
				continue
			}
			at, err := p.at(a.Position)
			if err != nil {
				return nil, err
			}
			r, err := p.readerAt(at)
			if err == nil {
				return r, nil
			}
			reason = err
		}
	}
	return nil, reason
}

// readerAt finds the go statement that hands its channel to the function of the send at a place.
func (p *Problem) readerAt(at place) (*reading, error) {
	send, ok := innermost[*ast.SendStmt](at)
	if !ok || at.function() == nil {
		return nil, strategy.NotMeant("%s: no send stands there", at.file.At(at.path[0]))
	}
	sender := at.function()
	id, ok := ast.Unparen(send.Chan).(*ast.Ident)
	if !ok {
		return nil, strategy.NotMeant("%s: the channel is not handed to the goroutine", at.file.At(send))
	}
	starts, err := p.Module.Starts(sender)
	if err != nil {
		return nil, err
	}
	starts = slices.DeleteFunc(starts, func(c source.Call) bool { return c.In.File.Test && !at.file.Test })
	if len(starts) != 1 {
		return nil, fmt.Errorf("%s is started in %d places", sender.Name(), len(starts))
	}
	// The channel in the words of the starter: an argument, or the local that a literal captures.
	r := &reading{file: starts[0].In.File, starter: starts[0].In, sender: sender}
	r.start = r.file.Parents[starts[0].Expr].(*ast.GoStmt)
	r.param = at.file.Package.Info.ObjectOf(id)
	if i := slices.Index(sender.Params(), r.param); i < 0 {
		r.channel, _ = r.param.(*types.Var)
	} else if args := sender.Arguments(starts[0].Expr); i < len(args) {
		if id, isName := ast.Unparen(args[i]).(*ast.Ident); isName {
			r.channel, _ = r.file.Package.Info.ObjectOf(id).(*types.Var)
		}
	}
	if r.channel == nil || p.Module.Declaring(r.file, r.channel) != r.starter {
		return nil, strategy.NotMeant("%s: the channel is no local of the function that starts the goroutine",
			at.file.At(send))
	}
	if err := r.readsAlone(); err != nil {
		return nil, err
	}
	if err := r.comesToAnEnd(); err != nil {
		return nil, err
	}
	return r, r.isClosedAtEnd()
}

// comesToAnEnd returns an error where the goroutine has a loop that nothing ends but a stop: the drain would not end.
func (r *reading) comesToAnEnd() (err error) {
	ast.Inspect(r.sender.Body, func(n ast.Node) bool {
		loop, ok := n.(*ast.ForStmt)
		if ok && loop.Cond == nil && !returnIn(loop.Body) && !breaksIn(loop.Body) {
			err = fmt.Errorf("%s: the loop does not end", r.sender.File.At(loop))
		}
		return err == nil
	})
	return err
}

// breaksIn reports whether a break or goto stands in a statement, function literals apart.
func breaksIn(s ast.Stmt) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			found = found || n.Tok == token.BREAK || n.Tok == token.GOTO
		}
		return !found
	})
	return found
}

// readsAlone returns an error unless the starter makes the channel, hands it to the one goroutine, and receives from it
// in its own body; nobody else comes to it.
func (r *reading) readsAlone() error {
	if r.starter.File.IsWithin(r.start, source.IsLoop) {
		return fmt.Errorf("%s: a loop starts the goroutine again", r.file.At(r.start))
	}
	receives := 0
	var err error
	ast.Inspect(r.starter.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || r.file.Package.Info.Uses[id] != types.Object(r.channel) || err != nil {
			return true
		}
		if r.start.Pos() <= id.Pos() && id.Pos() < r.start.End() {
			return true // the goroutine's own
		}
		isOwn := r.file.FunctionOf(id) == r.starter
		call, isArgument := r.file.Parents[id].(*ast.CallExpr)
		switch {
		case isOwn && isReceiveOf(r.file, id):
			receives++
			return true
		// parseRest(tokens): it returns before the drain
		case isOwn && isArgument && call.Fun != ast.Expr(id) && isOwnCall(r.file, call) == nil &&
			!source.IsBuiltin(r.file, call, "close"):
			r.handed = append(r.handed, call)
			return true
		}
		err = fmt.Errorf("%s: %s is used in other ways than to receive from it", r.file.At(id), id.Name)
		return true
	})
	if err == nil && receives == 0 {
		err = fmt.Errorf("%s: the function does not receive what the goroutine sends", r.file.At(r.start))
	}
	return err
}

// isReceiveOf reports whether an identifier is the channel of a receive or of a loop over it.
func isReceiveOf(file *source.File, id *ast.Ident) bool {
	switch n := file.Parents[id].(type) {
	case *ast.UnaryExpr:
		return source.IsWait(n)
	case *ast.RangeStmt:
		return n.X == ast.Expr(id)
	}
	return false
}

// isClosedAtEnd returns an error unless the goroutine closes the channel however it ends: by a defer before its first
// send.
func (r *reading) isClosedAtEnd() error {
	file := r.sender.File
	isOf := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && file.Package.Info.ObjectOf(id) == r.param
	}
	deferred := slices.IndexFunc(r.sender.Body.List, func(s ast.Stmt) bool {
		d, ok := s.(*ast.DeferStmt)
		return ok && source.IsBuiltin(file, d.Call, "close") && isOf(d.Call.Args[0])
	})
	if deferred < 0 {
		return fmt.Errorf("%s: %s does not defer the close of the channel, so that a receiver could not tell the end",
			file.At(r.sender.Node), r.sender.Name())
	}
	var err error
	ast.Inspect(r.sender.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.SendStmt)
		if ok && isOf(s.Chan) && s.Pos() < r.sender.Body.List[deferred].Pos() {
			err = fmt.Errorf("%s: a value is sent before the close is deferred", file.At(s))
		}
		return true
	})
	return err
}

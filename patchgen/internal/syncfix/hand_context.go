package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// handContext hands the context of the callers down to a goroutine, and has that leave when it is done, where it sends
// to a function that leaves by then:
//
//	func (c *client) read(ctx context.Context, out chan event) {	<- ctx is new
//		for {
//			select {					<- new
//			case out <- c.next():
//			case <-ctx.Done():				<- new
//				return					<- new
//			}						<- new
//		}
//	}
//
// It applies where the goroutine is a declared function without a context, each of its sends on the channels that it is
// handed can be a case of a select, and a caller by which it is started has one context. Obligation:
// [validate.Stoppable].
func handContext(p *Problem) (*strategy.Patch, error) {
	f, err := p.senderWithoutContext()
	if err != nil {
		return nil, err
	}
	edits := edit.New()
	n := &newParameter{Problem: p, edits: edits, name: "ctx", first: true, has: map[*source.Function]bool{}}
	n.typeIn = func(file *source.File) string { return edits.AddImport(file, "context") + ".Context" }
	out := &strategy.Patch{Claim: validate.Claim{Kind: validate.Stoppable}}
	n.valueAt = func(c source.Call) (string, bool) {
		found := visible(c.In.File, c.Expr.Pos(), isContextType)
		if len(found) == 1 && !awaitsDone(c.In.Declaration(), found[0]) {
			out.Doubts = append(out.Doubts, finding.Doubt{Obligation: "maker", Weight: finding.Heavy,
				File: c.In.File.Path, Line: c.In.File.Line(c.Expr.Pos()),
				Text: fmt.Sprintf("%s: %s may be done while what the goroutine sends is still wanted: it leaves then",
					c.In.File.At(c.Expr), found[0])})
		}
		return strings.Join(found, ""), len(found) == 1
	}
	if err := n.add(f); err != nil {
		return nil, err
	}
	// Each send leaves beside it.
	for _, s := range sendsOnParameters(f) {
		if err := p.stopSend(edits, f, s, n.name); err != nil {
			return nil, err
		}
	}
	if len(out.Doubts) > 0 && !p.Bold {
		return nil, errors.New(out.Doubts[0].Text)
	}
	out.Files, err = edits.Files()
	return out, err
}

// awaitsDone reports whether a function, its literals included, waits for the end of a context: who receives from the
// goroutine leaves by then.
func awaitsDone(f *source.Function, ctx string) (found bool) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		receive, ok := n.(*ast.UnaryExpr)
		found = found || ok && source.IsWait(receive) && f.File.Text(receive.X) == ctx+".Done()"
		return !found
	})
	return found
}

// senderWithoutContext returns the declared function that a goroutine of the findings runs, waiting to send on a
// channel that it was handed, where it knows of nothing that stops it.
func (p *Problem) senderWithoutContext() (*source.Function, error) {
	for _, f := range p.Findings {
		for _, a := range f.Accesses {
			if a.Mode != finding.Send {
				continue
			}
			at, err := p.at(a.Position)
			if err != nil {
				return nil, err
			}
			send, ok := innermost[*ast.SendStmt](at)
			fn := at.function()
			if !ok || fn == nil || fn.Object == nil || !isParameter(fn, send.Chan) {
				return nil, strategy.NotMeant("%s: the channel is not handed to the goroutine", a.Position)
			}
			if _, err := p.stopOf(at.file, &wait{stmt: send, channels: []ast.Expr{send.Chan}}, fn); err == nil {
				return nil, strategy.NotMeant("%s has what stops it", fn.Name())
			}
			if _, err := p.Module.Starts(fn); err != nil {
				return nil, err
			}
			return fn, nil
		}
	}
	return nil, strategy.NotMeant("no goroutine waits to send")
}

// isParameter reports whether an expression is a parameter of a function.
func isParameter(f *source.Function, e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	obj := f.File.Package.Info.ObjectOf(id)
	for _, p := range f.Params() {
		if p != nil && p == obj {
			return true
		}
	}
	return false
}

// sendsOnParameters lists the sends of a function, literals apart, on channels that it is handed.
func sendsOnParameters(f *source.Function) (list []*ast.SendStmt) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SendStmt); ok && f.File.FunctionOf(s) == f && isParameter(f, s.Chan) {
			list = append(list, s)
		}
		return true
	})
	return list
}

// stopSend makes a send a case beside a context that is done.
func (p *Problem) stopSend(edits *edit.Edits, f *source.Function, s *ast.SendStmt, ctx string) error {
	file := f.File
	if clause, ok := file.Parents[s].(*ast.CommClause); ok && clause.Comm == ast.Stmt(s) {
		return fmt.Errorf("%s is a case of a select already", file.At(s))
	}
	if err := isFollowedBySignal(file, s, f); err != nil {
		return err
	}
	if isStopType(file.TypeOf(s.Chan)) {
		return fmt.Errorf("%s: others may wait for this signal, which a stop would leave out", file.At(s))
	}
	leave, err := p.leaving(edits, file, f, &stopping{text: ctx, isContext: true})
	if err != nil {
		return err
	}
	text := fmt.Sprintf("select {\ncase %s:\ncase <-%s.Done():\n\t%s\n}", file.Text(s), ctx, leave)
	edits.Replace(file, s, strings.ReplaceAll(text, "\n", "\n"+file.Indent(s.Pos())))
	return nil
}

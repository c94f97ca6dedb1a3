package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// cancel ends a goroutine that waits at a channel when its context is done, or the channel closed that others close
// to stop it:
//
//	select {
//	case w.events <- e:
//	case <-w.ctx.Done():
//		return
//	}
//
// A select gets one more case. It applies where the function has one such context or channel, is a goroutine's or
// returns an error, and signals nothing to others behind the operation. Obligation: [validate.Stoppable].
func cancel(p *Problem) (*strategy.Patch, error) {
	edits := edit.New()
	done := map[ast.Stmt]bool{}
	var reasons []string
	for _, f := range p.Findings {
		for _, a := range f.Accesses {
			if a.Mode != finding.Send && a.Mode != finding.Receive && a.Mode != finding.Wait {
				continue
			}
			at, err := p.at(a.Position)
			if err != nil {
				return nil, err
			}
			if _, isSelect := at.path[0].(*ast.SelectStmt); a.Mode == finding.Wait && !isSelect {
				continue // of a group or a condition
			}
			if err := p.cancelAt(edits, at, done); err != nil {
				reasons = append(reasons, err.Error())
			}
		}
	}
	if len(done) == 0 {
		if len(reasons) == 0 {
			return nil, strategy.NotMeant("no goroutine is blocked at a send or a receive")
		}
		slices.Sort(reasons)
		return nil, errors.New(strings.Join(slices.Compact(reasons), "; "))
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: validate.Claim{Kind: validate.Stoppable}}, err
}

// cancelAt makes the operation at a place a case of a select, once, or adds a case to the select there.
func (p *Problem) cancelAt(edits *edit.Edits, at place, done map[ast.Stmt]bool) error {
	w, err := waitingAt(at)
	if err != nil {
		return err
	}
	f := at.file.FunctionOf(w.stmt)
	if done[w.stmt] || f == nil {
		return nil
	}
	if err := isFollowedBySignal(at.file, w.stmt, f); err != nil {
		return err
	}
	// Which stop, and how the function is left then.
	stop, err := p.stopOf(at.file, w, f)
	if err != nil {
		return err
	}
	leave, err := p.leaving(edits, at.file, f, stop)
	if err != nil {
		return err
	}
	// done <- struct{}{} is what somebody waits for, and behind a stop the select would often leave the send out.
	if _, isSend := w.stmt.(*ast.SendStmt); isSend && isStopType(at.file.TypeOf(w.channels[0])) {
		return fmt.Errorf("%s: others may wait for this signal, which a stop would leave out", at.file.At(w.stmt))
	}
	for _, n := range at.path {
		clause, ok := n.(*ast.CommClause)
		if ok && clause.Comm != nil && strings.Contains(at.file.Text(clause.Comm), stop.text) {
			return fmt.Errorf("%s: it is stopped already where it waits", at.file.At(w.stmt))
		}
	}
	clause := fmt.Sprintf("case <-%s:\n\t%s\n", stop.channel(), leave)
	indent := "\n" + at.file.Indent(w.stmt.Pos())
	if sel, ok := w.stmt.(*ast.SelectStmt); ok {
		end := at.file.Offset(sel.Body.Rbrace)
		edits.Add(at.file, end, end, func() string { return strings.ReplaceAll(clause, "\n", indent) })
	} else {
		text := fmt.Sprintf("%sselect {\ncase %s\n%s}", w.declare, w.clause, clause)
		edits.Replace(at.file, w.stmt, strings.ReplaceAll(text, "\n", indent))
	}
	done[w.stmt] = true
	return nil
}

// wait is a statement that waits at channels.
type wait struct {
	stmt     ast.Stmt
	channels []ast.Expr // of all cases, where it is a select
	declare  string     // what has to stand before a select in its place
	clause   string     // the operation as a case of that select, with its body
}

// waitingAt returns the statement at a place that is nothing but a send, a receive or a select.
func waitingAt(at place) (*wait, error) {
	s, ok := innermost[ast.Stmt](at)
	if !ok {
		return nil, fmt.Errorf("%s: no statement stands there", at.file.At(at.path[0]))
	}
	if clause, ok := at.file.Parents[s].(*ast.CommClause); ok && clause.Comm == s {
		return nil, fmt.Errorf("%s is a case of a select already", at.file.At(s))
	}
	w := &wait{stmt: s, clause: at.file.Text(s) + ":"}
	switch s := s.(type) {
	// select { … }
	case *ast.SelectStmt:
		w.channels = channelsOf(s)
		return w, nil
	// ch <- v
	case *ast.SendStmt:
		w.channels = []ast.Expr{s.Chan}
		return w, nil
	// <-ch
	case *ast.ExprStmt:
		if ch := received(s.X); ch != nil {
			w.channels = []ast.Expr{ch}
			return w, nil
		}
	// v = <-ch, v := <-ch
	case *ast.AssignStmt:
		if len(s.Rhs) != 1 || received(s.Rhs[0]) == nil {
			break
		}
		w.channels = []ast.Expr{received(s.Rhs[0])}
		if s.Tok == token.ASSIGN {
			return w, nil
		}
		if v, ok := s.Lhs[0].(*ast.Ident); ok && len(s.Lhs) == 1 && v.Name != "_" {
			names := source.NewNames(at.file.FunctionOf(s))
			w.declare = fmt.Sprintf("var %s %s\n", v.Name, names.TypeText(at.file.TypeOf(v)))
			w.clause = fmt.Sprintf("%s = %s:", v.Name, at.file.Text(s.Rhs[0]))
			return w, nil
		}
	// return <-ch
	case *ast.ReturnStmt:
		if len(s.Results) == 1 && received(s.Results[0]) != nil {
			name := "v"
			if types.TypeString(at.file.TypeOf(s.Results[0]), nil) == "error" {
				name = "err"
			}
			name = source.NewNames(at.file.FunctionOf(s)).Fresh(name)
			w.channels = []ast.Expr{received(s.Results[0])}
			w.clause = fmt.Sprintf("%s := %s:\n\treturn %s", name, at.file.Text(s.Results[0]), name)
			return w, nil
		}
	}
	return nil, fmt.Errorf("%s: the wait is only a part of its statement, so that no select can take its place",
		at.file.At(s))
}

// received returns the channel of a receive; nil for other expressions.
func received(e ast.Expr) ast.Expr {
	if receive, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && receive.Op == token.ARROW {
		return receive.X
	}
	return nil
}

// channelsOf returns the channels of the cases of a select.
func channelsOf(s *ast.SelectStmt) (all []ast.Expr) {
	for _, c := range s.Body.List {
		switch comm := c.(*ast.CommClause).Comm.(type) {
		case *ast.SendStmt:
			all = append(all, comm.Chan)
		case *ast.ExprStmt:
			all = append(all, received(comm.X))
		case *ast.AssignStmt:
			all = append(all, received(comm.Rhs[0]))
		}
	}
	return all
}

// isFollowedBySignal refuses operations behind which the function does what others may wait for.
func isFollowedBySignal(file *source.File, s ast.Stmt, f *source.Function) (err error) {
	for n := ast.Node(s); n != nil && n != ast.Node(f.Body); n = file.Parents[n] {
		stmt, ok := n.(ast.Stmt)
		if !ok {
			continue
		}
		list := source.ListOf(file, stmt)
		for _, later := range list[slices.Index(list, stmt)+1:] {
			ast.Inspect(later, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					return false
				case *ast.SendStmt:
					err = fmt.Errorf("%s: others may wait for what the function sends, which a stop would leave out", file.At(n))
				case *ast.CallExpr:
					name := file.Text(n.Fun)
					name = name[strings.LastIndexByte(name, '.')+1:]
					if slices.Contains([]string{"close", "Done", "Unlock", "RUnlock", "Signal", "Broadcast"}, name) {
						err = fmt.Errorf("%s: others may wait for %s, which a stop would leave out", file.At(n), file.Text(n))
					}
				}
				return err == nil
			})
		}
		if len(list) == 0 {
			continue
		}
		if _, returns := list[len(list)-1].(*ast.ReturnStmt); returns {
			return err // nothing around it follows
		}
	}
	return err
}

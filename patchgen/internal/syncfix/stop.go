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

// stop ends a sender when the function that receives has returned: a channel
// that is closed then stands beside each send in a select.
//
//	stop := make(chan struct{})
//	defer close(stop)
//	go func() {
//		for _, x := range list {
//			select {
//			case ch <- x:
//			case <-stop:
//				return
//			}
//		}
//	}()
//
// A sender that goes on after its only send does so after the stop as well: the case is empty then.
//
// It applies where only the function that makes the channel receives, in its
// own body, and all senders are goroutines that it starts: when it returns,
// nobody is left to receive. Obligation: [validate.Unblocked].
func stop(p *Problem) (*strategy.Patch, error) {
	c, err := p.blockedOn(finding.Send)
	if err != nil {
		return nil, err
	}
	if err := c.diesWithFunction(); err != nil {
		return nil, err
	}
	for _, r := range c.receives {
		if c.file.FunctionOf(r) != c.function {
			return nil, fmt.Errorf("%s: another function receives too", c.file.At(r))
		}
	}
	name := "stop"
	if used := source.UsedNames(c.function); used[name] {
		if name = c.object.Name() + "Stop"; used[name] {
			return nil, fmt.Errorf("the new channel would be called stop or %s, and these names are taken", name)
		}
	}
	// ch <- v in a goroutine becomes a case of a select.
	edits := edit.New()
	for _, s := range c.sends {
		f := c.file.FunctionOf(s)
		if _, ok := c.isStarted(f); !ok {
			return nil, fmt.Errorf("%s: the sender is no goroutine of its own", c.file.At(s))
		}
		if clause, isCase := c.file.Parents[s].(*ast.CommClause); isCase && clause.Comm == ast.Stmt(s) {
			return nil, fmt.Errorf("%s: the send is a case of a select", c.file.At(s))
		}
		if results := f.Type.Results; results != nil && len(results.List) > 0 {
			return nil, fmt.Errorf("%s: the sender has results", c.file.At(s))
		}
		// What follows the send, such as the release of what the goroutine holds, is done whether it was received or not.
		leave := "\n\treturn"
		if !c.inLoop(s, f) && c.isLast(s, f, false) != nil {
			leave = ""
		}
		text := fmt.Sprintf("select {\ncase %s:\ncase <-%s:%s\n}", c.file.Text(s), name, leave)
		edits.Replace(c.file, s, strings.ReplaceAll(text, "\n", "\n"+c.file.Indent(s.Pos())))
	}
	edits.After(c.file, c.made, func() string {
		return fmt.Sprintf("%s := make(chan struct{})\ndefer close(%s)", name, name)
	})
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: c.claim()}, err
}

// diesWithFunction refuses channels that are not made once for each call of the function.
func (c *channel) diesWithFunction() error {
	if !slices.Contains(c.function.Body.List, ast.Stmt(c.made)) {
		return fmt.Errorf("%s: %s is made in a block of its own, which may run several times or not at all",
			c.file.At(c.made), c.object.Name())
	}
	hasGoto := false
	ast.Inspect(c.function.Body, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		hasGoto = hasGoto || ok && b.Tok == token.GOTO
		return true
	})
	if hasGoto {
		return errors.New("the function uses goto")
	}
	return nil
}

// cancel ends a goroutine that waits at a channel when its context is done, or the channel closed that others close
// to stop it:
//
//	select {
//	case w.events <- e:
//	case <-w.ctx.Done():
//		return
//	}
//
// It applies where the function has one such context or channel, is a goroutine's or returns an error, and signals
// nothing to others behind the operation. Obligation: [validate.Stoppable].
func cancel(p *Problem) (*strategy.Patch, error) {
	edits := edit.New()
	done := map[ast.Stmt]bool{}
	var reasons []string
	for _, f := range p.Findings {
		for _, a := range f.Accesses {
			if a.Mode != finding.Send && a.Mode != finding.Receive {
				continue
			}
			at, err := p.at(a.Position)
			if err != nil {
				return nil, err
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

// cancelAt makes the operation at a place a case of a select, once.
func (p *Problem) cancelAt(edits *edit.Edits, at place, done map[ast.Stmt]bool) error {
	s, channel, err := waitingStatement(at)
	if err != nil {
		return err
	}
	f := at.file.FunctionOf(s)
	if done[s] || f == nil {
		return nil
	}
	if err := isFollowedBySignal(at.file, s, f); err != nil {
		return err
	}
	stop, isContext, err := p.stopOf(at.file, s, channel, f)
	if err != nil {
		return err
	}
	leave, err := p.leaving(at.file, f, stop, isContext)
	if err != nil {
		return err
	}
	if isContext {
		stop += ".Done()"
	}
	// done <- struct{}{} is what somebody waits for, and behind a stop the select would often leave the send out.
	if _, isSend := s.(*ast.SendStmt); isSend && isStopType(at.file.TypeOf(channel)) {
		return fmt.Errorf("%s: others may wait for this signal, which a stop would leave out", at.file.At(s))
	}
	for _, n := range at.path {
		if clause, ok := n.(*ast.CommClause); ok && clause.Comm != nil && strings.Contains(at.file.Text(clause.Comm), stop) {
			return fmt.Errorf("%s: it is stopped already where it waits", at.file.At(s))
		}
	}
	text := fmt.Sprintf("select {\ncase %s:\ncase <-%s:\n\t%s\n}", at.file.Text(s), stop, leave)
	edits.Replace(at.file, s, strings.ReplaceAll(text, "\n", "\n"+at.file.Indent(s.Pos())))
	done[s] = true
	return nil
}

// waitingStatement returns the statement at a place that is nothing but a send or a receive, with its channel.
func waitingStatement(at place) (ast.Stmt, ast.Expr, error) {
	s, ok := innermost[ast.Stmt](at)
	if !ok {
		return nil, nil, fmt.Errorf("%s: no statement stands there", at.file.At(at.path[0]))
	}
	if clause, ok := at.file.Parents[s].(*ast.CommClause); ok && clause.Comm == s {
		return nil, nil, fmt.Errorf("%s is a case of a select already", at.file.At(s))
	}
	var e ast.Expr
	switch s := s.(type) {
	// ch <- v
	case *ast.SendStmt:
		return s, s.Chan, nil
	// <-ch
	case *ast.ExprStmt:
		e = s.X
	// v = <-ch
	case *ast.AssignStmt:
		if s.Tok == token.ASSIGN && len(s.Rhs) == 1 {
			e = s.Rhs[0]
		}
	}
	if receive, ok := ast.Unparen(e).(*ast.UnaryExpr); e != nil && ok && receive.Op == token.ARROW {
		return s, receive.X, nil
	}
	return nil, nil, fmt.Errorf("%s: the wait is only a part of its statement, so that no select can take its place",
		at.file.At(s))
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

// stopOf returns the context of a function, or the channel by which others stop it.
func (p *Problem) stopOf(file *source.File, s ast.Stmt, channel ast.Expr, f *source.Function) (text string,
	isContext bool, err error) {
	if found := visible(file, s.Pos(), isContextType); len(found) == 1 {
		return found[0], true, nil
	} else if len(found) > 1 {
		return "", false, fmt.Errorf("%s: which of the contexts %s is meant is not known", file.At(s),
			strings.Join(found, ", "))
	}
	// s.ctx, of the receiver
	recv := f.Declaration().Receiver()
	var contexts, stops []string
	if recv != nil {
		if st, ok := source.StructOf(recv.Type()); ok {
			for field := range st.Fields() {
				text := recv.Name() + "." + field.Name()
				switch {
				case isContextType(field.Type()):
					contexts = append(contexts, text)
				case isStopType(field.Type()) && text != file.Text(channel) && p.isOnlyClosed(field):
					stops = append(stops, text)
				}
			}
		}
	}
	// a channel that the function can name, which is closed and nothing else
	for _, name := range visible(file, s.Pos(), isStopType) {
		_, obj := file.Package.Types.Scope().Innermost(s.Pos()).LookupParent(name, s.Pos())
		if v, ok := obj.(*types.Var); ok && name != file.Text(channel) && p.isOnlyClosed(v) {
			stops = append(stops, name)
		}
	}
	switch {
	case len(contexts) == 1:
		return contexts[0], true, nil
	case len(contexts) == 0 && len(stops) == 1:
		return stops[0], false, nil
	case len(contexts)+len(stops) == 0:
		return "", false, fmt.Errorf("%s: %s has no context, and no channel that is closed to stop it", file.At(s), f.Name())
	}
	return "", false, fmt.Errorf("%s: which of %s stops the function is not known", file.At(s),
		strings.Join(append(contexts, stops...), ", "))
}

// visible lists the locals and parameters of a type that can be named at a place, those of the innermost function
// that has one.
func visible(file *source.File, pos token.Pos, is func(types.Type) bool) (names []string) {
	for scope := file.Package.Types.Scope().Innermost(pos); scope != nil; scope = scope.Parent() {
		if scope == file.Package.Types.Scope() || scope.Parent() == file.Package.Types.Scope() {
			break // the file's and the package's
		}
		for _, name := range scope.Names() {
			v, ok := scope.Lookup(name).(*types.Var)
			if !ok || !is(v.Type()) || v.Pos() >= pos || name == "_" {
				continue
			}
			if _, found := file.Package.Types.Scope().Innermost(pos).LookupParent(name, pos); found == types.Object(v) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			return names
		}
	}
	return names
}

func isContextType(t types.Type) bool { return types.TypeString(t, nil) == "context.Context" }

// isStopType reports whether t is a channel without values.
func isStopType(t types.Type) bool {
	ch, ok := t.Underlying().(*types.Chan)
	if !ok {
		return false
	}
	st, ok := ch.Elem().Underlying().(*types.Struct)
	return ok && st.NumFields() == 0
}

// isOnlyClosed reports whether the module closes a channel and never sends on it.
func (p *Problem) isOnlyClosed(v *types.Var) bool {
	closes, sends := 0, 0
	key := source.ObjectKey(p.Module, v)
	for _, file := range p.Module.Files {
		ast.Inspect(file.Syntax, func(n ast.Node) bool {
			var e ast.Expr
			switch n := n.(type) {
			case *ast.SendStmt:
				e = n.Chan
			case *ast.CallExpr:
				if source.IsBuiltin(file, n, "close") {
					e = n.Args[0]
				}
			}
			if e == nil {
				return true
			}
			if _, obj := file.VariableOf(ast.Unparen(e)); obj != nil && source.ObjectKey(p.Module, obj) == key {
				if _, isSend := n.(*ast.SendStmt); isSend {
					sends++
				} else {
					closes++
				}
			}
			return true
		})
	}
	return closes > 0 && sends == 0
}

// leaving writes how the function is left when it is stopped.
func (p *Problem) leaving(file *source.File, f *source.Function, stop string, isContext bool) (string, error) {
	results := f.Type.Results
	if results == nil || len(results.List) == 0 {
		// go func() { … }(), go w.run()
		if _, err := p.Module.Starts(f); err != nil {
			return "", fmt.Errorf("%s: the callers of %s would not learn that it was stopped", file.At(f.Node), f.Name())
		}
		return "return", nil
	}
	last := results.List[len(results.List)-1].Type
	if !isContext || types.TypeString(file.TypeOf(last), nil) != "error" {
		return "", fmt.Errorf("%s: %s returns no error that could say that it was stopped", file.At(f.Node), f.Name())
	}
	var values []string
	for _, field := range results.List {
		zero := zeroOf(file.TypeOf(field.Type))
		if zero == "" {
			return "", fmt.Errorf("%s: the results of %s have no zero value in short", file.At(f.Node), f.Name())
		}
		for range max(len(field.Names), 1) {
			values = append(values, zero)
		}
	}
	values[len(values)-1] = stop + ".Err()"
	return "return " + strings.Join(values, ", "), nil
}

// zeroOf writes the zero value of a type; "" where that takes more than a word.
func zeroOf(t types.Type) string {
	switch t := t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Interface, *types.Signature:
		return "nil"
	case *types.Basic:
		switch {
		case t.Info()&types.IsNumeric != 0:
			return "0"
		case t.Info()&types.IsString != 0:
			return `""`
		case t.Info()&types.IsBoolean != 0:
			return "false"
		}
	}
	return ""
}

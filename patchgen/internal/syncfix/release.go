package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// release lets a lock go before the wait that is the last thing done under it:
//
//	p.mu.Lock()			p.mu.Lock()
//	defer p.mu.Unlock()		p.closed = true
//	p.closed = true		->	close(p.stop)
//	close(p.stop)			p.mu.Unlock()
//	p.wg.Wait()			p.wg.Wait()
//
// A function that was read from a field under the lock is called behind it the same way, which is for a draft: two
// goroutines may call it at once then. So is a call of another module's function that has come back for the lock. It
// applies where nothing that needs the lock follows.
// Obligation: [validate.ReleasedFirst].
func release(p *Problem) (*strategy.Patch, error) {
	edits := edit.New()
	out := &strategy.Patch{Claim: validate.Claim{Kind: validate.ReleasedFirst}}
	done := map[ast.Stmt]bool{}
	for _, f := range p.Findings {
		w, err := p.waitOf(f)
		if err != nil {
			return nil, err
		}
		if done[w.stmt] {
			continue
		}
		done[w.stmt] = true
		// The lock kept a callback from running twice at once.
		if w.callback != nil && !p.Bold {
			return nil, fmt.Errorf("%s: without the lock, two goroutines may call %s at once", w.file.At(w.stmt),
				w.file.Text(w.callback))
		}
		if w.callback != nil {
			out.Doubts = append(out.Doubts, finding.Doubt{Obligation: "maker", Weight: finding.Light,
				Text: fmt.Sprintf("%s: without the lock, two goroutines may call %s at once", w.file.At(w.stmt),
					w.file.Text(w.callback))})
		}
		if err := w.releaseFirst(edits); err != nil {
			return nil, err
		}
		out.Claim.Lock = w.lock.Path.Class
	}
	if len(done) == 0 {
		return nil, errors.New("the finding names no wait")
	}
	var err error
	out.Files, err = edits.Files()
	return out, err
}

// heldWait is a statement that waits, or calls a function value, as the last one under a lock.
type heldWait struct {
	file     *source.File
	function *source.Function
	list     []ast.Stmt // with the statement and the Lock
	stmt     ast.Stmt
	lock     source.LockOp
	locked   int      // the Lock in list
	deferred bool     // the release
	callback ast.Expr // the field that holds the function; nil for waits
}

// waitOf finds the wait that a finding names, and the Lock before it.
func (p *Problem) waitOf(f *finding.Finding) (*heldWait, error) {
	if len(f.Accesses) == 0 {
		return nil, errors.New("the finding names no wait")
	}
	var w *heldWait
	var err error
	if frames, since := p.callsUnderLock(f, f.Accesses[0]); len(frames) >= 2 {
		w, err = p.calledBack(frames, since)
	} else {
		w, err = p.waitsAt(f.Accesses[0])
	}
	if err != nil {
		return nil, err
	}
	// Backwards to the Lock, in the list of the statement.
	w.list = source.ListOf(w.file, w.stmt)
	w.locked = -1
	for i := slices.Index(w.list, w.stmt) - 1; i >= 0 && w.locked < 0; i-- {
		op, ok := lockOpOf(w.file, w.list[i])
		switch {
		case ok && op.Acquire:
			w.locked, w.lock = i, op
		case ok:
			return nil, strategy.NotMeant("%s: no lock is taken in the statements before the wait", w.file.At(w.stmt))
		}
	}
	if w.locked < 0 {
		return nil, strategy.NotMeant("%s: no lock is taken in the statements before the wait", w.file.At(w.stmt))
	}
	w.deferred = releasesDeferred(w.file, w.list[w.locked+1], w.lock)
	return w, w.isLast()
}

// waitsAt returns the statement at an access that waits.
func (p *Problem) waitsAt(a finding.Access) (*heldWait, error) {
	at, err := p.at(a.Position)
	if err != nil {
		return nil, err
	}
	w := &heldWait{file: at.file, function: at.function()}
	w.stmt, err = w.statement(at)
	return w, err
}

// calledBack returns the call, by the stack of a goroutine that waits for the lock that it holds, which leads to that
// wait by way of another module:
//
//	v.clear()
//	fmt.Fprint(v, text)	// calls v.Write
func (p *Problem) calledBack(frames []finding.Frame, since finding.Holder) (*heldWait, error) {
	last := frames[len(frames)-1]
	w := &heldWait{function: p.functionOn(last)}
	w.file = w.function.File
	w.function.EachCall(func(call *ast.CallExpr) {
		stmt, ok := w.file.Parents[call].(*ast.ExprStmt)
		if ok && w.file.Line(call.Rparen) == last.Line && w.file.Callee(call) == nil && w.file.OwnLine(stmt) {
			w.stmt = stmt
		}
	})
	if w.stmt == nil {
		return nil, strategy.NotMeant("%s: no call of another module's function is a statement on line %d", since.Position,
			last.Line)
	}
	return w, nil
}

// statement returns the statement that is nothing but a wait: wg.Wait(), <-done, done <- v; or the call of a function
// that a field holds, with a test that there is one.
func (w *heldWait) statement(at place) (ast.Stmt, error) {
	stmt, ok := innermost[ast.Stmt](at)
	if !ok || w.function == nil {
		return nil, strategy.NotMeant("%s: no statement stands there", at.file.At(at.path[0]))
	}
	differ := strategy.NotMeant("%s: the statement does more than to wait", w.file.At(stmt))
	switch s := stmt.(type) {
	case *ast.SendStmt:
		if callIn(w.file, s.Value) != nil || sharedIn(w.file, s.Value) != nil {
			return nil, fmt.Errorf("%s: what is sent is computed under the lock", w.file.At(stmt))
		}
		return s, nil
	case *ast.ExprStmt:
		if source.IsWait(s.X) {
			return s, nil
		}
		call, isCall := s.X.(*ast.CallExpr)
		if !isCall {
			return nil, differ
		}
		sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !isSel {
			return nil, differ
		}
		// The Wait of a condition needs the lock.
		if f := typeutil.StaticCallee(w.file.Package.Info, call); f != nil && f.FullName() == "(*sync.WaitGroup).Wait" {
			return s, nil
		}
		return w.callbackOf(s, call, sel)
	}
	return nil, differ
}

// callbackOf returns the statement that calls a function in a field: the call, or the test around it that there is one.
//
//	if s.onClose != nil {
//		s.onClose(err)
//	}
func (w *heldWait) callbackOf(s *ast.ExprStmt, call *ast.CallExpr, sel *ast.SelectorExpr) (ast.Stmt, error) {
	if _, obj := w.file.VariableOf(sel); obj == nil || !obj.IsField() {
		return nil, strategy.NotMeant("%s: what is called under the lock is no function that a field holds", w.file.At(s))
	}
	for _, arg := range call.Args {
		if callIn(w.file, arg) != nil || sharedIn(w.file, arg) != nil {
			return nil, fmt.Errorf("%s: what is handed over is computed under the lock", w.file.At(s))
		}
	}
	w.callback = sel
	test, ok := w.file.Parents[w.file.Parents[s]].(*ast.IfStmt)
	if ok && test.Init == nil && test.Else == nil && len(test.Body.List) == 1 &&
		w.file.Text(test.Cond) == w.file.Text(sel)+" != nil" {
		return test, nil
	}
	return s, nil
}

// isLast returns an error where the lock is needed behind the wait, or for the functions around it.
func (w *heldWait) isLast() error {
	rest := w.list[slices.Index(w.list, w.stmt)+1:]
	if !w.deferred {
		// p.wg.Wait(); p.mu.Unlock()
		if len(rest) > 0 {
			if op, ok := lockOpOf(w.file, rest[0]); ok && !op.Acquire && op.Path.Key == w.lock.Path.Key {
				return nil
			}
		}
		return fmt.Errorf("%s: the lock is not released behind the wait", w.file.At(w.stmt))
	}
	ops := 0
	w.function.EachCall(func(call *ast.CallExpr) {
		if op, ok := w.file.LockOp(call); ok && op.Path.Key == w.lock.Path.Key {
			ops++
		}
	})
	// What is deferred behind the release runs before it.
	defers := 0
	ast.Inspect(w.function.Body, func(n ast.Node) bool {
		if _, ok := n.(*ast.DeferStmt); ok && w.file.FunctionOf(n) == w.function {
			defers++
		}
		return true
	})
	if defers > 1 {
		return fmt.Errorf("%s: the function defers more than the release", w.file.At(w.stmt))
	}
	if ops != 2 || &w.list[0] != &w.function.Body.List[0] {
		return fmt.Errorf("%s: the function uses the lock in other ways too", w.file.At(w.stmt))
	}
	if len(rest) == 0 {
		return nil
	}
	ret, ok := rest[0].(*ast.ReturnStmt)
	if !ok {
		return fmt.Errorf("%s: what follows the wait may need the lock", w.file.At(rest[0]))
	}
	for _, result := range ret.Results {
		if callIn(w.file, result) != nil || sharedIn(w.file, result) != nil {
			return fmt.Errorf("%s: the result is computed under the lock", w.file.At(ret))
		}
	}
	return nil
}

// releaseFirst moves the release before the wait; a deferred one is made by hand, at each way out.
func (w *heldWait) releaseFirst(edits *edit.Edits) error {
	name, before := "", ""
	if w.callback != nil {
		name = source.NewNames(w.function).For(w.callback)
		before = name + " := " + w.file.Text(w.callback) + "\n"
	}
	unlock := w.file.Text(w.lock.Expr) + ".Unlock()"
	if w.lock.Read {
		unlock = w.file.Text(w.lock.Expr) + ".RUnlock()"
	}
	edits.Before(w.file, w.stmt, func() string { return before + unlock })
	if w.callback != nil {
		text := w.file.Text(w.callback)
		ast.Inspect(w.stmt, func(n ast.Node) bool {
			if e, ok := n.(*ast.SelectorExpr); ok && w.file.Text(e) == text {
				edits.Replace(w.file, e, name)
				return false
			}
			return true
		})
	}
	if !w.deferred {
		edits.DeleteLine(w.file, w.list[slices.Index(w.list, w.stmt)+1])
		return nil
	}
	edits.DeleteLine(w.file, w.list[w.locked+1])
	// The ways out before the wait.
	var err error
	ast.Inspect(w.function.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if w.list[w.locked].Pos() < n.Pos() && n.Pos() < w.stmt.Pos() && err == nil {
				err = releaseAt(edits, place{w.file, []ast.Node{n}}, w.lock)
			}
		case *ast.BranchStmt:
			if n.Tok == token.GOTO {
				err = fmt.Errorf("%s: a goto may lead past the release", w.file.At(n))
			}
		}
		return err == nil
	})
	return err
}

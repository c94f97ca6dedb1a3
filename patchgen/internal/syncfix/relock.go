package syncfix

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// relock keeps code that runs under a lock from taking it again. A call of a
// method that only returns a field becomes the field:
//
//	s.mu.Lock()
//	defer s.mu.Unlock()
//	return New(s.T())	->	return New(s.t)
//
// Of another method, what it does under the lock becomes a method of its own,
// which both call:
//
//	func (s *Suite) T() *testing.T {
//		s.mu.Lock()
//		defer s.mu.Unlock()
//		return s.tLocked()
//	}
//
// Where the holder has the read side and the callee needs the write side, the
// holder takes that. It applies where the callee takes the lock first and releases it last, and does nothing else with
// it; or calls one that does so, and is itself called under the lock alone. Obligation: [validate.LockedOnce].
func relock(p *Problem) (*strategy.Patch, error) {
	r := &relocking{Problem: p, edits: edit.New(), twins: map[*source.Function]string{},
		replaced: map[*ast.CallExpr]bool{}, widened: map[*source.Function]bool{}, within: map[*source.Function]bool{}}
	for _, f := range p.Findings {
		if p.isReachedByOther(f) {
			continue // the call that leads there is another finding
		}
		// The first place, and those that were added to it, where a lock is held too.
		for i, a := range f.Accesses {
			if i > 0 && len(a.Locks) == 0 {
				continue
			}
			if err := r.correct(f, a); err != nil {
				return nil, err
			}
		}
	}
	files, err := r.edits.Files()
	return &strategy.Patch{Files: files, Claim: validate.Claim{Kind: validate.LockedOnce, Lock: r.class}}, err
}

// relocking is the work on one group of findings.
type relocking struct {
	*Problem
	edits    *edit.Edits
	class    string                      // of the lock
	twins    map[*source.Function]string // names of the methods for those who hold the lock
	replaced map[*ast.CallExpr]bool      // calls that take it no more: the source and a run may have shown the same one
	widened  map[*source.Function]bool   // functions that take the write side now
	within   map[*source.Function]bool   // functions that are called under the lock, and were corrected
}

// isReachedByOther reports whether a finding names the second Lock itself, and another one a call that leads to it.
func (p *Problem) isReachedByOther(f *finding.Finding) bool {
	at, err := p.at(f.Accesses[0].Position)
	if err != nil {
		return false
	}
	op, ok := innermost[*ast.CallExpr](at)
	if !ok || at.function() == nil {
		return false
	}
	if _, isOp := at.file.LockOp(op); !isOp {
		return false
	}
	for _, g := range p.Findings {
		from, err := p.at(g.Accesses[0].Position)
		if err != nil || g == f {
			continue
		}
		if call, ok := innermost[*ast.CallExpr](from); ok {
			callee := from.file.Callee(call)
			if callee != nil && p.Facts.LeadsTo(callee, at.function()) {
				return true
			}
		}
	}
	return false
}

// correct keeps the call at one access of f from taking the lock again.
func (r *relocking) correct(f *finding.Finding, again finding.Access) error {
	at, call, held, err := r.callUnder(f, again)
	if err != nil {
		return err
	}
	callee := at.file.Callee(call)
	if callee == nil {
		return fmt.Errorf("%s: what %s calls is not known", at.file.At(call), at.file.Text(call.Fun))
	}
	if err := isOwnCall(at.file, call); err != nil {
		return err
	}
	r.class = held.Path.Class
	body, err := lockedBodyOf(callee)
	if err != nil {
		// The callee leads to one that takes the lock.
		if within := r.correctWithin(at.file, call, callee, held, 1); within != nil {
			return fmt.Errorf("%w, and %w", err, within)
		}
		return nil
	}
	if err := sameLock(at.file, call, callee, held, body.lock); err != nil {
		return err
	}
	// A holder of the read side may not write.
	if holder := at.file.FunctionOf(call); held.Read && !body.lock.Read && !r.widened[holder] {
		r.widened[holder] = true
		if err := r.widen(holder, held); err != nil {
			return err
		}
	}
	return r.replaceCall(at.file, call, callee, body)
}

// replaceCall makes a call of a function that takes the lock one that does not.
func (r *relocking) replaceCall(file *source.File, call *ast.CallExpr, callee *source.Function, body lockedBody) error {
	if r.replaced[call] {
		return nil
	}
	r.replaced[call] = true
	if field := body.returnsField(callee); field != nil {
		text, err := inCaller(file, call, callee, field)
		if err != nil {
			return err
		}
		r.edits.Replace(file, call, text)
		return nil
	}
	name, err := r.twin(callee, body)
	if err != nil {
		return err
	}
	strategy.CallTwin(r.edits, file, call, name)
	return nil
}

// callUnder returns the call at an access of f that takes a lock again, and the lock that is held there. Where a run
// has shown the second Lock alone, the call is that of its stack in the function which has taken the lock.
func (r *relocking) callUnder(f *finding.Finding, again finding.Access) (at place, call *ast.CallExpr,
	held source.LockOp, err error) {
	if at, err = r.at(again.Position); err != nil {
		return at, nil, held, err
	}
	call, ok := innermost[*ast.CallExpr](at)
	if !ok {
		return at, nil, held, fmt.Errorf("%s: no call stands there", again.Position)
	}
	if _, isOp := at.file.LockOp(call); !isOp {
		held, err = r.lockHeldAt(f, again)
		return at, call, held, err
	}
	// The stack has the call, in the function that has taken the lock.
	frames, since := r.callsUnderLock(f, again)
	if len(frames) < 2 {
		return at, nil, held, fmt.Errorf("%s: which of the two Locks is meant is not known", at.file.At(call))
	}
	outer, inner := r.functionOn(frames[len(frames)-1]), r.functionOn(frames[len(frames)-2])
	from, err := r.at(since.Position)
	if err != nil {
		return at, nil, held, err
	}
	if held, ok = lockTakenAt(from); !ok || inner == nil {
		return at, nil, held, fmt.Errorf("%s: no statement that takes the lock stands there", since.Position)
	}
	call = nil
	outer.EachCall(func(c *ast.CallExpr) {
		if outer.File.Line(c.Rparen) == frames[len(frames)-1].Line && outer.File.Callee(c) == inner {
			call = c
		}
	})
	if call == nil {
		return at, nil, held, fmt.Errorf("%s: the call under the lock is not found", since.Position)
	}
	return place{outer.File, []ast.Node{call}}, call, held, nil
}

// isOwnCall refuses calls that run later, or in another goroutine.
func isOwnCall(file *source.File, call *ast.CallExpr) error {
	switch file.Parents[call].(type) {
	case *ast.GoStmt, *ast.DeferStmt:
		return fmt.Errorf("%s: the call runs at another time", file.At(call))
	}
	return nil
}

// sameLock refuses where the lock of the callee is not that which the caller holds, in other words.
func sameLock(file *source.File, call *ast.CallExpr, callee *source.Function, held, again source.LockOp) error {
	differ := fmt.Errorf("%s: the lock of %s may be that of another object", file.At(call), callee.Name())
	if held.Path.Class != again.Path.Class {
		return differ
	}
	recv := callee.Receiver()
	if recv == nil {
		if held.Path.Key != again.Path.Key { // a package variable
			return differ
		}
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return differ
	}
	object, ok := file.PathOf(sel.X)
	root := source.ObjectKey(file.Module, recv)
	rest, isField := strings.CutPrefix(again.Path.Key, root)
	if !ok || !isField || object.Key+rest != held.Path.Key {
		return differ
	}
	return nil
}

// inCaller writes what a method returns in the terms of a call.
func inCaller(file *source.File, call *ast.CallExpr, callee *source.Function, e ast.Expr) (string, error) {
	if file.Package.Path != callee.File.Package.Path {
		return "", fmt.Errorf("%s: %s is of another package", file.At(call), callee.Name())
	}
	field, ok := e.(*ast.SelectorExpr)
	if !ok {
		return callee.File.Text(e), nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return "", fmt.Errorf("%s: the object is not named", file.At(call))
	}
	return file.Text(sel.X) + "." + field.Sel.Name, nil
}

// widen turns the read lock that a function takes into the write lock. It may do nothing
// that waits under it.
func (r *relocking) widen(f *source.Function, held source.LockOp) error {
	if f == nil {
		return fmt.Errorf("%s: the read lock is taken outside of a function", r.Findings[0].Accesses[1].Position)
	}
	var err error
	f.EachCall(func(call *ast.CallExpr) {
		op, ok := f.File.LockOp(call)
		switch {
		case !ok || op.Path.Class != held.Path.Class:
		case op.Path.Key != held.Path.Key || !op.Read || op.Try:
			err = fmt.Errorf("%s uses the lock in other ways too", f.Name())
		default:
			name := call.Fun.(*ast.SelectorExpr).Sel
			r.edits.Replace(f.File, name, strings.TrimPrefix(name.Name, "R"))
		}
	})
	return err
}

package strategy

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// ErrNoVariant is returned by a variant of a strategy that would build what the strategy itself
// does: there is nothing to say of it.
var ErrNoVariant = errors.New("no function takes the lock for a part of what it does")

// guardWhole takes a lock for the whole of each function that took it for a part,
// where what the function read before decides about that part:
//
//	func remove(m Mock) {			func remove(m Mock) {
//						mu.Lock()
//						defer mu.Unlock()
//		for i, x := range mocks {		for i, x := range mocks {
//			if x == m {				if x == m {
//				mu.Lock()				mocks = slices.Delete(mocks, i, i+1)
//				mocks = …			}
//				mu.Unlock()		}
//			}
//		}
//
// It refuses functions that do anything else which may block. The other functions get regions.
func (p *Problem) guardWhole(class string, need []*source.Access) (*Patch, error) {
	lock, err := p.findLock(class)
	if err != nil {
		return nil, err
	}
	open, upgrade, err := p.unguarded(lock, need)
	if err != nil || len(upgrade) > 0 {
		return nil, ErrNoVariant // the strategy itself has said so
	}
	open, left, notes := p.reachable(open, lock)
	out := &Patch{Notes: notes, Claim: p.claim(validate.Guarded, class, left)}
	// The functions that hold it for a part.
	edits := edit.New()
	done := map[*source.Function]bool{}
	for _, a := range open {
		f := a.Outermost()
		if done[f] {
			continue
		}
		done[f], err = p.holdThroughout(edits, f, class, lock, open)
		if err != nil {
			return nil, err
		}
	}
	rest := slices.DeleteFunc(slices.Clone(open), func(a *source.Access) bool { return done[a.Outermost()] })
	if len(rest) == len(open) {
		return nil, ErrNoVariant
	}
	notes, err = p.protectAll(edits, rest, lock.expr, lock.hasRLock, &relatedVariables{problem: p, lock: lock,
		byKey: map[string]*guardedVariable{}})
	if err != nil {
		return nil, err
	}
	out.Notes = append(out.Notes, notes...)
	p.nameGuarded(edits, lock)
	out.Files, err = edits.Files()
	return out, err
}

// holdThroughout takes the lock at the start of f until it returns, in place of what f does with it. Ok is false
// where f does nothing with it.
func (p *Problem) holdThroughout(edits *edit.Edits, f *source.Function, class string, lock *knownLock,
	open []*source.Access) (ok bool, err error) {
	var ops []source.LockOp
	f.EachCall(func(call *ast.CallExpr) {
		if op, ok := f.File.LockOp(call); ok && op.Path.Class == class {
			ops = append(ops, op)
		}
	})
	if len(ops) == 0 {
		return false, nil
	}
	if why := p.reasonApart(f, class, ops); why != "" {
		return false, fmt.Errorf("%s %s", f.Name(), why)
	}
	// One object, whose lock can be named where f starts.
	text, writes := "", false
	for _, a := range open {
		if a.Outermost() != f {
			continue
		}
		t, _, err := lock.expr(a)
		if err != nil {
			return false, err
		}
		isParam := false
		if a.Base != nil {
			root, _ := a.File.RootOf(a.Base)
			isParam = root != nil && slices.Contains(f.Params(), root)
		}
		if text != "" && t != text || !isParam && lock.owner != nil {
			return false, fmt.Errorf("%s: the lock has no name where %s starts", a.File.At(a.Expr), f.Name())
		}
		text, writes = t, writes || a.Mode.Writes()
	}
	start := f.Body.List
	for _, op := range ops {
		s := f.File.StmtOf(op.Call)
		_, isExpr := s.(*ast.ExprStmt)
		_, isDefer := s.(*ast.DeferStmt)
		if op.Try || f.File.Text(op.Expr) != text || !isExpr && !isDefer {
			return false, fmt.Errorf("%s: %s uses the lock in other ways", f.File.At(op.Call), f.Name())
		}
		writes = writes || !op.Read
		edits.DeleteLine(f.File, s)
		if s == start[0] {
			start = start[1:]
		}
	}
	if len(start) == 0 {
		return false, fmt.Errorf("%s does nothing but to use the lock", f.Name())
	}
	mode := ""
	if lock.hasRLock && !writes {
		mode = "R"
	}
	edits.Before(f.File, start[0], func() string {
		return fmt.Sprintf("%s.%sLock()\ndefer %s.%sUnlock()", text, mode, text, mode)
	})
	return true, nil
}

// reasonApart returns why the body of f cannot be held as a whole, operations on the lock and calls that others make
// under a lock of the class apart.
func (p *Problem) reasonApart(f *source.Function, class string, ops []source.LockOp) (why string) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if why != "" {
			return false
		}
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.FuncLit:
			return f.File.RunsAt(f.File.Module.FunctionAt(n)) != nil
		case *ast.CallExpr:
			if slices.ContainsFunc(ops, func(op source.LockOp) bool { return op.Call == n }) {
				return false
			}
			if callee := f.File.Callee(n); callee == nil || !p.Facts.IsHeldAround(callee, class) {
				why = p.Facts.CallReason(f.File, n, nil)
			}
		case *ast.ForStmt:
			// for !x.ready {}: others need the lock to change that
			if n.Cond == nil || f.File.Sets(n, f.File.LocalsIn(n.Cond)) == nil {
				why = "loops until others change what it tests"
			}
		case *ast.BranchStmt:
			if n.Tok == token.GOTO {
				why = "uses goto"
			}
		case *ast.RangeStmt: // the body is looked at by itself
			why = p.Facts.HeaderBlocks(f.File, n)
		default:
			if source.IsWait(n) {
				why = p.Facts.Blocks(f.File, n)
			}
		}
		return true
	})
	return why
}

// guardEntries takes a lock from start to end in the functions that come to the variable without it, where the accesses
// are in helpers that others call under it:
//
//	func (b *bar) Add(n int) {		func (b *bar) Describe(s string) {
//		b.mu.Lock()				b.mu.Lock()		<- new
//		defer b.mu.Unlock()			defer b.mu.Unlock()	<- new
//		b.n += n				b.text = s
//		b.render()				b.render()
//	}					}
//
// What such a function calls may do I/O where others call it under the lock: the author holds it there.
func (p *Problem) guardEntries(class string, need []*source.Access) (*Patch, error) {
	lock, err := p.findLock(class)
	if err != nil {
		return nil, err
	}
	open := slices.DeleteFunc(slices.Clone(need), func(a *source.Access) bool {
		held, known := lock.held(a)
		return known && held.Surely && (!held.ReadOnly || !a.Mode.Writes())
	})
	open, left, notes := p.reachable(open, lock)
	// Who comes to them without the lock, and whether to write.
	writes := map[*source.Function]bool{}
	var entries []*source.Function
	for _, a := range open {
		from, err := p.entriesOf(a.Function, class, map[*source.Function]bool{})
		if err != nil {
			return nil, err
		}
		for _, f := range from {
			if _, seen := writes[f]; !seen {
				entries = append(entries, f)
			}
			writes[f] = writes[f] || a.Mode.Writes()
		}
	}
	if len(entries) == 0 {
		return nil, ErrNoVariant
	}
	edits := edit.New()
	for _, f := range entries {
		text, err := p.lockAtStart(f, class, lock)
		if err != nil {
			return nil, err
		}
		mode := ""
		if lock.hasRLock && !writes[f] {
			mode = "R"
		}
		edits.Before(f.File, f.Body.List[0], func() string {
			return fmt.Sprintf("%s.%sLock()\ndefer %s.%sUnlock()", text, mode, text, mode)
		})
	}
	p.nameGuarded(edits, lock)
	out := &Patch{Notes: notes, Claim: p.claim(validate.Guarded, class, left)}
	out.Files, err = edits.Files()
	return out, err
}

// entriesOf lists the functions through which f is reached without a lock of the class: f itself if nobody calls it
// with one, else those of its callers that hold none. An object that the caller has just made needs none.
func (p *Problem) entriesOf(f *source.Function, class string, seen map[*source.Function]bool) ([]*source.Function,
	error) {
	if f == nil || f.Outer != nil {
		return nil, errors.New("an access is in a function literal, which may run at another time")
	}
	if seen[f] {
		return nil, nil
	}
	seen[f] = true
	// Who calls it with the lock, and who without.
	calls, asValue := p.Module.References(f)
	var without []source.Call
	isLocked := false
	for _, call := range calls {
		switch {
		case call.In == nil || call.In.File.Test:
		case !call.IsGo() && p.Facts.MayHold(call.In.File, call.Expr, class):
			isLocked = true
		case !p.isOnFresh(f, call):
			without = append(without, call)
		}
	}
	switch {
	case !isLocked:
		return []*source.Function{f}, nil
	case asValue || f.Object.Exported():
		return nil, fmt.Errorf("%s is called with the lock, and others may call it without", f.Name())
	}
	var entries []*source.Function
	for _, call := range without {
		more, err := p.entriesOf(call.In, class, seen)
		if err != nil {
			return nil, err
		}
		entries = append(entries, more...)
	}
	return entries, nil
}

// isOnFresh reports whether a call of the method f is on an object that its caller has just made.
func (p *Problem) isOnFresh(f *source.Function, call source.Call) bool {
	args := f.Arguments(call.Expr)
	if f.Recv == nil || len(args) == 0 {
		return false
	}
	root, _ := call.In.File.RootOf(args[0])
	return root != nil && call.In.File.Allocated(root)
}

// lockAtStart writes the lock as it is reached where f starts, and refuses an f that uses it already, or that may block
// in other ways than under the lock elsewhere.
func (p *Problem) lockAtStart(f *source.Function, class string, lock *knownLock) (text string, err error) {
	var ops []source.LockOp
	f.EachCall(func(call *ast.CallExpr) {
		if op, ok := f.File.LockOp(call); ok && op.Path.Class == class {
			ops = append(ops, op)
		}
	})
	if len(ops) > 0 {
		return "", ErrNoVariant
	}
	if why := p.reasonApart(f, class, nil); why != "" {
		return "", fmt.Errorf("%s %s", f.Name(), why)
	}
	// A package variable, or a field of a parameter.
	if lock.owner == nil && lock.local == nil && f.File.Package.Path == lock.pkg.Path() {
		return lock.field, nil
	}
	for _, obj := range f.Params() {
		if obj == nil || obj.Name() == "_" || !source.SameNamed(source.Named(obj.Type()), lock.owner) ||
			!source.IsPointer(obj.Type()) {
			continue
		}
		if text != "" {
			return "", fmt.Errorf("%s: which lock is meant is not known", f.Name())
		}
		text = lock.sourceOf(obj.Name())
	}
	if text == "" {
		return "", fmt.Errorf("the lock has no name where %s starts", f.Name())
	}
	return text, nil
}

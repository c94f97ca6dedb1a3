package strategy

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

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
	own := map[*ast.CallExpr]bool{}
	f.EachCall(func(call *ast.CallExpr) {
		if op, ok := f.File.LockOp(call); ok && op.Path.Class == class {
			ops, own[call] = append(ops, op), true
		}
	})
	if len(ops) == 0 {
		return false, nil
	}
	if why := p.reasonApart(f, class, own, nil); why != "" {
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

// reasonApart returns why the body of f cannot be held as a whole, except its own calls and those that others make
// under a lock of the class. Some functions take the lock once the patch is made.
func (p *Problem) reasonApart(f *source.Function, class string, own map[*ast.CallExpr]bool,
	takes map[*ssa.Function]bool) (why string) {
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
			callee := f.File.Callee(n)
			switch {
			case own[n]:
			case callee == nil || !p.Facts.IsHeldAround(callee, class):
				why = p.Facts.CallReason(f.File, n, takes)
			case slices.ContainsFunc(p.Facts.Runs(f.File, n), func(fn *ssa.Function) bool { return takes[fn] }):
				why = "calls " + f.File.Text(n.Fun) + ", which takes the lock"
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
	if len(open) == 0 {
		return nil, ErrNoVariant
	}
	edits, err := p.takeAtStart(open, lock, false)
	if err != nil {
		return nil, err
	}
	p.nameGuarded(edits, lock)
	out := &Patch{Notes: notes, Claim: p.claim(validate.Guarded, class, left)}
	out.Files, err = edits.Files()
	return out, err
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

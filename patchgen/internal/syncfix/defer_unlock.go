package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// deferUnlock defers the release of a lock that a panic leaves held, where somebody recovers from it:
//
//	b.mu.Lock()				b.mu.Lock()
//	for _, s := range b.subs {		defer b.mu.Unlock()	<- new
//		s.notify(e)		->	for _, s := range b.subs {
//	}						s.notify(e)
//	b.mu.Unlock()				}
//	return len(b.subs)			return len(b.subs)
//
// A run has to have shown that a goroutine waits for the lock which a call that has ended acquired. It applies where
// each return releases the lock, so that a panic has left it, and what follows the release may be done under the lock.
// Obligation: [validate.ReleasedAnyway].
func deferUnlock(p *Problem) (*strategy.Patch, error) {
	edits := edit.New()
	claim := validate.Claim{Kind: validate.ReleasedAnyway}
	done := map[ast.Stmt]bool{}
	for _, f := range p.Findings {
		if f.Evidence == nil {
			continue
		}
		// Each lock that a call which has ended left held.
		for _, h := range f.Evidence.Holders {
			if !h.Returned {
				continue
			}
			at, err := p.at(h.Position)
			if err != nil {
				return nil, err
			}
			lock, ok := lockTakenAt(at)
			if !ok {
				return nil, fmt.Errorf("%s: no statement that takes the lock stands there", h.Position)
			}
			stmt := at.file.StmtOf(at.path[0])
			if done[stmt] {
				continue
			}
			done[stmt] = true
			if err := p.deferRelease(edits, at, stmt, lock); err != nil {
				return nil, err
			}
			claim.Lock = lock.Path.Class
		}
	}
	if len(done) == 0 {
		return nil, strategy.NotMeant("no run has shown a lock that a call which has ended left held")
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: claim}, err
}

// deferRelease defers the release of a lock behind the statement that takes it, and removes those that there are.
func (p *Problem) deferRelease(edits *edit.Edits, at place, stmt ast.Stmt, lock source.LockOp) error {
	file, f := at.file, at.function()
	if f == nil || !slices.Contains(f.Body.List, stmt) {
		return fmt.Errorf("%s: the lock is taken in a block of its own, so that a deferred release would come late",
			file.At(stmt))
	}
	for _, later := range f.Body.List[slices.Index(f.Body.List, stmt):] {
		if d := deferIn(later); d != nil {
			return fmt.Errorf("%s: what is deferred behind the Lock would run under it", file.At(d))
		}
	}
	releases, err := p.releasesOf(f, stmt, lock)
	if err != nil {
		return err
	}
	// What follows a release, up to the end of the function, comes under the lock.
	for _, release := range releases {
		if err := p.mayFollow(f, release); err != nil {
			return err
		}
		edits.DeleteLine(file, release)
	}
	text := "defer " + file.Text(lock.Expr) + ".Unlock()"
	if lock.Read {
		text = "defer " + file.Text(lock.Expr) + ".RUnlock()"
	}
	edits.After(file, stmt, func() string { return text })
	return nil
}

// deferIn returns a defer of the function in a statement; nil if there is none.
func deferIn(s ast.Stmt) (found ast.Node) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt:
			found = n
		}
		return found == nil
	})
	return found
}

// releasesOf lists the statements of a function that release a lock, which it takes once.
func (p *Problem) releasesOf(f *source.Function, stmt ast.Stmt, lock source.LockOp) (list []ast.Stmt, err error) {
	f.EachCall(func(call *ast.CallExpr) {
		op, ok := f.File.LockOp(call)
		if !ok || op.Path.Key != lock.Path.Key {
			return
		}
		s, isStmt := f.File.Parents[call].(*ast.ExprStmt)
		switch {
		case isStmt && ast.Stmt(s) == stmt:
		case !isStmt || op.Acquire || op.Read != lock.Read || s.Pos() < stmt.Pos():
			err = fmt.Errorf("%s: the function uses the lock in other ways too", f.File.At(call))
		case f.File.IsWithin(s, source.IsLoop):
			err = fmt.Errorf("%s: the lock is released in a loop", f.File.At(s))
		default:
			list = append(list, s)
		}
	})
	if err == nil && len(list) == 0 {
		err = errors.New("the function does not release the lock")
	}
	return list, err
}

// mayFollow returns an error where something behind a release must not be done under the lock.
func (p *Problem) mayFollow(f *source.Function, release ast.Stmt) error {
	file := f.File
	for n := ast.Node(release); n != nil && n != ast.Node(f.Body); n = file.Parents[n] {
		stmt, ok := n.(ast.Stmt)
		if !ok {
			continue
		}
		list := source.ListOf(file, stmt)
		for _, later := range list[slices.Index(list, stmt)+1:] {
			if why := p.Facts.Blocks(file, later); why != "" {
				return fmt.Errorf("%s would come under the lock, and %s", file.At(later), why)
			}
			if _, returns := later.(*ast.ReturnStmt); returns {
				return nil
			}
		}
	}
	return nil
}

package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// unlockAround releases a lock while a function value or a method of an interface runs, which has come back for it:
//
//	for _, m := range s.metrics {		for _, m := range s.metrics {
//		m.write(w)	// calls s.Get		s.mu.Unlock()
//	}					->	m.write(w)
//							s.mu.Lock()
//						}
//
// It applies to a statement of the function that has taken the lock. It makes drafts: what the lock guards may change
// meanwhile. Obligation: [validate.ReleasedFirst].
func unlockAround(p *Problem) (*strategy.Patch, error) {
	edits, done := edit.New(), map[ast.Stmt]bool{}
	claim := validate.Claim{Kind: validate.ReleasedFirst}
	for _, f := range p.Findings {
		if p.isReachedByOther(f) {
			continue // the call that leads there is another finding
		}
		c, err := p.callback(f)
		if err != nil {
			return nil, err
		}
		claim.Lock = c.held.Path.Class
		if done[c.stmt] {
			continue
		}
		done[c.stmt] = true
		lock := c.file.Text(c.held.Expr)
		release, acquire := lock+".Unlock()", lock+".Lock()"
		if c.held.Read {
			release, acquire = lock+".RUnlock()", lock+".RLock()"
		}
		edits.Before(c.file, c.stmt, func() string { return release })
		edits.After(c.file, c.stmt, func() string { return acquire })
	}
	if len(done) == 0 {
		return nil, errors.New("no call under the lock is known")
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: claim}, err
}

// callback is a statement under a lock that calls a function which is not known before.
type callback struct {
	file *source.File
	stmt ast.Stmt
	held source.LockOp
}

// callback finds the statement by the stack of a goroutine that waits for the lock that it holds.
func (p *Problem) callback(f *finding.Finding) (*callback, error) {
	if len(f.Accesses) == 0 {
		return nil, strategy.NotMeant("the finding names no access")
	}
	// The function that has taken the lock, and the next one inwards.
	frames, since := p.callsUnderLock(f, f.Accesses[0])
	if len(frames) < 2 {
		return nil, strategy.NotMeant("the function that has taken the lock is not on the stack")
	}
	from, err := p.at(since.Position)
	if err != nil {
		return nil, err
	}
	held, ok := lockTakenAt(from)
	if !ok {
		return nil, fmt.Errorf("%s: no statement that takes the lock stands there", since.Position)
	}
	// Its call that is not by name.
	var calls []*ast.CallExpr
	holder := p.functionOn(frames[len(frames)-1])
	holder.EachCall(func(call *ast.CallExpr) {
		if holder.File.Line(call.Rparen) == frames[len(frames)-1].Line && isDynamic(holder.File, call) {
			calls = append(calls, call)
		}
	})
	if len(calls) != 1 {
		return nil, strategy.NotMeant("the call under the lock is by name, or one of several on its line")
	}
	stmt := statementOfCall(holder.File, calls[0])
	if stmt == nil || !holder.File.OwnLine(stmt) {
		return nil, fmt.Errorf("%s: the call is only a part of its statement", holder.File.At(calls[0]))
	}
	return &callback{holder.File, stmt, held}, nil
}

// statementOfCall returns the statement that a call is, or that assigns its results, with the test of these that goes
// on in any case:
//
//	if err := w.Write(b); err != nil {
//		s.log.Print(err)
//	}
func statementOfCall(file *source.File, call *ast.CallExpr) ast.Stmt {
	stmt, ok := file.Parents[call].(ast.Stmt)
	if !ok {
		return nil
	}
	switch stmt.(type) {
	case *ast.ExprStmt, *ast.AssignStmt:
	default:
		return nil
	}
	test, ok := file.Parents[stmt].(*ast.IfStmt)
	if !ok {
		return stmt
	}
	leaves := test.Else != nil || test.Init != stmt
	ast.Inspect(test, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.BranchStmt:
			leaves = true
		}
		return true
	})
	if leaves {
		return nil
	}
	return test
}

// isDynamic reports whether a call is of a function value or of a method of an interface.
func isDynamic(file *source.File, call *ast.CallExpr) bool {
	switch callee := typeutil.Callee(file.Package.Info, call).(type) {
	case *types.Var:
		return true
	case *types.Func:
		recv := callee.Signature().Recv()
		return recv != nil && types.IsInterface(recv.Type())
	}
	return false
}

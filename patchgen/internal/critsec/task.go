package critsec

import (
	"fmt"
	"go/ast"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// Task is the work to be done in one function under one lock.
type Task struct {
	*Scope
	edits       *edit.Edits
	Variable    *source.Variable
	Lock        string           // source of the lock: "x.mu"
	LockKey     string           // its place
	HasRLock    bool             // it has a read side
	AlreadyHeld []*source.Access // accesses of state under the lock that hold it already
	// Beside are accesses of variables that come under the lock with Variable, and need not be one step with it.
	Beside map[ast.Expr]bool
	// TwoSteps reports that a read of the variable and a later write came to lie
	// in two regions.
	TwoSteps bool
	// LateWrites are the notes on reads that decide about a later write in another region.
	LateWrites []string
	// Torn are the decisions about other variables that came to lie in two regions of a draft.
	Torn []Decision
}

func (c *Task) acquires(s ast.Stmt) *source.LockOp {
	es, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	if call, ok := es.X.(*ast.CallExpr); ok {
		if op, ok := c.File.LockOp(call); ok && op.Acquire && !op.Try && op.Path.Key == c.LockKey &&
			c.File.Text(op.Expr) == c.Lock {
			return &op
		}
	}
	return nil
}

func (c *Task) defersUnlock(s ast.Stmt) bool {
	d, ok := s.(*ast.DeferStmt)
	if !ok {
		return false
	}
	op, ok := c.File.LockOp(d.Call)
	return ok && !op.Acquire && op.Path.Key == c.LockKey
}

// OneObjectPerStatement refuses functions where one statement accesses the variable
// of two objects: their locks would nest.
func OneObjectPerStatement(covers []*Task) error {
	seen := map[ast.Stmt]*Task{}
	for _, c := range covers {
		for _, a := range c.Accesses {
			s := c.File.StmtOf(a.Expr)
			if other := seen[s]; other != nil && other != c {
				return fmt.Errorf("%s: one statement accesses the variable of two objects", c.File.At(s))
			}
			seen[s] = c
		}
	}
	return nil
}

// NewTask returns the work in f, without a lock or accesses yet.
func NewTask(facts *facts.Facts, f *source.Function, edits *edit.Edits) *Task {
	in := &Scope{File: f.File, Function: f, Facts: facts, Accesses: map[ast.Expr]*source.Access{}}
	return &Task{Scope: in, edits: edits}
}

// unlocks returns the lock operation of a statement that is x.mu.Unlock() for
// this lock, held for writing on every way there.
func (c *Task) unlocks(s ast.Stmt) *source.LockOp {
	if op := c.releases(s); op != nil && !op.Read {
		return op
	}
	return nil
}

// releases returns the lock operation of a statement that is x.mu.Unlock() or x.mu.RUnlock() for this lock, if that
// side is held on every way there.
func (c *Task) releases(s ast.Stmt) *source.LockOp {
	es, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	call, ok := es.X.(*ast.CallExpr)
	if !ok {
		return nil
	}
	op, ok := c.File.LockOp(call)
	if !ok || op.Acquire || op.Path.Key != c.LockKey || c.File.Text(op.Expr) != c.Lock || !c.Facts.IsHeld(c.File, op) {
		return nil
	}
	return &op
}

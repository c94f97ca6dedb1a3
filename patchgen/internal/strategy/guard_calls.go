package strategy

import (
	"errors"
	"fmt"
	"go/ast"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// guardCalls takes a lock around calls, where it has no name at an access that they lead to:
//
//	func (p *part) add(n int) { p.n += n }
//
//	s.parts[i].add(1)	->	s.locks[i].Lock()
//					s.parts[i].add(1)
//					s.locks[i].Unlock()
//
// The other accesses get regions.
func (p *Problem) guardCalls(class string, need []*source.Access) (*Patch, error) {
	lock, err := p.findLock(class)
	if err != nil {
		return nil, ErrNoVariant // the strategy itself has said so
	}
	open, upgrade, err := p.unguarded(lock, need)
	if err != nil || len(upgrade) > 0 {
		return nil, ErrNoVariant
	}
	// For each access the places at which the lock has a name.
	open, left, notes := p.reachable(open, lock)
	around := &callsAround{lock: lock, seen: map[*source.Function]bool{}}
	var named []*source.Access
	for _, a := range open {
		_, _, unnamed := lock.expr(a)
		if unnamed == nil {
			named = append(named, a)
			continue
		}
		if err := around.find(a.Outermost(), a.Mode, 0); err != nil {
			return nil, fmt.Errorf("%w; around its callers: %w", unnamed, err)
		}
	}
	if len(around.found) == 0 {
		return nil, ErrNoVariant
	}
	edits := edit.New()
	more, err := p.protectAll(edits, append(named, around.found...), lock.expr, lock.hasRLock, nil)
	if err != nil {
		return nil, err
	}
	p.nameGuarded(edits, lock)
	out := &Patch{Notes: append(notes, more...), Claim: p.claimAll(class, left)}
	out.Files, err = edits.Files()
	return out, err
}

// callsAround finds the calls on the way to accesses at which a lock has a name.
type callsAround struct {
	lock  *knownLock
	seen  map[*source.Function]bool
	found []*source.Access // the operands of the calls, as accesses that the whole call makes
}

// mostCallers is how many callers are asked, one after the other.
const mostCallers = 4

// find looks for them from a function outwards. Calls under the lock, and for an object that the caller has just made,
// are left out.
func (c *callsAround) find(f *source.Function, mode source.Mode, depth int) error {
	switch {
	case f == nil || f.Outer != nil:
		return errors.New("a function literal may run at another time")
	case c.seen[f]:
		return nil
	}
	c.seen[f] = true
	// All of its callers have to be known.
	p := c.lock.problem
	calls, asValue := p.Module.References(f)
	if asValue || len(calls) == 0 || depth == mostCallers {
		return fmt.Errorf("who calls %s is not known", f.Name())
	}
	// Each takes the lock around the call, or is asked for its own callers.
	for _, call := range calls {
		switch {
		case call.In == nil:
			return fmt.Errorf("%s is called where package variables are set", f.Name())
		case call.In.File.Test || p.isOnFresh(f, call):
			continue
		case call.IsGo():
			return fmt.Errorf("%s: the call starts a goroutine", call.In.File.At(call.Expr))
		case p.Facts.MayHold(call.In.File, call.Expr, c.lock.class):
			continue
		}
		if a := accessOf(f, call, mode); a != nil {
			if _, _, err := c.lock.expr(a); err == nil {
				c.found = append(c.found, a)
				continue
			}
		}
		from := &source.Access{Function: call.In, File: call.In.File}
		if err := c.find(from.Outermost(), mode, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// accessOf returns the call of a method as an access of what its operand leads to; nil where there is no operand.
func accessOf(f *source.Function, call source.Call, mode source.Mode) *source.Access {
	sel, ok := ast.Unparen(call.Expr.Fun).(*ast.SelectorExpr)
	if f.Recv == nil || !ok {
		return nil
	}
	if mode.Writes() {
		mode = source.Update
	} else {
		mode = source.Read
	}
	return &source.Access{File: call.In.File, Function: call.In, Expr: sel.X, Base: sel.X, Mode: mode, Whole: call.Expr,
		Call: call.Expr}
}

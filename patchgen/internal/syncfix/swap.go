package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// swap breaks a cycle in the order of locks where two Locks stand one after
// the other, with nothing but deferred Unlocks between them: they change places.
//
//	b.mu.Lock()			a.mu.Lock()
//	defer b.mu.Unlock()	->	defer a.mu.Unlock()
//	a.mu.Lock()			b.mu.Lock()
//	defer a.mu.Unlock()		defer b.mu.Unlock()
//
// It does not apply where the second lock is found through what the first one
// guards, which is a field that is set when others can reach its object, nor to
// two instances of one class: there only a rank of the objects would help, and
// none is known. Obligation: [validate.Ordered].
func swap(p *Problem) (*strategy.Patch, error) {
	var reasons []string
	for _, f := range p.Findings {
		for _, e := range f.Cycle {
			out, err := p.swapEdge(e)
			if err == nil {
				return out, nil
			}
			reasons = append(reasons, err.Error())
		}
	}
	if len(reasons) == 0 {
		return nil, errors.New("the finding names no order of locks")
	}
	slices.Sort(reasons)
	return nil, errors.New(strings.Join(slices.Compact(reasons), "; "))
}

// swapEdge reverses one edge of a cycle.
func (p *Problem) swapEdge(e finding.Edge) (*strategy.Patch, error) {
	if e.From == e.To {
		return nil, fmt.Errorf("two %s are locked in the order in which they are passed: no rank of them is known",
			finding.ShortLock(e.From))
	}
	if e.Since == nil || e.Via != "" {
		return nil, fmt.Errorf("%s: the second lock is taken by a callee", e.Position)
	}
	first, err := p.at(*e.Since)
	if err != nil {
		return nil, err
	}
	second, err := p.at(e.Position)
	if err != nil {
		return nil, err
	}
	pair, err := adjacent(first, second)
	if err != nil {
		return nil, err
	}
	// x.next.mu behind x.mu: x.next may be what x.mu guards
	a, b := holder(pair[0].op.Path.Key), holder(pair[1].op.Path.Key)
	if a != b && strings.HasPrefix(b, a+".") && !p.isFixedPath(first.file, pair[1].op.Expr, a) {
		return nil, fmt.Errorf("%s: the second lock is found through what the first may guard", e.Position)
	}
	// Each statement takes the other's place, and the defers with them.
	edits, file := edit.New(), first.file
	exchange := func(a, b ast.Stmt) {
		edits.Replace(file, a, file.Text(b))
		edits.Replace(file, b, file.Text(a))
	}
	switch {
	case pair[0].unlock != nil && pair[1].unlock != nil:
		exchange(pair[0].lock, pair[1].lock)
		exchange(pair[0].unlock, pair[1].unlock)
	case pair[0].unlock != nil: // the defer stays behind its Lock
		text := edits.Cut(file, pair[1].lock)
		edits.Before(file, pair[0].lock, func() string { return text })
	default:
		exchange(pair[0].lock, pair[1].lock)
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: validate.Claim{Kind: validate.Ordered, Lock: e.From, Second: e.To}}, err
}

// locking is a Lock, and its deferred Unlock if that follows at once.
type locking struct {
	op           source.LockOp
	lock, unlock ast.Stmt
}

// adjacent returns two Locks that stand one after the other in one list.
func adjacent(first, second place) (pair [2]locking, err error) {
	apart := fmt.Errorf("%s: the two locks are not taken one right after the other", second.file.At(second.path[0]))
	a, b := first.file.StmtOf(first.path[0]), second.file.StmtOf(second.path[0])
	list := source.ListOf(first.file, a)
	i, j := slices.Index(list, a), slices.Index(list, b)
	if first.file != second.file || i < 0 || j <= i || j > i+2 {
		return pair, apart
	}
	for k, at := range []int{i, j} {
		op, ok := lockOpOf(first.file, list[at])
		if !ok || !op.Acquire {
			return pair, apart
		}
		pair[k] = locking{op: op, lock: list[at]}
		if at+1 < len(list) && releasesDeferred(first.file, list[at+1], op) {
			pair[k].unlock = list[at+1]
		}
	}
	if j == i+2 && pair[0].unlock == nil {
		return pair, apart
	}
	return pair, nil
}

// releasesDeferred reports whether s defers the release of the lock.
func releasesDeferred(file *source.File, s ast.Stmt, lock source.LockOp) bool {
	d, ok := s.(*ast.DeferStmt)
	if !ok {
		return false
	}
	op, ok := file.LockOp(d.Call)
	return ok && !op.Acquire && op.Path.Key == lock.Path.Key && op.Read == lock.Read
}

// isFixedPath reports whether the object of a lock such as x.next.mu is reached from the object at root by fields that
// are set only while nobody else can reach them.
func (p *Problem) isFixedPath(file *source.File, lock ast.Expr, root string) bool {
	for e := ast.Unparen(lock); ; {
		sel, ok := e.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		e = ast.Unparen(sel.X)
		at, ok := file.PathOf(e)
		if !ok || at.Key == root {
			return ok
		}
		_, obj := file.VariableOf(e)
		if obj == nil || !obj.IsField() || obj.Exported() {
			return false
		}
		for _, a := range p.Module.Accesses(p.Module.NewVariable(obj, file, e)) {
			isSet := a.Mode.Writes() || a.Mode == source.Address
			if isSet && !p.Facts.IsPrivate(a) {
				return false
			}
		}
	}
}

// holder is the place of the object that holds a lock: that of x for x.mu. A file's name is part of the root.
func holder(key string) string {
	if i := strings.LastIndexByte(key, '.'); i > strings.LastIndexByte(key, ':') {
		return key[:i]
	}
	return key
}

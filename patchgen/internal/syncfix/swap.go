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

// swap breaks a cycle in the order of locks where one function takes two locks, in one list of statements: they change
// places, or the second one is taken first if statements lie in between.
//
//	b.mu.Lock()			a.mu.Lock()
//	defer b.mu.Unlock()	->	defer a.mu.Unlock()
//	a.mu.Lock()			b.mu.Lock()
//	defer a.mu.Unlock()		defer b.mu.Unlock()
//
// Where several functions take the two in one order, all of them are changed: the order that fewer functions have
// goes first.
//
// It does not apply where the second lock is found through what the first one
// guards, which is a field that is set when others can reach its object, nor to
// two instances of one class: there only a rank of the objects would help, and
// none is known. Obligation: [validate.Ordered].
func swap(p *Problem) (*strategy.Patch, error) {
	var reasons []string
	var best []couple
	var notMeant error
	for _, f := range p.Findings {
		for _, e := range f.Cycle {
			found, err := p.couplesOf(e)
			if err != nil {
				reasons = append(reasons, err.Error())
			} else if best == nil || len(found) < len(best) {
				best = found
			}
		}
		if len(f.Cycle) == 0 && best == nil {
			if best, notMeant = p.waitingCouples(f); notMeant != nil && !strategy.IsNotMeant(notMeant) {
				reasons = append(reasons, notMeant.Error())
			}
		}
	}
	switch {
	case best != nil:
		return swapAll(best)
	case len(reasons) == 0 && notMeant != nil:
		return nil, notMeant
	case len(reasons) == 0:
		return nil, errors.New("the finding names no order of locks")
	}
	slices.Sort(reasons)
	return nil, errors.New(strings.Join(slices.Compact(reasons), "; "))
}

// swapAll makes the two locks of each couple change places.
func swapAll(all []couple) (*strategy.Patch, error) {
	edits := edit.New()
	for _, c := range all {
		c.swap(edits)
	}
	files, err := edits.Files()
	claim := validate.Claim{Kind: validate.Ordered, Lock: all[0].first.op.Path.Class, Second: all[0].second.op.Path.Class}
	return &strategy.Patch{Files: files, Claim: claim}, err
}

// couplesOf returns the places that take the two locks of an edge of a cycle in its order. The one that the finding
// names comes first: without it there is no reason to change the others.
func (p *Problem) couplesOf(e finding.Edge) ([]couple, error) {
	if e.From == e.To {
		return nil, fmt.Errorf("two %s are locked in the order in which they are passed: no rank of them is known",
			finding.ShortLock(e.From))
	}
	if e.Since == nil || e.Via != "" {
		return nil, fmt.Errorf("%s: the second lock is taken by a callee", e.Position)
	}
	// The two places stand in one list of statements, or nothing can change places.
	first, err := p.at(*e.Since)
	if err != nil {
		return nil, err
	}
	second, err := p.at(e.Position)
	if err != nil {
		return nil, err
	}
	if first.file != second.file {
		return nil, fmt.Errorf("%s: the two locks are taken in different files", e.Position)
	}
	file := first.file
	named, err := p.coupleOf(file, file.StmtOf(first.path[0]), file.StmtOf(second.path[0]))
	if err != nil {
		return nil, err
	}
	return append([]couple{named}, p.othersLike(named)...), nil
}

// couplesLike returns all places, except in tests, that take locks of the two classes in the same order. A place that
// cannot be changed is left out: the judge finds that both orders are left then.
func (p *Problem) couplesLike(named couple) (all []couple) {
	classes := [2]string{named.first.op.Path.Class, named.second.op.Path.Class}
	takes := func(file *source.File, s ast.Stmt, class string) bool {
		op, ok := lockOpOf(file, s)
		return ok && op.Acquire && op.Path.Class == class
	}
	// One list may hold several couples: each first Lock has its nearest second one.
	visit := func(file *source.File, list []ast.Stmt) {
		for i, s := range list {
			if !takes(file, s, classes[0]) {
				continue
			}
			j := slices.IndexFunc(list[i:], func(s ast.Stmt) bool { return takes(file, s, classes[1]) })
			if j < 0 {
				continue
			}
			if c, err := p.coupleOf(file, s, list[i+j]); err == nil {
				all = append(all, c)
			}
		}
	}
	for _, pkg := range p.Module.Packages {
		for _, file := range pkg.Files {
			if file.Test {
				continue
			}
			ast.Inspect(file.Syntax, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BlockStmt:
					visit(file, n.List)
				case *ast.CaseClause:
					visit(file, n.Body)
				case *ast.CommClause:
					visit(file, n.Body)
				}
				return true
			})
		}
	}
	return all
}

// locking is a Lock, and its deferred Unlock if that follows at once.
type locking struct {
	op           source.LockOp
	lock, unlock ast.Stmt
}

// couple are two Locks of one list of statements, and what lies between them.
type couple struct {
	file          *source.File
	first, second locking
	between       []ast.Stmt
}

// coupleOf returns the couple that two statements are.
func (p *Problem) coupleOf(file *source.File, first, second ast.Stmt) (c couple, err error) {
	c.file = file
	list := source.ListOf(file, first)
	i, j := slices.Index(list, first), slices.Index(list, second)
	if i < 0 || j <= i {
		return c, fmt.Errorf("%s: the two locks are not taken in one list of statements", file.At(second))
	}
	for k, at := range [2]int{i, j} {
		op, ok := lockOpOf(file, list[at])
		if !ok || !op.Acquire {
			return c, fmt.Errorf("%s: no statement that takes a lock stands there", file.At(list[at]))
		}
		taken := locking{op: op, lock: list[at]}
		if at+1 < len(list) && releasesDeferred(file, list[at+1], op) {
			taken.unlock = list[at+1]
		}
		if k == 0 {
			c.first = taken
		} else {
			c.second = taken
		}
	}
	if c.between = list[i+1 : j]; c.first.unlock != nil && len(c.between) > 0 {
		c.between = c.between[1:]
	}
	// x.next.mu behind x.mu: x.next may be what x.mu guards
	a, b := holder(c.first.op.Path.Key), holder(c.second.op.Path.Key)
	if a != b && strings.HasPrefix(b, a+".") && !p.isFixedPath(file, c.second.op.Expr, a) {
		return c, fmt.Errorf("%s: the second lock is found through what the first may guard", file.At(second))
	}
	return c, c.mayLift()
}

// mayLift returns why the second lock cannot be taken before what lies between the two.
func (c *couple) mayLift() error {
	locals := c.file.LocalsIn(c.second.op.Expr)
	for _, s := range c.between {
		if c.file.Sets(s, locals) != nil || setsPath(c.file, s, c.second.op.Path.Key) {
			return fmt.Errorf("%s: what the second lock is found by is set between the two", c.file.At(s))
		}
		// A way out in between would keep the second lock, unless its release is deferred.
		if leaves := wayOut(s); leaves != nil && c.second.unlock == nil {
			return fmt.Errorf("%s: a way leads out between the two locks", c.file.At(leaves))
		}
		if op, ok := lockOpOf(c.file, s); ok && op.Path.Key == c.first.op.Path.Key {
			return fmt.Errorf("%s: the first lock is released before the second is taken", c.file.At(s))
		}
	}
	return nil
}

// setsPath reports whether n sets a field that leads to the object of a lock.
func setsPath(file *source.File, n ast.Node, lock string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		for i := 0; ok && i < len(assign.Lhs); i++ {
			at, known := file.PathOf(assign.Lhs[i])
			found = found || known && (lock == at.Key || strings.HasPrefix(lock, at.Key+"."))
		}
		return !found
	})
	return found
}

// wayOut returns a statement of n that may leave it, function literals apart; nil if there is none.
func wayOut(n ast.Node) (found ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.BranchStmt:
			found = n
		}
		return found == nil
	})
	return found
}

// swap makes the two locks change places. With statements in between, the second one moves before the first, and the
// first stays.
func (c *couple) swap(edits *edit.Edits) {
	exchange := func(a, b ast.Stmt) {
		edits.Replace(c.file, a, c.file.Text(b))
		edits.Replace(c.file, b, c.file.Text(a))
	}
	switch {
	case len(c.between) == 0 && c.first.unlock != nil && c.second.unlock != nil:
		exchange(c.first.lock, c.second.lock)
		exchange(c.first.unlock, c.second.unlock)
	case len(c.between) == 0 && c.first.unlock == nil:
		exchange(c.first.lock, c.second.lock)
	default:
		text := edits.Cut(c.file, c.second.lock)
		if c.second.unlock != nil {
			text += "\n" + edits.Cut(c.file, c.second.unlock)
		}
		edits.Before(c.file, c.first.lock, func() string { return text })
	}
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

package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
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

// release waits when the lock is released, where the statement that waits is the last one under the lock: it changes
// places with the Unlock.
//
//	q.items <- v	->	q.mu.Unlock()
//	q.mu.Unlock()		q.items <- v
//
// or the deferred Unlock comes before it, at the end of a function:
//
//	q.mu.Lock()		->	q.mu.Lock()
//	defer q.mu.Unlock()		q.n++
//	q.n++				q.mu.Unlock()
//	q.items <- v			q.items <- v
//
// It applies where what is sent needs no lock. Obligation: [validate.Vacated].
func release(p *Problem) (*strategy.Patch, error) {
	edits := edit.New()
	claim := validate.Claim{Kind: validate.Vacated}
	for _, f := range p.Findings {
		waits, class, err := p.waitsUnder(f)
		if err != nil {
			return nil, err
		}
		for _, a := range waits {
			at, err := p.at(a.Position)
			if err != nil {
				return nil, err
			}
			if claim.Lock, err = releaseBefore(edits, at, held{a, class}); err != nil {
				return nil, err
			}
		}
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: claim}, err
}

// held is what waits under a lock: one of those that the finding names, else one of the class that the other side
// takes.
type held struct {
	finding.Access
	class string
}

// releases reports whether op releases the lock, in the mode in which it is held.
func (h held) releases(file *source.File, op source.LockOp) bool {
	name := file.Text(op.Expr)
	if op.Read {
		name += " (read)"
	}
	return !op.Acquire && (slices.Contains(h.Locks, name) || len(h.Locks) == 0 && op.Path.Class == h.class)
}

// waitsUnder returns the accesses of a finding that wait under a lock. Where none names the lock, they are those that
// wait for a goroutine which takes one, of the class that is returned.
func (p *Problem) waitsUnder(f *finding.Finding) (waits []finding.Access, class string, err error) {
	for _, a := range f.Accesses {
		if a.Mode == finding.Lock || a.Mode == finding.ReadLock {
			at, err := p.at(a.Position)
			if err != nil {
				return nil, "", err
			}
			if op, ok := lockTakenAt(at); ok {
				class = op.Path.Class
			}
		}
	}
	named := slices.ContainsFunc(f.Accesses, func(a finding.Access) bool { return len(a.Locks) > 0 })
	for _, a := range f.Accesses {
		isWait := a.Mode == finding.Send || a.Mode == finding.Receive || a.Mode == finding.Wait
		if len(a.Locks) > 0 || !named && class != "" && isWait {
			waits = append(waits, a)
		}
	}
	if len(waits) == 0 {
		return nil, "", errors.New("the finding names nothing that waits under a lock")
	}
	return waits, class, nil
}

// releaseBefore moves the statement at a place behind the Unlock that follows it, and returns the class of the lock.
func releaseBefore(edits *edit.Edits, at place, h held) (class string, err error) {
	file := at.file
	s := file.StmtOf(at.path[0])
	value, err := sentBy(file, s, h.Mode)
	if err != nil {
		return "", err
	}
	// q.items <- q.next(): the value may need the lock
	if value != nil {
		if call := callIn(file, value); call != nil {
			return "", fmt.Errorf("%s: what is sent is computed by %s, which may need the lock", file.At(s),
				file.Text(call.Fun))
		}
		if read := sharedIn(file, value); read != nil {
			return "", fmt.Errorf("%s: %s, which is sent, is read under the lock", file.At(s), file.Text(read))
		}
	}
	if list := source.ListOf(file, s); len(list) > 0 && list[len(list)-1] == s {
		return unlockBefore(edits, file, list, h)
	}
	return moveBehind(edits, file, s, h)
}

// moveBehind moves a statement behind the Unlock that is the next one: whatever lies between needs the lock, and comes
// before the wait no more.
func moveBehind(edits *edit.Edits, file *source.File, s ast.Stmt, h held) (class string, err error) {
	list := source.ListOf(file, s)
	i := slices.Index(list, s)
	if i < 0 {
		return "", fmt.Errorf("%s: no Unlock follows", file.At(s))
	}
	op, ok := lockOpOf(file, list[i+1])
	if !ok || !h.releases(file, op) {
		return "", fmt.Errorf("%s: the lock is not released by the next statement", file.At(s))
	}
	// The wait moves, and not the Unlock, so that the comment above it moves with it.
	text := edits.Cut(file, s)
	edits.After(file, list[i+1], func() string { return text })
	return op.Path.Class, nil
}

// unlockBefore makes the deferred Unlock of a function's body one before the last statement. The deferred one covers
// every return and every panic in between, so there is none.
func unlockBefore(edits *edit.Edits, file *source.File, list []ast.Stmt, h held) (class string, err error) {
	last := list[len(list)-1]
	if _, isBody := file.Parents[file.Parents[last]].(*ast.FuncDecl); !isBody {
		return "", fmt.Errorf("%s: no Unlock follows", file.At(last))
	}
	for i, s := range list {
		deferred, isDefer := s.(*ast.DeferStmt)
		if !isDefer {
			continue
		}
		op, ok := file.LockOp(deferred.Call)
		if !ok || !h.releases(file, op) {
			continue
		}
		if n := leaves(file, list[i+1:len(list)-1]); n != nil {
			return "", fmt.Errorf("%s: %s may leave the function, which the deferred Unlock covers", file.At(last), file.Text(n))
		}
		text := file.Text(deferred.Call)
		edits.DeleteLine(file, deferred)
		edits.Before(file, last, func() string { return text })
		return op.Path.Class, nil
	}
	return "", fmt.Errorf("%s: no Unlock follows", file.At(last))
}

// leaves returns a return, a jump, a defer or a call of a function among the statements: it may leave them.
func leaves(file *source.File, list []ast.Stmt) (found ast.Node) {
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt, *ast.DeferStmt:
				found = n
			case *ast.BranchStmt:
				if n.Tok == token.GOTO {
					found = n
				}
			case *ast.CallExpr:
				converts := file.Package.Info.Types[n.Fun].IsType()
				if !converts && !source.IsBuiltin(file, n, "append", "cap", "clear", "close", "copy", "delete", "len",
					"make", "max", "min", "new") {
					found = n
				}
			}
			return found == nil
		})
	}
	return found
}

// sentBy returns the value of a statement that only sends, nil for one that only waits otherwise.
func sentBy(file *source.File, s ast.Stmt, mode finding.Mode) (ast.Expr, error) {
	send, sends := s.(*ast.SendStmt)
	_, calls := s.(*ast.ExprStmt)
	switch {
	case mode == finding.Send && sends:
		return send.Value, nil
	case mode == finding.Wait && calls, mode == finding.Receive && calls:
		return nil, nil
	}
	return nil, fmt.Errorf("%s: more than a send, a receive or a Wait stands there", file.At(s))
}

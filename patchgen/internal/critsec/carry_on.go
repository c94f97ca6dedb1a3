package critsec

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// continues returns where a release of the lock stands that list[i] could do without, and how the lock was taken, Lock
// or RLock, "" if there is none: right before list[i], where a read lock is enough for a return that only reads, or
// further up, behind the fetch of the object that list[i] uses: see fetchedBefore.
func (c *builder) continues(list []ast.Stmt, i int) (at int, kind string) {
	if i == 0 {
		return 0, ""
	}
	op := c.releases(list[i-1])
	_, isReturn := list[i].(*ast.ReturnStmt)
	if at = i - 1; op == nil {
		if at = c.fetchedBefore(list, i); at < 0 {
			return 0, ""
		}
		op, isReturn = c.releases(list[at]), !anyWrites(c.In(c.Function.Body))
	}
	switch {
	case op == nil:
	case !op.Read:
		return at, "Lock"
	case isReturn && !anyWrites(c.In(list[i])):
		return at, "RLock"
	}
	return 0, ""
}

// fetchedBefore returns where the release stands behind which list[i] uses an object that was fetched under the lock,
// if the statements in between are few and may be held, or leave the function; -1 if there is none.
//
//	m.mu.Lock()
//	n, ok := m.nodes[name]
//	m.mu.Unlock()		<- moves behind the use
//	if !ok {
//		return errUnknown	<- unlocks first
//	}
//	d := death{n.count}
func (c *builder) fetchedBefore(list []ast.Stmt, i int) int {
	for k := i - 1; k >= 0 && k >= i-1-maxGap; k-- {
		switch s := list[k].(type) {
		case *ast.IfStmt:
			if s.Init != nil || s.Else != nil || !c.File.Ends(s.Body.List) || c.has(s) || c.blocks(s.Cond) != "" {
				return -1
			}
		default:
			if c.releases(s) != nil {
				if c.fetches(list[:k], list[i]) {
					return k
				}
				return -1
			}
			if !isPlain(s) || c.has(s) || c.blocks(s) != "" {
				return -1
			}
		}
	}
	return -1
}

// isPlain reports whether a statement only computes and assigns.
func isPlain(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.AssignStmt, *ast.DeclStmt, *ast.IncDecStmt:
		return true
	}
	return false
}

// fetches reports whether the critical section at the end of the list sets the local through which a statement accesses
// the variable.
func (c *builder) fetches(list []ast.Stmt, use ast.Node) bool {
	locals := map[types.Object]bool{}
	for _, a := range c.In(use) {
		if id, ok := ast.Unparen(a.Base).(*ast.Ident); ok && source.IsPointer(c.File.TypeOf(id)) {
			locals[c.File.Package.Info.ObjectOf(id)] = true
		}
	}
	for _, s := range slices.Backward(list) {
		if c.acquires(s) != nil {
			return false
		}
		if as, ok := s.(*ast.AssignStmt); ok && c.File.Sets(as, locals) != nil {
			return true
		}
	}
	return false
}

// leaveUnlocked releases the lock first in the branches that leave the function.
func (c *builder) leaveUnlocked(between []ast.Stmt, r *region) {
	for _, s := range between {
		if branch, ok := s.(*ast.IfStmt); ok {
			c.before(branch.Body.List[0], r.unlockText)
		}
	}
}

package syncfix

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// boundsInBranch finds the second Lock before list[use] in the branch of a test, the release in front of it there or
// before the test, and the first Lock before the test. It reports whether all are there.
//
//	c.mu.RLock()
//	_, ok := c.m[key]
//	c.mu.RUnlock()
//	if !ok {
//		c.mu.Lock()
//		c.m[key] = n
//		c.mu.Unlock()
//	}
func (s *sections) boundsInBranch(use int) bool {
	if use < 0 {
		return false
	}
	body := s.file.Parents[s.list[use]]
	test, ok := s.file.Parents[body].(*ast.IfStmt)
	if !ok || ast.Node(test.Body) != body {
		return false
	}
	outer := source.ListOf(s.file, test)
	at := slices.Index(outer, ast.Stmt(test))
	if at < 0 {
		return false
	}
	// From the use backwards: the second Lock, the release, the first Lock.
	s.second, s.branch = -1, nil
	var released ast.Stmt
	for _, stmt := range slices.Backward(slices.Concat(outer[:at], s.list[:use])) {
		op, ok := lockOpOf(s.file, stmt)
		switch {
		case !ok:
		case s.second < 0 && op.Acquire && !op.Read && stmt.Pos() > test.Pos():
			s.second, s.lock = slices.Index(s.list, stmt), op
		case s.second < 0 || op.Path.Key != s.lock.Path.Key:
			return false
		case released == nil && !op.Acquire:
			released = stmt
		case released != nil && op.Acquire && stmt.Pos() < test.Pos():
			s.branch = test
			s.deferred = releasesDeferred(s.file, s.list[s.second+1], s.lock)
			return stmt.Pos() < s.entry.Pos() && s.entry.Pos() < released.Pos()
		default:
			return false
		}
	}
	return false
}

// againInBranch makes the test again under the second lock, where it leads there. What it reads goes into the same
// variables, so that what follows sees what is there by now:
//
//	e, ok := c.m[key]
//	c.mu.RUnlock()
//	if !ok {
//		c.mu.Lock()
//		if e, ok = c.m[key]; !ok {	<- new
//			e = new(entry)
//			c.m[key] = e
//		}				<- new
//		c.mu.Unlock()
//	}
//
// The section is left out if the test does not hold any more. So it is the last in the branch, which has no other side
// to take then, and nothing that it sets or uses by itself counts for what follows.
func (s *sections) againInBranch() error {
	section, err := s.lastInBranch()
	if err != nil {
		return err
	}
	// if r, ok := c.m[key]; !ok {, or the assignment before the test
	read, ok := s.branch.Init.(*ast.AssignStmt)
	if s.branch.Init == nil && s.entry.Pos() < s.branch.Pos() {
		read, ok = s.file.StmtOf(s.entry).(*ast.AssignStmt)
	}
	if !ok && s.entry.Pos() < s.branch.Cond.Pos() {
		return fmt.Errorf("%s: what is tested is not read by an assignment", s.file.At(s.entry))
	}
	if read != nil && (s.entry.Pos() < read.Pos() || read.End() < s.entry.Pos()) {
		return fmt.Errorf("%s: the test has an init statement of its own", s.file.At(s.branch))
	}
	header := "if " + s.file.Text(s.branch.Cond) + " {"
	if read != nil {
		header = "if " + strings.Replace(s.file.Text(read), " := ", " = ", 1) +
			"; " + s.file.Text(s.branch.Cond) + " {"
	}
	if read != nil && s.file.Sets(read, s.file.LocalsIn(s.branch.Cond)) == nil {
		return fmt.Errorf("%s: the test does not depend on what was read", s.file.At(s.branch))
	}
	if look := s.lookOf(read); look != nil && look.isReplaced() {
		return look.takeFound(section)
	}
	if err := s.meansTheSame(read); err != nil {
		return err
	}
	if err := s.isMissedBehind(read, section); err != nil {
		return err
	}
	s.edits.After(s.file, s.list[slices.Index(s.list, section[0])-1], func() string {
		return "// Another goroutine may have been here since the lock was released.\n" + header
	})
	s.edits.After(s.file, section[len(section)-1], func() string { return "}" })
	return nil
}

// lastInBranch returns the statements of the second section, which must be the last of the branch and may not leave it.
func (s *sections) lastInBranch() ([]ast.Stmt, error) {
	// It goes on to the end of the branch, a release apart.
	section := s.withoutReturn(s.list[s.second+1:])
	if s.deferred {
		section = section[1:]
	} else {
		last := len(section) - 1
		op, ok := lockOpOf(s.file, section[last])
		if !ok || op.Acquire || op.Path.Key != s.lock.Path.Key {
			return nil, fmt.Errorf("%s: what follows the second critical section is right only if the test still holds",
				s.file.At(section[last]))
		}
		section = section[:last]
	}
	if s.branch.Else != nil && !s.onlyReleases(s.branch.Else) {
		return nil, fmt.Errorf("%s: the other branch is right if the test does not hold any more", s.file.At(s.branch.Else))
	}
	for _, stmt := range section {
		if leaves := leavesList(s.file, stmt); leaves != nil {
			return nil, fmt.Errorf("%s: the second critical section does more than what the test decides about",
				s.file.At(leaves))
		}
	}
	return section, nil
}

// withoutReturn leaves out a return that the branch ends with, if the function goes on with the same one behind the
// branch: it returns the entry of the second look, too.
func (s *sections) withoutReturn(section []ast.Stmt) []ast.Stmt {
	ret, ok := section[len(section)-1].(*ast.ReturnStmt)
	outer := source.ListOf(s.file, s.branch)
	next := slices.Index(outer, ast.Stmt(s.branch)) + 1
	if ok && len(section) > 1 && next < len(outer) && s.file.Text(outer[next]) == s.file.Text(ret) {
		return section[:len(section)-1]
	}
	return section
}

// onlyReleases reports whether a block does nothing but release the lock, now or by a deferred call.
func (s *sections) onlyReleases(block ast.Stmt) bool {
	b, ok := block.(*ast.BlockStmt)
	return ok && !slices.ContainsFunc(b.List, func(stmt ast.Stmt) bool {
		op, ok := lockOpOf(s.file, stmt)
		if d, isDefer := stmt.(*ast.DeferStmt); isDefer {
			op, ok = s.file.LockOp(d.Call)
		}
		return !ok || op.Acquire || op.Path.Key != s.lock.Path.Key
	})
}

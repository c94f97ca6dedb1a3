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

// recheck looks again under the second lock, where a test and the use that it
// decides about lie in two critical sections of one lock:
//
//	c.mu.RLock()
//	if e, ok := c.m[key]; ok {
//		c.mu.RUnlock()
//		return e
//	}
//	c.mu.RUnlock()
//	c.mu.Lock()
//	if e, ok := c.m[key]; ok {	<- new
//		c.mu.Unlock()
//		return e
//	}
//	c.m[key] = n
//
// The read may stand in a statement of its own before the test. It applies
// where the test leaves the function, and what it tests can be read again by
// the same words. Obligation: [validate.OneStep].
func recheck(p *Problem) (*strategy.Patch, error) {
	return p.correctSections(func(s *sections) error {
		test, err := s.leavingTest()
		if err != nil {
			return err
		}
		text := s.file.Text(test)
		if read := s.readBefore(test); read != nil {
			if test.Init != nil {
				return fmt.Errorf("%s: the test has an init statement of its own", s.file.At(test))
			}
			text = "if " + s.usedOf(read, test) + "; " + strings.TrimPrefix(text, "if ")
		}
		text, err = s.underSecond(test, text)
		if err != nil {
			return err
		}
		after := s.list[s.second]
		if s.deferred {
			after = s.list[s.second+1]
		}
		text = strings.ReplaceAll(text, "\n"+s.file.Indent(test.Pos()), "\n")
		s.edits.After(s.file, after, func() string {
			return "// Another goroutine may have been here since the lock was released.\n" + text
		})
		return nil
	})
}

// join makes one critical section of two, where nothing stands between them:
//
//	s.mu.RLock()			s.mu.Lock()
//	i, ok := s.m[key]		i, ok := s.m[key]
//	s.mu.RUnlock()		->
//	s.mu.Lock()
//	delete(s.m, key)		delete(s.m, key)
//	s.mu.Unlock()			s.mu.Unlock()
//
// Obligation: [validate.OneStep].
func join(p *Problem) (*strategy.Patch, error) {
	return p.correctSections(func(s *sections) error {
		if s.released+1 != s.second {
			return fmt.Errorf("%s: what stands between the two critical sections may be left out of the lock on purpose",
				s.file.At(s.list[s.released+1]))
		}
		if s.deferred {
			return fmt.Errorf("%s: the Unlock is deferred", s.file.At(s.list[s.second]))
		}
		s.edits.DeleteLine(s.file, s.list[s.released])
		s.edits.DeleteLine(s.file, s.list[s.second])
		// The first Lock, and the releases on the ways that leave before.
		from, to := s.list[s.first].Pos(), s.list[s.released].Pos()
		return s.eachOp(func(op source.LockOp) error {
			name := op.Call.Fun.(*ast.SelectorExpr).Sel
			if op.Read && from <= op.Call.Pos() && op.Call.Pos() < to {
				s.edits.Replace(s.file, name, strings.TrimPrefix(name.Name, "R"))
			}
			return nil
		})
	})
}

// sections are two critical sections of one lock in one list of statements,
// of which the first tests and the second uses.
type sections struct {
	*Problem
	file     *source.File
	function *source.Function
	edits    *edit.Edits
	list     []ast.Stmt
	first    int // of the first Lock
	released int // of the Unlock that ends the first section
	second   int // of the second Lock
	deferred bool
	lock     source.LockOp // the second one
	entry    ast.Node      // the test's read
}

// correctSections corrects each section of the findings, and claims that they are one step now.
func (p *Problem) correctSections(correct func(*sections) error) (*strategy.Patch, error) {
	edits := edit.New()
	claim := validate.Claim{Kind: validate.OneStep}
	done := map[ast.Stmt]bool{}
	for _, f := range p.Findings {
		if f.Section == nil {
			return nil, errors.New("the finding names no section")
		}
		for _, section := range append([]finding.Section{*f.Section}, f.Section.Also...) {
			s, err := p.sectionsOf(section)
			if err != nil {
				return nil, err
			}
			s.edits = edits
			if done[s.list[s.second]] {
				continue
			}
			done[s.list[s.second]] = true
			if err := correct(s); err != nil {
				return nil, err
			}
			claim.Lock = s.lock.Path.Class
		}
		claim.Variable = validate.Variable{Package: f.Variable.Package, Type: f.Variable.Type, Name: f.Variable.Name}
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: claim}, err
}

// sectionsOf finds the critical sections around a test and its use.
func (p *Problem) sectionsOf(of finding.Section) (*sections, error) {
	if of.EntryCall != nil || of.EndCall != nil {
		return nil, fmt.Errorf("%s: the test or the use is made by a callee", of.End)
	}
	entry, err := p.at(of.Entry)
	if err != nil {
		return nil, err
	}
	end, err := p.at(of.End)
	if err != nil {
		return nil, err
	}
	s := &sections{Problem: p, file: end.file, function: end.function(), entry: entry.path[0]}
	if entry.file != end.file || entry.function() != s.function || s.function == nil {
		return nil, fmt.Errorf("%s: the test and the use are in two functions", of.End)
	}
	// From the use outwards, the list with the second Lock before it, a release, and the first Lock.
	for n := ast.Node(end.file.StmtOf(end.path[0])); n != nil && n != ast.Node(s.function.Body); n = s.file.Parents[n] {
		stmt, ok := n.(ast.Stmt)
		if !ok {
			continue
		}
		s.list = source.ListOf(s.file, stmt)
		if s.bounds(slices.Index(s.list, stmt)) {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%s: the test and the use are not in two critical sections of one list of statements", of.End)
}

// bounds finds the Locks and the release before list[use], and reports whether all are there.
func (s *sections) bounds(use int) bool {
	s.second = -1
	for i := use - 1; i >= 0; i-- {
		op, ok := lockOpOf(s.file, s.list[i])
		switch {
		case !ok:
		case s.second < 0 && op.Acquire && !op.Read:
			s.second, s.lock, s.released = i, op, -1
		case s.second < 0 || op.Path.Key != s.lock.Path.Key:
			return false
		case s.released < 0 && !op.Acquire:
			s.released = i
		case s.released >= 0 && op.Acquire:
			s.first = i
			s.deferred = releasesDeferred(s.file, s.list[s.second+1], s.lock)
			tested := s.list[i].Pos() < s.entry.Pos() && s.entry.Pos() < s.list[s.released].Pos()
			return tested
		default:
			return false
		}
	}
	return false
}

// eachOp visits the operations on the lock in the function.
func (s *sections) eachOp(visit func(source.LockOp) error) (err error) {
	s.function.EachCall(func(call *ast.CallExpr) {
		if op, ok := s.file.LockOp(call); ok && op.Path.Key == s.lock.Path.Key && err == nil {
			err = visit(op)
		}
	})
	return err
}

// leavingTest returns the if statement between the two Locks that tests what was read and leaves the function.
func (s *sections) leavingTest() (*ast.IfStmt, error) {
	var found *ast.IfStmt
	for _, stmt := range s.list[s.first:s.second] {
		test, ok := stmt.(*ast.IfStmt)
		if !ok || test.Else != nil || !s.file.Ends(test.Body.List) || test.End() < s.entry.Pos() {
			continue
		}
		if _, returns := test.Body.List[len(test.Body.List)-1].(*ast.ReturnStmt); !returns {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s: there are several tests to be made again", s.file.At(test))
		}
		found = test
	}
	if found == nil {
		return nil, fmt.Errorf("%s: no test that leaves the function stands before the second Lock",
			s.file.At(s.list[s.second]))
	}
	return found, nil
}

// readBefore returns the statement that reads for a test; nil if the test does so itself.
func (s *sections) readBefore(test *ast.IfStmt) *ast.AssignStmt {
	if test.Pos() <= s.entry.Pos() && s.entry.Pos() < test.End() {
		return nil
	}
	read, _ := s.file.StmtOf(s.entry).(*ast.AssignStmt)
	return read
}

// usedOf writes a read anew, without the names that a test makes no use of.
func (s *sections) usedOf(read *ast.AssignStmt, test *ast.IfStmt) string {
	used := map[string]bool{}
	ast.Inspect(test, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	var names []string
	for _, lhs := range read.Lhs {
		if name := s.file.Text(lhs); used[name] {
			names = append(names, name)
		} else {
			names = append(names, "_")
		}
	}
	var values []string
	for _, rhs := range read.Rhs {
		values = append(values, s.file.Text(rhs))
	}
	return strings.Join(names, ", ") + " := " + strings.Join(values, ", ")
}

// underSecond writes the test as it is right under the second lock: what released the first one
// releases that, or nothing does where a deferred call will.
func (s *sections) underSecond(test *ast.IfStmt, text string) (string, error) {
	releases := 0
	var release string
	var err error
	ast.Inspect(test, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			err = fmt.Errorf("%s: the test starts or defers something", s.file.At(n))
		case *ast.ExprStmt:
			if op, ok := lockOpOf(s.file, n); ok && !op.Acquire && op.Path.Key == s.lock.Path.Key {
				releases, release = releases+1, s.file.Text(n)
			} else if ok {
				err = fmt.Errorf("%s: the test uses the lock in other ways", s.file.At(n))
			}
		}
		return err == nil
	})
	inside := s.list[s.released].Pos() > test.Pos() // the test lies in the first section
	switch {
	case err != nil:
		return "", err
	case inside && releases != 1:
		return "", fmt.Errorf("%s: the lock is not released once before the function is left", s.file.At(test))
	case !inside && releases > 0:
		return "", fmt.Errorf("%s: a lock is released that is not held", s.file.At(test))
	}
	unlock := s.file.Text(s.lock.Expr) + ".Unlock()"
	indent := "\n" + s.file.Indent(test.Body.List[0].Pos())
	switch {
	case inside && s.deferred:
		return strings.Replace(text, indent+release, "", 1), nil
	case inside:
		return strings.Replace(text, release, unlock, 1), nil
	case s.deferred:
		return text, nil
	}
	open := strings.Index(text, "{"+indent)
	if open < 0 || test.Body.Lbrace == token.NoPos {
		return "", fmt.Errorf("%s: the test is written in one line", s.file.At(test))
	}
	return text[:open+1] + indent + unlock + text[open+1:], nil
}

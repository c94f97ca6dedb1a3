package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

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
	// branch is the test that leads to the second section, where that is in its body: list is the body, and first and
	// released are not set. nil where both sections are in one list.
	branch *ast.IfStmt
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

// loadAndStore is the kind of a section that loads, and stores what depends on it.
const loadAndStore = "load-and-store"

// sectionsOf finds the critical sections around a test and its use.
func (p *Problem) sectionsOf(of finding.Section) (*sections, error) {
	entryIs, endIs := "the test", "the use"
	if of.Kind == loadAndStore {
		entryIs, endIs = "the load", "the store"
	}
	if of.EntryCall != nil || of.EndCall != nil {
		return nil, fmt.Errorf("%s: %s or %s is made by a callee", of.End, entryIs, endIs)
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
		return nil, fmt.Errorf("%s: %s and %s are in two functions", of.End, entryIs, endIs)
	}
	// From the use outwards, the list with the second Lock before it, a release, and the first Lock.
	for n := ast.Node(end.file.StmtOf(end.path[0])); n != nil && n != ast.Node(s.function.Body); n = s.file.Parents[n] {
		stmt, ok := n.(ast.Stmt)
		if !ok {
			continue
		}
		s.list = source.ListOf(s.file, stmt)
		if use := slices.Index(s.list, stmt); s.bounds(use) || s.boundsInBranch(use) {
			return s, nil
		}
	}
	reason := fmt.Errorf("%s: %s and %s are not in two critical sections of one list of statements, and no test leads to "+
		"the second one", of.End, entryIs, endIs)
	if !s.usesLock() {
		return nil, strategy.NotMeant("%w", reason)
	}
	return nil, reason
}

// usesLock reports whether there is an operation on a lock in the function.
func (s *sections) usesLock() (found bool) {
	s.function.EachCall(func(call *ast.CallExpr) {
		_, ok := s.file.LockOp(call)
		found = found || ok
	})
	return found
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

// resultsOf lists what a read goes into; none for nil.
func resultsOf(read *ast.AssignStmt) []ast.Expr {
	if read == nil {
		return nil
	}
	return read.Lhs
}

// firstIdent returns the first identifier below n that matches; nil if none does.
func (s *sections) firstIdent(n ast.Node, matches func(*ast.Ident) bool) (found *ast.Ident) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && found == nil && matches(id) {
			found = id
		}
		return found == nil
	})
	return found
}

package strategy

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// apart refuses variables that belong together: one function sets two of them in one go, and another one reads both. A
// lock has the reader see both old or both new, atomics do not. That both are set to zero is no bond between counters.
//
//	s.sum += n			return s.sum / s.count
//	s.count++
func apart(writers []*atomicWriter) error {
	for i, w := range writers {
		for _, x := range writers[:i] {
			set, other := w.problem.together(x.problem, func(a *source.Access) bool { return a.Mode.Writes() && !isReset(a) })
			read, _ := w.problem.together(x.problem, func(a *source.Access) bool { return a.Mode == source.Read })
			if set == nil || read == nil {
				continue
			}
			err := fmt.Errorf("%s and %s are set together (%s) and read together (%s)", x.problem.Variable, w.problem.Variable,
				other.File.At(other.Expr), read.File.At(read.Expr))
			if err := writers[0].problem.open(finding.Light, "who reads may find one old and the other new", err); err != nil {
				return err
			}
		}
	}
	return nil
}

// isReset reports whether an access stores the constant zero.
func isReset(a *source.Access) bool {
	s, ok := a.File.Parents[a.Expr].(*ast.AssignStmt)
	if !ok || s.Tok != token.ASSIGN || len(s.Lhs) != len(s.Rhs) {
		return false
	}
	value := a.File.Package.Info.Types[s.Rhs[slices.Index(s.Lhs, a.Expr)]].Value
	return value != nil && value.Kind() == constant.Int && isZero(value)
}

// together returns two accesses of a kind, of this variable and of another one, that one function makes on one way.
func (p *Problem) together(q *Problem, isMeant func(*source.Access) bool) (a, b *source.Access) {
	theirs := q.protectable()
	for _, a := range p.protectable() {
		i := slices.IndexFunc(theirs, func(b *source.Access) bool {
			return isMeant(b) && a.Function == b.Function && a.File == b.File && isOnOneWay(a, b)
		})
		if isMeant(a) && i >= 0 {
			return a, theirs[i]
		}
	}
	return nil, nil
}

// isOnOneWay reports whether one call of the function may come to both accesses: they do not lie in two branches, nor
// one behind a branch with the other that leaves.
func isOnOneWay(a, b *source.Access) bool {
	file := a.File
	// The innermost list with both.
	for s := file.StmtOf(a.Expr); s != nil; s = file.StmtOf(file.Parents[s]) {
		list := source.ListOf(file, s)
		i := slices.Index(list, s)
		j := slices.IndexFunc(list, func(s ast.Stmt) bool { return s.Pos() <= b.Expr.Pos() && b.Expr.End() <= s.End() })
		switch {
		case j < 0:
			continue
		case i == j:
			return !inTwoBranches(list[i], a.Expr, b.Expr)
		}
		first, of := list[min(i, j)], a
		if j < i {
			of = b
		}
		inner := file.StmtOf(of.Expr)
		return inner == first || !file.Ends(source.ListOf(file, inner))
	}
	return false
}

// inTwoBranches reports whether two expressions within a statement lie in two branches of it.
func inTwoBranches(s ast.Stmt, a, b ast.Node) bool {
	isIn := func(n ast.Node, e ast.Node) bool { return n != nil && n.Pos() <= e.Pos() && e.End() <= n.End() }
	switch s := s.(type) {
	case *ast.IfStmt:
		return isIn(s.Body, a) != isIn(s.Body, b) && s.Else != nil && (isIn(s.Else, a) || isIn(s.Else, b))
	case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return true // else a clause would be the list with both
	}
	return false
}

// tuples are assignments that set several variables, each of which becomes atomic: a store each, in their order.
//
//	s.hits, s.misses = 0, 0
type tuples struct {
	stmts  []*ast.AssignStmt
	files  []*source.File
	stores map[*ast.AssignStmt][]string
}

// add notes the store that one value of an assignment becomes.
func (t *tuples) add(file *source.File, s *ast.AssignStmt, value ast.Expr, store string) error {
	if !isConstant(file, value) {
		return fmt.Errorf("%s: it is set together with others", file.At(s))
	}
	if t.stores == nil {
		t.stores = map[*ast.AssignStmt][]string{}
	}
	if t.stores[s] == nil {
		t.stmts, t.files = append(t.stmts, s), append(t.files, file)
	}
	t.stores[s] = append(t.stores[s], store)
	return nil
}

// write replaces the assignments. All variables of each have to be atomic now.
func (t *tuples) write(edits *edit.Edits) error {
	for i, s := range t.stmts {
		file, stores := t.files[i], t.stores[s]
		if len(stores) != len(s.Lhs) || source.ListOf(file, s) == nil {
			return fmt.Errorf("%s: it is set together with others", file.At(s))
		}
		indent := file.Indent(s.Pos())
		edits.Replace(file, s, strings.TrimSuffix(edit.Lines(strings.Join(stores, "\n"), indent), "\n"+indent))
	}
	return nil
}

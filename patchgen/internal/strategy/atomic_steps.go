package strategy

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/critsec"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// steps refuses functions in which one atomic step after another is not
// enough: a read and a write, or a test whose branch changes the object
// or calls its methods.
func (w *atomicWriter) steps() error {
	reads, writes := map[*source.Function][]*source.Access{}, map[*source.Function][]*source.Access{}
	var uses []use
	for _, a := range w.problem.protectable() {
		f := a.Outermost()
		switch {
		case w.done[a.Expr]:
		case a.Mode == source.Read:
			reads[f] = append(reads[f], a)
			if st := w.usedAfterTest(a); st != nil {
				uses = append(uses, use{a, st})
			}
		case a.Mode.Writes():
			writes[f] = append(writes[f], a)
		}
	}
	if err := w.tornUses(uses); err != nil {
		return err
	}
	for f, written := range writes {
		for _, a := range written {
			for _, r := range reads[f] {
				// A write beside a read is refused though nothing shows that the read decides about it, or is meant to
				// see it: n++; return n. A lock around both makes them one step.
				if a.Function == r.Function && (a.Mode == source.Write || !w.problem.Facts.OneRegion(a, r)) ||
					w.problem.Facts.Decides(r, a) {
					err := fmt.Errorf("%s reads %s (%s) and changes it (%s): two atomic steps are not one", f.Name(),
						w.problem.Variable, r.File.At(r.Expr), a.File.At(a.Expr))
					if err := w.tornBefore(r, a, err); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// tornBefore settles that a read and a write of a flag stay two steps. A constant that is stored loses nobody's value:
// nothing goes wrong that does not without the patch. Where the read decides about the write, the judge doubts it.
func (w *atomicWriter) tornBefore(read, written *source.Access, torn error) error {
	p := w.problem
	s, ok := written.File.Parents[written.Expr].(*ast.AssignStmt)
	switch {
	case w.elem != "Bool" || !ok || s.Tok != token.ASSIGN || len(s.Rhs) != 1 || !isConstant(written.File, s.Rhs[0]):
		return torn
	case p.Bold && p.Facts.Decides(read, written):
		return nil
	}
	return p.open(finding.Heavy, "another goroutine may come in between, as it may without this patch", torn)
}

// use is a test of the variable, and the first statement that it decides about which works on the object.
type use struct {
	test *source.Access
	stmt ast.Stmt
}

// tornUses settles that tests of a flag stay apart from the uses that they decide about:
//
//	if x.f { x.use() }		if x.f { return }; x.use()
func (w *atomicWriter) tornUses(uses []use) error {
	if len(uses) == 0 {
		return nil
	}
	first := uses[0].test
	err := fmt.Errorf("%s tests %s (%s) and then uses the object (%s): an atomic does not make that one step",
		first.Function.Name(), w.problem.Variable, first.File.At(first.Expr), first.File.At(uses[0].stmt))
	if w.elem != "Bool" || slices.ContainsFunc(uses, func(u use) bool { return assigns(u.stmt) }) {
		return err
	}
	if more := len(uses) - 1; more > 0 && w.problem.Bold {
		err = fmt.Errorf("%w, nor in %d other places", err, more)
	}
	return w.problem.open(finding.Heavy, "the flag may change in between, as it may without this patch", err)
}

// setsFlag reports whether a statement sets the variable to true or false, which is no use of the object: see steps.
func (w *atomicWriter) setsFlag(file *source.File, st ast.Stmt) bool {
	s := w.firstStore([]ast.Stmt{st}, file)
	return s != nil && w.elem == "Bool" && isConstant(file, s.Rhs[0])
}

// assigns reports whether a statement assigns to more than locals, by itself.
func assigns(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		return slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool {
			_, isName := ast.Unparen(e).(*ast.Ident)
			return !isName
		})
	}
	return false
}

// usedAfterTest returns the first statement that a test of the variable decides about and that works on the object; nil
// if there is none.
func (w *atomicWriter) usedAfterTest(a *source.Access) ast.Stmt {
	s := enclosingIf(a)
	if s == nil || a.Base == nil {
		return nil
	}
	at, ok := a.File.PathOf(a.Base)
	if !ok {
		return nil
	}
	c := &critsec.Scope{File: a.File, Facts: w.problem.Facts, Function: a.Function, Object: at.Key}
	// The branches, and the rest of the list where the first one leaves.
	lists := [][]ast.Stmt{s.Body.List}
	if e, ok := s.Else.(*ast.BlockStmt); ok {
		lists = append(lists, e.List)
	}
	if list := source.ListOf(a.File, s); a.File.Ends(s.Body.List) {
		for i, other := range list {
			if other == ast.Stmt(s) {
				lists = append(lists, list[i+1:])
			}
		}
	}
	for _, list := range lists {
		for _, st := range list {
			if c.UsesObject(st) && !w.setsFlag(a.File, st) {
				return st
			}
		}
	}
	return nil
}

func enclosingIf(a *source.Access) *ast.IfStmt {
	for n := a.File.Parents[a.Expr]; n != nil; n = a.File.Parents[n] {
		switch n := n.(type) {
		case *ast.IfStmt:
			if a.Expr.Pos() >= n.Cond.Pos() && a.Expr.End() <= n.Cond.End() {
				return n
			}
			return nil
		case ast.Stmt:
			return nil
		}
	}
	return nil
}

package syncfix

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// exchange makes one atomic operation of a Load that decides about the Store
// behind it:
//
//	if s.closed.Load() {		if s.closed.Swap(true) {
//		return			->	return
//	}				}
//	s.closed.Store(true)
//
//	if s.state.Load() == idle {	->	if s.state.CompareAndSwap(idle, busy) {
//		s.state.Store(busy)
//
// It applies to constants, where the Store is the next thing that is done. A
// Swap is right where the other outcome of the test means that the variable
// holds the new value already. Load and Store may be made by one-line functions of
// the package: if s.isClosed() { return }; s.setClosed(). Of a counter that is tested
// and raised, see reserve. Obligation: [validate.Atomic].
func exchange(p *Problem) (*strategy.Patch, error) {
	edits := edit.New()
	claim := validate.Claim{Kind: validate.Atomic}
	done := map[ast.Expr]bool{}
	for _, f := range p.Findings {
		if f.Section == nil {
			return nil, errors.New("the finding names no section")
		}
		for _, section := range append([]finding.Section{*f.Section}, f.Section.Also...) {
			if err := p.exchangeOne(edits, section, done); err != nil {
				return nil, err
			}
		}
		claim.Variable = validate.Variable{Package: f.Variable.Package, Type: f.Variable.Type, Name: f.Variable.Name}
	}
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: claim}, err
}

// exchangeOne corrects one section.
func (p *Problem) exchangeOne(edits *edit.Edits, section finding.Section, done map[ast.Expr]bool) error {
	load, err := p.atomicHalf(section.Entry, section.EntryCall, "Load")
	if err != nil {
		return err
	}
	if add, err := p.atomicHalf(section.End, section.EndCall, "Add"); err == nil && !done[load.at] {
		done[load.at] = true
		return reserve(edits, load, add)
	}
	store, err := p.atomicHalf(section.End, section.EndCall, "Store")
	if err != nil || done[load.at] {
		return err
	}
	done[load.at] = true
	// Both on one variable, the test is an if statement, and what is stored is a constant.
	file := load.file
	if err := isOneTarget(load, store); err != nil {
		return err
	}
	test, _ := file.StmtOf(load.at).(*ast.IfStmt)
	if test == nil || test.Init != nil || test.Cond.Pos() > load.at.Pos() || load.at.End() > test.Cond.End() {
		return fmt.Errorf("%s: no plain if statement tests the variable", file.At(load.at))
	}
	stmt, _ := file.Parents[store.at].(*ast.ExprStmt)
	want, text, err := store.operand()
	if err != nil {
		return err
	}
	outcome, ok := load.outcome(test.Cond)
	if !ok || stmt == nil || want == nil || len(test.Body.List) == 0 {
		return fmt.Errorf("%s: what is tested or stored is no constant", file.At(test))
	}
	e := &exchanging{edits: edits, load: load, test: test, stmt: stmt, outcome: outcome, value: text,
		same: constant.Compare(outcome.value, token.EQL, want)}
	return e.rewrite()
}

// isOneTarget returns an error where a load and a store may be of two variables.
func isOneTarget(load, store *atomicCall) error {
	isOne := false
	if load.via == nil && store.via == nil {
		at, ok := load.file.PathOf(load.target)
		other, known := store.file.PathOf(store.target)
		isOne = ok && known && at.Key == other.Key
	} else {
		at, err := load.text(load.target)
		other, otherErr := store.text(store.target)
		if err := cmp.Or(err, otherErr); err != nil {
			return err
		}
		isOne = at == other && load.file == store.file
	}
	if !isOne {
		return fmt.Errorf("%s: it may be the variable of another object", store.file.At(store.at))
	}
	return nil
}

// exchanging is the work on one test and the Store behind it.
type exchanging struct {
	edits   *edit.Edits
	load    *atomicCall
	test    *ast.IfStmt
	stmt    *ast.ExprStmt // the Store
	outcome outcome       // of the test
	value   string        // that is stored
	same    bool          // it is the one that is tested for
}

// rewrite makes the test a Swap or a CompareAndSwap, and takes the Store away.
func (e *exchanging) rewrite() error {
	file, test := e.load.file, e.test
	list := source.ListOf(file, test)
	next := slices.Index(list, ast.Stmt(test)) + 1
	switch {
	// if x.Load() { return }; x.Store(true)
	case next < len(list) && list[next] == ast.Stmt(e.stmt) && test.Else == nil && file.Ends(test.Body.List):
		if !e.same || !e.outcome.equal {
			return fmt.Errorf("%s: where the function is left, the variable may hold another value than %s", file.At(test),
				e.value)
		}
		return e.swap()
	case test.Body.List[0] != ast.Stmt(e.stmt):
		return fmt.Errorf("%s: the Store is not the next thing that is done", file.At(e.stmt))
	// if !x.Load() { x.Store(true); … }
	case e.same && !e.outcome.equal, !e.same && e.outcome.isBool:
		return e.swap()
	// if x.Load() == a { x.Store(b); … }
	case !e.same && e.outcome.equal:
		text, err := e.load.as("CompareAndSwap", e.outcome.text, e.value)
		if err != nil {
			return err
		}
		e.edits.Replace(file, test.Cond, text)
		e.edits.DeleteLine(file, e.stmt)
		return nil
	}
	return fmt.Errorf("%s: the test and the Store do not belong together", file.At(e.stmt))
}

// swap makes the Load of the test a Swap, and takes the Store away.
func (e *exchanging) swap() error {
	text, err := e.load.as("Swap", e.value)
	if err != nil {
		return err
	}
	at := e.load.at
	if e.load.via != nil {
		// !s.isClosed(), where isClosed compares
		inner := ast.Unparen(e.load.via.ret.Results[0])
		not, isNegated := e.load.file.Parents[at].(*ast.UnaryExpr)
		compares, isCompared := inner.(*ast.BinaryExpr)
		if text, err = e.load.around(inner, text); err != nil {
			return err
		}
		if isNegated && isCompared {
			ops := map[token.Token]string{token.EQL: "!=", token.NEQ: "=="}
			text = strings.Replace(text, " "+compares.Op.String()+" ", " "+ops[compares.Op]+" ", 1)
			at = not
		}
	}
	e.edits.Replace(e.load.file, at, text)
	e.edits.DeleteLine(e.load.file, e.stmt)
	return nil
}

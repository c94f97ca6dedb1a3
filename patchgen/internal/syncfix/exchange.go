package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
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
// holds the new value already. Obligation: [validate.Atomic].
func exchange(p *Problem) (*strategy.Patch, error) {
	edits := edit.New()
	claim := validate.Claim{Kind: validate.Atomic}
	done := map[*ast.CallExpr]bool{}
	for _, f := range p.Findings {
		if f.Section == nil {
			return nil, errors.New("the finding names no section")
		}
		for _, section := range append([]finding.Section{*f.Section}, f.Section.Also...) {
			if section.EntryCall != nil || section.EndCall != nil {
				return nil, fmt.Errorf("%s: the test or the use is made by a callee", section.End)
			}
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
func (p *Problem) exchangeOne(edits *edit.Edits, section finding.Section, done map[*ast.CallExpr]bool) error {
	load, err := p.atomicAt(section.Entry, "Load")
	if err != nil {
		return err
	}
	store, err := p.atomicAt(section.End, "Store")
	if err != nil || done[load.call] {
		return err
	}
	done[load.call] = true
	file := load.file
	// Both on one variable, the test is an if statement, and what is stored is a constant.
	at, ok := file.PathOf(load.target)
	other, known := store.file.PathOf(store.target)
	if !ok || !known || at.Key != other.Key {
		return fmt.Errorf("%s: it may be the variable of another object", file.At(store.call))
	}
	test, _ := file.StmtOf(load.call).(*ast.IfStmt)
	if test == nil || test.Init != nil || test.Cond.Pos() > load.call.Pos() || load.call.End() > test.Cond.End() {
		return fmt.Errorf("%s: no plain if statement tests the variable", file.At(load.call))
	}
	stmt, _ := file.Parents[store.call].(*ast.ExprStmt)
	want := file.Package.Info.Types[store.args[len(store.args)-1]].Value
	outcome, ok := outcomeOf(file, test.Cond, load.call)
	if !ok || stmt == nil || want == nil || len(test.Body.List) == 0 {
		return fmt.Errorf("%s: what is tested or stored is no constant", file.At(test))
	}
	e := &exchanging{edits: edits, load: load, test: test, stmt: stmt, outcome: outcome,
		value: file.Text(store.args[len(store.args)-1]), same: constant.Compare(outcome.value, token.EQL, want)}
	return e.rewrite()
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
		e.edits.Replace(file, e.load.call, e.load.as("Swap", e.value))
	case test.Body.List[0] != ast.Stmt(e.stmt):
		return fmt.Errorf("%s: the Store is not the next thing that is done", file.At(e.stmt))
	// if !x.Load() { x.Store(true); … }
	case e.same && !e.outcome.equal, !e.same && e.outcome.isBool:
		e.edits.Replace(file, e.load.call, e.load.as("Swap", e.value))
	// if x.Load() == a { x.Store(b); … }
	case !e.same && e.outcome.equal:
		e.edits.Replace(file, test.Cond, e.load.as("CompareAndSwap", e.outcome.text, e.value))
	default:
		return fmt.Errorf("%s: the test and the Store do not belong together", file.At(e.stmt))
	}
	e.edits.DeleteLine(file, e.stmt)
	return nil
}

// atomicCall is a Load or Store of sync/atomic, as a method or as a function.
type atomicCall struct {
	file   *source.File
	call   *ast.CallExpr
	target ast.Expr
	suffix string // of a function: Int32
	args   []ast.Expr
}

// as writes another operation on the same variable.
func (a *atomicCall) as(kind string, args ...string) string {
	fun := a.call.Fun.(*ast.SelectorExpr)
	if a.suffix != "" {
		args = append([]string{a.file.Text(a.args[0])}, args...)
	}
	return a.file.Text(fun.X) + "." + kind + a.suffix + "(" + strings.Join(args, ", ") + ")"
}

// atomicAt returns the operation of a kind at a position.
func (p *Problem) atomicAt(pos finding.Position, kind string) (*atomicCall, error) {
	at, err := p.at(pos)
	if err != nil {
		return nil, err
	}
	for _, n := range at.path {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			continue
		}
		fun, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		fn, ok := at.file.Package.Info.Uses[fun.Sel].(*types.Func)
		if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "sync/atomic" || !strings.HasPrefix(fn.Name(), kind) {
			continue
		}
		a := &atomicCall{file: at.file, call: call, target: fun.X, args: call.Args}
		if fn.Signature().Recv() == nil {
			a.target, a.suffix = call.Args[0], strings.TrimPrefix(fn.Name(), kind)
		}
		return a, nil
	}
	return nil, strategy.NotMeant("%s: no atomic %s stands there", pos, kind)
}

// outcome is what the variable holds, or does not hold, where a test is true.
type outcome struct {
	value  constant.Value
	text   string
	equal  bool
	isBool bool
}

// outcomeOf reads x.Load(), !x.Load(), x.Load() == v and x.Load() != v.
func outcomeOf(file *source.File, cond ast.Expr, load *ast.CallExpr) (outcome, bool) {
	cond = ast.Unparen(cond)
	switch c := cond.(type) {
	case *ast.CallExpr:
		return outcome{constant.MakeBool(true), "true", true, true}, c == load
	case *ast.UnaryExpr:
		return outcome{constant.MakeBool(false), "false", true, true}, c.Op == token.NOT && ast.Unparen(c.X) == load
	case *ast.BinaryExpr:
		v := c.Y
		if c.X != ast.Expr(load) {
			v = c.X
		}
		value := file.Package.Info.Types[v].Value
		compares := c.Op == token.EQL || c.Op == token.NEQ
		return outcome{value, file.Text(v), c.Op == token.EQL, false},
			compares && value != nil && (c.X == ast.Expr(load) || c.Y == ast.Expr(load))
	}
	return outcome{}, false
}

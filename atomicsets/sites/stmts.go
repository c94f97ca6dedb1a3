package sites

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

// visitStmt visits the statement s, which may be nil.
func (w *walker) visitStmt(s ast.Stmt) {
	// Statements with an expression of their own; compound has the others.
	switch s := s.(type) {
	case *ast.AssignStmt:
		w.assign(s)
	case *ast.IncDecStmt:
		w.access(s.X, plan.Write)
	case *ast.ExprStmt:
		w.visitValue(s.X)
	case *ast.SendStmt:
		w.channel(s.Chan, plan.Read, false)
		w.visitValues(s.Chan, s.Value)
	case *ast.GoStmt:
		w.goDefer(s.Call)
	case *ast.DeferStmt:
		w.goDefer(s.Call)
	case *ast.ReturnStmt:
		w.visitValues(s.Results...)
	case *ast.DeclStmt:
		w.genDecl(s.Decl.(*ast.GenDecl))
	case *ast.LabeledStmt:
		w.visitStmt(s.Stmt)
	case *ast.RangeStmt:
		w.rangeStmt(s)
	case *ast.CaseClause:
		w.visitValues(s.List...)
		w.visitStmts(s.Body)
	case *ast.CommClause:
		w.visitStmt(s.Comm)
		w.visitStmts(s.Body)
	default:
		w.compound(s)
	}
}

// compound visits the statements that only hold others.
func (w *walker) compound(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		w.visitStmts(s.List)
	case *ast.IfStmt:
		w.visitStmt(s.Init)
		w.visitValue(s.Cond)
		w.visitStmt(s.Body)
		w.visitStmt(s.Else)
	case *ast.ForStmt:
		w.visitStmt(s.Init)
		w.visitValue(s.Cond)
		w.visitStmt(s.Post)
		w.visitStmt(s.Body)
	case *ast.SwitchStmt:
		w.visitStmt(s.Init)
		w.visitValue(s.Tag)
		w.visitStmt(s.Body)
	case *ast.TypeSwitchStmt:
		w.visitStmt(s.Init)
		w.visitStmt(s.Assign)
		w.visitStmt(s.Body)
	case *ast.SelectStmt:
		w.visitStmt(s.Body)
	}
}

func (w *walker) visitStmts(list []ast.Stmt) {
	for _, s := range list {
		w.visitStmt(s)
	}
}

func (w *walker) assign(s *ast.AssignStmt) {
	if slices.ContainsFunc(s.Rhs, w.toUintptr) {
		// The pointee is kept alive, and updated where it is on a stack, in this statement only.
		defer w.skipping(plan.UnsafeArithmetic)()
	}
	for _, lhs := range s.Lhs {
		w.target(lhs)
	}
	w.visitValues(s.Rhs...)
}

// target visits a left-hand side; variables that it declares and blanks are
// no accesses.
func (w *walker) target(lhs ast.Expr) {
	if id, ok := lhs.(*ast.Ident); ok && (id.Name == "_" || w.info.Defs[id] != nil) {
		return
	}
	if lhs != nil {
		w.access(lhs, plan.Write)
	}
}

func (w *walker) goDefer(call *ast.CallExpr) {
	w.deferred = true
	w.visitValue(call)
	w.deferred = false
}

func (w *walker) genDecl(d *ast.GenDecl) {
	if d.Tok != token.VAR {
		return
	}
	for _, spec := range d.Specs {
		w.visitValues(spec.(*ast.ValueSpec).Values...)
	}
}

func (w *walker) rangeStmt(s *ast.RangeStmt) {
	switch {
	case isMapType(w.info.TypeOf(s.X)):
		w.rangeMap(s)
	case s.Value == nil && isArray(w.info.TypeOf(s.X)):
		// Only the length counts. It is a constant, and the operand is not
		// evaluated, unless the operand calls or receives.
		if CallsOrReceives(w.info, s.X) {
			w.address(s.X)
		}
	default:
		w.rangeElements(s)
		w.visitValue(s.X)
	}
	if s.Tok == token.ASSIGN {
		w.target(s.Key)
		w.target(s.Value)
	} else {
		w.loopVariable(s.Key)
		w.loopVariable(s.Value)
	}
	w.visitStmt(s.Body)
}

// loopVariable visits a variable that a range clause declares. Each iteration
// assigns it where all have the same one, below Go 1.22; sharedLocals knows.
func (w *walker) loopVariable(e ast.Expr) {
	id, ok := e.(*ast.Ident)
	if !ok {
		return
	}
	v, ok := w.info.Defs[id].(*types.Var)
	if l := w.locals[v]; ok && l != nil && l.captured && l.ranged {
		w.addSite(id, id, plan.Write, w.namedVar(v))
	}
}

// rangeElements records the reads of elements by a loop over a slice or
// through a pointer to an array; the loop over an array reads a copy.
func (w *walker) rangeElements(s *ast.RangeStmt) {
	if id, ok := s.Value.(*ast.Ident); s.Value == nil || ok && id.Name == "_" {
		return
	}
	x := ast.Unparen(s.X)
	if a := w.elements(x, plan.Read, false); a != nil {
		a.Each = true
	} else if isPointer(w.info.TypeOf(x)) && isArray(w.info.TypeOf(x)) {
		a := w.record(x, x, plan.Read, w.element(x))
		a.Each, a.Site.Behind = true, true
	}
}

func (w *walker) rangeMap(s *ast.RangeStmt) {
	m := ast.Unparen(s.X)
	w.addSite(m, m, plan.Read, w.mapVariable(m))
	if x, ok := m.(*ast.IndexExpr); ok && isMapType(w.info.TypeOf(x.X)) {
		// The index is a site of the same extent: this one starts at `range`.
		site, at := &w.found[len(w.found)-1].Site, w.position(s.Range)
		site.Line, site.Column = at.Line, at.Column
	}
	w.visitValue(s.X)
}

// isArray reports whether t is an array or a pointer to one.
func isArray(t types.Type) bool {
	if p, ok := underlying(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	_, ok := underlying(t).(*types.Array)
	return ok
}

// CallsOrReceives reports whether evaluating e calls a function or receives.
func CallsOrReceives(info *types.Info, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			found = found || !info.Types[n.Fun].IsType() && info.Types[n].Value == nil
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

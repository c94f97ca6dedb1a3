package sites

import (
	"go/ast"
	"go/token"
	"go/types"
)

// local is a local variable with the facts known of it.
type local struct {
	captured  bool // used in a closure that does not declare it
	assigned  bool // assigned after its declaration
	addressed bool // its address is taken: &x, x[:], or a pointer method
	ranged    bool // a range clause declares it, and all iterations share it
	made      bool // a slice that is declared with a fresh value
	held      bool // a slice with elements that another function may hold
}

func (l *local) shared() bool { return l.captured && l.assigned || l.addressed }

// localFinder fills the table of locals of one file.
type localFinder struct {
	info   *types.Info
	table  map[*types.Var]*local
	funcs  []ast.Node // the functions that enclose the current node
	slices sliceUses
	// old: the file's language version is below 1.22, where the iterations
	// of a loop share its variables.
	old bool
}

// sharedLocals finds the locals of f that a second goroutine can reach.
func sharedLocals(p *Package, f *ast.File) map[*types.Var]*local {
	version := p.Info.FileVersions[f]
	if version == "" {
		version = p.Types.GoVersion()
	}
	lf := &localFinder{info: p.Info, table: map[*types.Var]*local{}, slices: sliceUses{map[*ast.Ident]bool{}}}
	lf.old = version != "" && versionBelow(version, 22)
	for _, d := range f.Decls {
		ast.Inspect(d, lf.visitNode)
		lf.funcs = nil
	}
	return lf.table
}

func (lf *localFinder) visitNode(n ast.Node) bool {
	// Leave the functions that end before n.
	for n != nil && len(lf.funcs) > 0 && n.Pos() >= lf.funcs[len(lf.funcs)-1].End() {
		lf.funcs = lf.funcs[:len(lf.funcs)-1]
	}
	// Before the operands are visited, note uses that hand nothing on.
	lf.noteBefore(n)
	switch n := n.(type) {
	case *ast.FuncDecl, *ast.FuncLit:
		lf.funcs = append(lf.funcs, n)
	case *ast.Ident:
		lf.noteUse(n)
		lf.markHeld(n)
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			lf.assign(lhs)
		}
	case *ast.IncDecStmt:
		lf.assign(n.X)
	case *ast.RangeStmt:
		lf.rangeClause(n)
	case *ast.ReturnStmt:
		lf.results(n)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			lf.takeAddress(n.X)
		}
	case *ast.SliceExpr:
		if _, ok := underlying(lf.info.TypeOf(n.X)).(*types.Array); ok {
			lf.takeAddress(n.X)
		}
	case *ast.SelectorExpr:
		lf.method(n)
	}
	return true
}

// localOf returns the entry of the local variable v, or nil if v is none.
func (lf *localFinder) localOf(v *types.Var) *local {
	if v == nil || v.IsField() || v.Pkg() == nil || v.Parent() == v.Pkg().Scope() {
		return nil
	}
	l := lf.table[v]
	if l == nil {
		l = new(local)
		lf.table[v] = l
	}
	return l
}

func (lf *localFinder) noteUse(id *ast.Ident) {
	v, ok := lf.info.Uses[id].(*types.Var)
	if !ok || len(lf.funcs) == 0 {
		return
	}
	fn := lf.funcs[len(lf.funcs)-1]
	if v.Pos() < fn.Pos() || v.Pos() >= fn.End() {
		if l := lf.localOf(v); l != nil {
			l.captured = true
		}
	}
}

// rootOf returns the local variable that holds the place e by value, or nil.
func (lf *localFinder) rootOf(e ast.Expr) *local {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return lf.rootOf(e.X)
	case *ast.Ident:
		v, _ := lf.info.Uses[e].(*types.Var)
		return lf.localOf(v)
	case *ast.SelectorExpr:
		if sel := lf.info.Selections[e]; sel != nil && sel.Kind() == types.FieldVal && !sel.Indirect() {
			return lf.rootOf(e.X)
		}
	case *ast.IndexExpr:
		if _, ok := underlying(lf.info.TypeOf(e.X)).(*types.Array); ok {
			return lf.rootOf(e.X)
		}
	}
	return nil
}

func (lf *localFinder) assign(e ast.Expr) {
	if e == nil {
		return
	}
	if l := lf.rootOf(e); l != nil {
		l.assigned = true
	}
}

func (lf *localFinder) takeAddress(e ast.Expr) {
	if l := lf.rootOf(e); l != nil {
		l.addressed = true
	}
	if l := lf.sliceRoot(e); l != nil {
		l.held = true
	}
}

// rangeClause notes that the clause of s assigns its variables. Variables
// that it declares are new in each iteration since Go 1.22.
func (lf *localFinder) rangeClause(s *ast.RangeStmt) {
	for _, e := range []ast.Expr{s.Key, s.Value} {
		id, ok := e.(*ast.Ident)
		if s.Tok == token.ASSIGN || !ok {
			lf.assign(e)
			continue
		}
		if v, ok := lf.info.Defs[id].(*types.Var); ok && lf.old {
			l := lf.localOf(v)
			l.assigned, l.ranged = true, true
		}
	}
}

// results notes that a return with values assigns the named results.
func (lf *localFinder) results(s *ast.ReturnStmt) {
	if len(s.Results) == 0 || len(lf.funcs) == 0 {
		return
	}
	var t *ast.FuncType
	switch fn := lf.funcs[len(lf.funcs)-1].(type) {
	case *ast.FuncDecl:
		t = fn.Type
	case *ast.FuncLit:
		t = fn.Type
	}
	if t.Results == nil {
		return
	}
	for _, f := range t.Results.List {
		for _, id := range f.Names {
			if v, ok := lf.info.Defs[id].(*types.Var); ok && id.Name != "_" {
				lf.localOf(v).assigned = true
			}
		}
	}
}

// method notes an address that a call or value of a pointer method takes.
func (lf *localFinder) method(e *ast.SelectorExpr) {
	sel := lf.info.Selections[e]
	if sel == nil || sel.Kind() != types.MethodVal || isPointer(sel.Recv()) {
		return
	}
	recv := sel.Obj().(*types.Func).Signature().Recv()
	if _, ok := types.Unalias(recv.Type()).(*types.Pointer); ok {
		lf.takeAddress(e.X)
	}
}

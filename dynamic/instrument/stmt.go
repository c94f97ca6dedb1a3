package instrument

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/evalorder"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// lowered is the new form of a simple statement.
type lowered struct {
	before   []textedit.Piece // statements that must run before it, each with its semicolon
	instead  []textedit.Piece // its replacement, or nil
	declares bool             // it declares variables: no block may be put around it
}

func (l lowered) empty() bool { return l.before == nil && l.instead == nil }

func (r *rewriter) stmts(list []ast.Stmt) { r.body(list, nil) }

// body rewrites statements of which the first comes directly after the reads
// in just.
func (r *rewriter) body(list []ast.Stmt, just []*evalorder.Hook) {
	for _, s := range list {
		r.announced, just = just, nil
		r.stmt(s, s)
	}
	r.announced = nil
}

// stmt rewrites s, a statement of a list. Temporaries of s go before outer: s
// or a labelled statement that ends in s, or nil if they may not go anywhere.
func (r *rewriter) stmt(s, outer ast.Stmt) {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		r.labeled(s, outer)
	case *ast.BlockStmt:
		r.stmts(s.List)
	case *ast.IfStmt:
		r.ifStmt(s)
	case *ast.ForStmt:
		r.forStmt(s, outer)
	case *ast.RangeStmt:
		r.rangeStmt(s, outer)
	case *ast.SwitchStmt:
		r.switchStmt(s, outer)
	case *ast.TypeSwitchStmt:
		r.typeSwitch(s, outer)
	case *ast.SelectStmt:
		r.selectStmt(s)
	default:
		r.put(s, r.simple(s, true, true))
	}
}

// labeled rewrites a labelled statement. A loop keeps its label, so that its
// temporaries go before the label; a goto there would then leave them out.
func (r *rewriter) labeled(s *ast.LabeledStmt, outer ast.Stmt) {
	r.announced = nil
	switch s.Stmt.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		if r.gotos[s.Label.Name] {
			outer = nil
		}
		r.stmt(s.Stmt, outer)
	default:
		r.stmt(s.Stmt, s.Stmt)
	}
}

// put edits the simple statement s of a list.
func (r *rewriter) put(s ast.Stmt, l lowered) {
	if l.empty() {
		return
	}
	before, after := l.before, []textedit.Piece(nil)
	if !l.declares {
		before, after = append([]textedit.Piece{textedit.Text("{ ")}, before...), []textedit.Piece{textedit.Text(" }")}
	}
	if l.instead == nil {
		r.Wrap(s.Pos(), s.End(), textedit.RankStmt, before, after)
		return
	}
	with := append(append(before, l.instead...), after...)
	r.Edits.Replace(r.Offset(s.Pos()), r.Offset(s.End()), textedit.RankStmt, with...)
}

// around puts a block with before around s.
func (r *rewriter) around(s ast.Stmt, before []textedit.Piece) {
	if before != nil {
		before = append([]textedit.Piece{textedit.Text("{ ")}, before...)
		r.Wrap(s.Pos(), s.End(), textedit.RankStmt, before, []textedit.Piece{textedit.Text(" }")})
	}
}

// simple rewrites a statement without parts that are statements. Temporaries
// are possible if may is set, and to replace it by several if whole is.
func (r *rewriter) simple(s ast.Stmt, may, whole bool) lowered {
	l := r.lower(s, may, whole)
	r.announced = nil
	return l
}

func (r *rewriter) lower(s ast.Stmt, may, whole bool) lowered {
	r.closures(s)
	tree := &evalorder.Node{}
	switch s := s.(type) {
	case *ast.AssignStmt:
		return r.assign(s, may, whole)
	case *ast.DeclStmt:
		return r.varDecl(s.Decl.(*ast.GenDecl), may)
	case *ast.ExprStmt:
		r.Expr(s.X, tree)
	case *ast.SendStmt:
		r.Expr(s.Chan, tree)
		r.Converted(s.Value, channelElem(r.Info.TypeOf(s.Chan)), tree)
	case *ast.IncDecStmt:
		r.Expr(s.X, tree)
	case *ast.GoStmt:
		r.Expr(s.Call, tree)
	case *ast.DeferStmt:
		r.Expr(s.Call, tree)
	case *ast.ReturnStmt:
		return lowered{before: r.returnStmt(s, tree, may)}
	}
	return lowered{before: r.settle(tree, may)}
}

// returnStmt returns the statements before s. If an end of a section is among its results,
// they go to temporaries, and the calls behind the end follow.
func (r *rewriter) returnStmt(s *ast.ReturnStmt, tree *evalorder.Node, may bool) []textedit.Piece {
	in, ends := tree, r.sections.HasEnd(s) && len(s.Results) > 0
	if ends {
		in = tree.Kid(evalorder.Values, s.Results...)
		in.Results, in.Required = 1, true
	}
	for i, e := range s.Results {
		r.Converted(e, r.resultType(i, len(s.Results)), in)
	}
	before := r.settle(tree, may)
	if ends && before != nil {
		before = append(before, r.sections.EndReturn(s)...)
	}
	return before
}

// closures rewrites the bodies of the function literals in n.
func (r *rewriter) closures(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if ok {
			sig, _ := source.Under(r.Info.TypeOf(lit)).(*types.Signature)
			r.function(sig, lit.Body)
		}
		return !ok
	})
}

// function rewrites the body of a function with the given signature.
func (r *rewriter) function(sig *types.Signature, body *ast.BlockStmt) {
	outer, just := r.signature, r.announced
	r.signature = sig
	r.stmts(body.List)
	r.copyIdle(nil, body)
	r.signature, r.announced = outer, just
}

// resultType returns the type of the i-th of n results, or nil if the function has
// another number of results.
func (r *rewriter) resultType(i, n int) types.Type {
	if r.signature == nil || r.signature.Results().Len() != n {
		return nil
	}
	return r.signature.Results().At(i).Type()
}

// value settles one expression that stands by itself.
func (r *rewriter) value(e ast.Expr, may bool) []textedit.Piece {
	if e == nil {
		return nil
	}
	r.closures(e)
	tree := &evalorder.Node{}
	r.Expr(e, tree)
	return r.settle(tree, may)
}

// varDecl rewrites the initial values of variables. Those of the second and
// later specs of a group have no place before them.
func (r *rewriter) varDecl(d *ast.GenDecl, may bool) lowered {
	l := lowered{declares: true}
	if d.Tok != token.VAR {
		return l
	}
	for i, spec := range d.Specs {
		spec := spec.(*ast.ValueSpec)
		tree := &evalorder.Node{}
		for _, v := range spec.Values {
			r.Converted(v, r.Info.TypeOf(spec.Type), tree)
		}
		l.before = append(l.before, r.settle(tree, may && i == 0)...)
	}
	return l
}

// initial rewrites the init statement of an if or switch statement whose
// condition needs the statements before. It returns the statements ahead of the
// whole: if there are any, the init statement is among them.
func (r *rewriter) initial(init ast.Stmt, l lowered, before []textedit.Piece) []textedit.Piece {
	if init == nil || l.empty() && before == nil {
		return before
	}
	out := l.before
	if l.instead != nil {
		r.CutWhole(init)
		out = append(out, l.instead...)
	} else {
		out = append(out, textedit.BodyOf(r.CutWhole(init)))
	}
	return append(append(out, textedit.Text("; ")), before...)
}

func (r *rewriter) init(s ast.Stmt, may bool) lowered {
	if s == nil {
		return lowered{}
	}
	return r.simple(s, may, may)
}

func (r *rewriter) ifStmt(s *ast.IfStmt) {
	l := r.init(s.Init, true)
	r.around(s, r.initial(s.Init, l, r.value(s.Cond, true)))
	just := r.announced
	r.body(s.Body.List, just)
	r.announced = just
	if s.Else != nil {
		r.stmt(s.Else, s.Else)
	}
}

func (r *rewriter) switchStmt(s *ast.SwitchStmt, outer ast.Stmt) {
	l := r.init(s.Init, outer != nil)
	before := r.initial(s.Init, l, r.value(s.Tag, outer != nil))
	if outer != nil {
		r.around(outer, before)
	}
	just := r.announced
	for _, c := range s.Body.List {
		c := c.(*ast.CaseClause)
		for _, e := range c.List {
			r.announced = just
			r.value(e, false)
		}
		r.stmts(c.Body)
	}
}

func (r *rewriter) typeSwitch(s *ast.TypeSwitchStmt, outer ast.Stmt) {
	var guard ast.Expr
	switch a := s.Assign.(type) {
	case *ast.AssignStmt:
		guard = a.Rhs[0]
	case *ast.ExprStmt:
		guard = a.X
	}
	l := r.init(s.Init, outer != nil)
	before := r.initial(s.Init, l, r.value(guard, outer != nil))
	if outer != nil {
		r.around(outer, before)
	}
	for _, c := range s.Body.List {
		r.stmts(c.(*ast.CaseClause).Body)
	}
}

// forStmt moves a condition that needs temporaries into the body, where it
// ends the loop. The variables of an iteration are the same there.
func (r *rewriter) forStmt(s *ast.ForStmt, outer ast.Stmt) {
	if s.Init != nil {
		l := r.simple(s.Init, outer != nil, false)
		if outer != nil {
			r.around(outer, l.before)
		}
	}
	r.announced = nil // the condition comes again after the body
	if before := r.value(s.Cond, true); before != nil {
		cond := r.CutWhole(s.Cond)
		before = append([]textedit.Piece{textedit.Text(" ")}, before...)
		before = append(before, textedit.Text("if !("), textedit.BodyOf(cond), textedit.Text(") { break }; "))
		r.Wrap(s.Body.Lbrace, s.Body.Lbrace+1, textedit.RankStmt, nil, before)
	}
	just := r.announced
	if s.Post != nil {
		r.announced = nil
		r.simple(s.Post, false, false)
	}
	r.body(s.Body.List, just)
	r.copyIdle(s.Cond, s.Body)
}

func (r *rewriter) rangeStmt(s *ast.RangeStmt, outer ast.Stmt) {
	var assigned []*source.Access
	if s.Tok == token.ASSIGN {
		assigned = r.assignedPlaces(s)
	}
	before := append(r.value(s.X, outer != nil), r.eachElement(s, outer != nil)...)
	if outer != nil {
		r.around(outer, before)
	}
	if s.Tok == token.DEFINE {
		r.loopVariables(s)
	}
	r.announceAssigned(s, assigned)
	r.stmts(s.Body.List)
	r.copyIdle(nil, s.Body)
}

// assignedPlaces returns those places that the clause of s assigns to which their
// expressions still lead when it has; it leaves the other accesses of these
// expressions alone.
func (r *rewriter) assignedPlaces(s *ast.RangeStmt) []*source.Access {
	var places []*source.Access
	targets := [2]ast.Expr{s.Key, s.Value}
	for i, e := range targets {
		if e == nil {
			continue
		}
		a := r.Places[ast.Unparen(e)]
		r.leaveAll(e, source.RangeClause)
		root, other := r.rootOf(e), targets[1-i]
		if a == nil || root == nil {
			continue
		}
		if other == nil || source.IsBlank(other) || r.rootOf(other) != nil && r.rootOf(other) != root {
			a.Unmonitored, a.Placed = "", true
			places = append(places, a)
		}
	}
	return places
}

// rootOf returns the variable that the path e of fields and pointers begins with,
// or nil for other expressions.
func (r *rewriter) rootOf(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return r.Info.ObjectOf(e)
	case *ast.StarExpr:
		return r.rootOf(e.X)
	case *ast.SelectorExpr:
		if sel := r.Info.Selections[e]; sel != nil {
			return r.rootOf(e.X)
		}
		return r.Info.ObjectOf(e.Sel) // of another package
	}
	return nil
}

// announceAssigned announces the variables that the clause of s has assigned, as
// loopVariables does.
func (r *rewriter) announceAssigned(s *ast.RangeStmt, places []*source.Access) {
	var calls []textedit.Piece
	for _, a := range places {
		place := r.Original(a.Node.Pos(), a.Node.End())
		calls = append(calls, textedit.Textf(" %srt.W(&", r.Prefix), place, textedit.Textf(", %d);", a.ID))
	}
	if calls != nil {
		r.Wrap(s.Body.Lbrace, s.Body.Lbrace+1, textedit.RankStmt, nil, calls)
	}
}

// loopVariables announces the variables that the clause of s has assigned, at
// the start of the body. Nothing comes between, so that an access that is
// seen then comes after the assignment and is not ordered with it either.
func (r *rewriter) loopVariables(s *ast.RangeStmt) {
	var calls []textedit.Piece
	for _, e := range []ast.Expr{s.Key, s.Value} {
		id, ok := e.(*ast.Ident)
		if a := r.Places[e]; ok && a != nil && a.Unmonitored == "" {
			a.Placed = true
			calls = append(calls, textedit.Textf(" %srt.W(&%s, %d);", r.Prefix, id.Name, a.ID))
		}
	}
	if calls != nil {
		r.Wrap(s.Body.Lbrace, s.Body.Lbrace+1, textedit.RankStmt, nil, calls)
	}
}

// eachElement announces the read of the element of s's iteration at the start
// of the body. Nothing comes between the two either:
//
//	for _, v := range x.s {    { _il1 := x.s; for _il2, v := range _il1 { rt.R(&_il1[_il2], 1);
func (r *rewriter) eachElement(s *ast.RangeStmt, may bool) []textedit.Piece {
	x := ast.Unparen(s.X)
	a := r.each[x]
	switch {
	case a == nil:
		return nil
	case s.Tok == token.ASSIGN || r.Places[s.Key] != nil:
		a.Unmonitored = source.RangeClause
		return nil
	case !may:
		a.Unmonitored = source.Conditional
		return nil
	}
	a.Placed = true
	slice, key := r.NewTemp(), ""
	if source.IsBlank(s.Key) {
		key = r.NewTemp()
		r.Cut(s.Key, textedit.Text(key))
	} else {
		key = s.Key.(*ast.Ident).Name
	}
	operand := r.Cut(s.X, textedit.Text(slice))
	call := textedit.Textf(" %srt.R(&%s[%s], %d);", r.Prefix, slice, key, a.ID)
	r.Wrap(s.Body.Lbrace, s.Body.Lbrace+1, textedit.RankStmt, nil, []textedit.Piece{call})
	return []textedit.Piece{textedit.Text(slice + " := "), textedit.BodyOf(operand), textedit.Text("; ")}
}

// leaveAll leaves the accesses in e unmonitored, except those in closures.
func (r *rewriter) leaveAll(e ast.Expr, why plan.Reason) {
	if e == nil {
		return
	}
	r.closures(e)
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		for _, a := range []*source.Access{r.Places[x], r.Behind[x], r.each[x]} {
			if a != nil && a.Unmonitored == "" {
				a.Unmonitored = why
			}
		}
		_, closure := n.(*ast.FuncLit)
		return !closure
	})
}

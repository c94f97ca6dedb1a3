package instrument

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
)

// predicate is what a test-and-use section tests of the value of its entry, as far as
// the monitor can test it again: a comparison with one operand.
type predicate struct {
	test    []string // the names of the monitor's Test constants
	number  int64    // the operand,
	operand ast.Expr // unless there is an expression for it
}

// value is an expression that holds what an entry has read.
type value struct {
	expr   ast.Expr
	length bool // it is the length of that
	later  bool // in another statement, so that only constants are operands
}

// tested returns the call around the entry of o at a, or around the call of a function
// that has the entry and returns what it reads, that reports what is tested:
//
//	if c.n < c.max {            if *rt.Tested(rt.Enter(rt.R(&c.n, 1), 1, 7, 0), 7, rt.TestLess, c.max) < c.max {
//	if c.Len() == 0 {           if rt.Tested(c.Len(), 7, rt.TestEqual, 0) == 0 {
//
// It reports false where the monitor cannot repeat the test.
func (r *rewriter) tested(o *opening, e ast.Expr) (wrapping, bool) {
	if o.Kind != plan.TestAndUse {
		return wrapping{}, false
	}
	p, ok := r.predicateOf(value{expr: e}, o.body)
	return r.testedCall("Tested", o.ID, p), ok
}

// testedAt returns the call around an access at which sections of callers begin: it
// reports what the function tests of the value that it reads, where its result is the
// answer, or that its result is that value, which the caller tests.
//
//	return s.state == state     return *rt.TestedAt(rt.Bind(rt.R(&s.state, 1), 1, 0), 1, rt.TestEqual, state) == state
//	return len(s.list)          return len(*rt.TestedAt(rt.Bind(rt.R(&s.list, 1), 1, 0), 1, rt.TestByCaller|rt.TestLength, 0))
func (r *rewriter) testedAt(a *access) (wrapping, bool) {
	fn := r.enclosing(a.Node)
	if fn.body == nil || fn.results == nil || fn.results.NumFields() != 1 {
		return wrapping{}, false
	}
	p, ok := predicate{}, false
	if v := (value{expr: r.valueOf(a)}); isBool(r.info.TypeOf(fn.results.List[0].Type)) {
		p, ok = r.predicateOf(v, fn.body)
	} else {
		p, ok = r.returnedPredicate(v, fn.body)
	}
	return r.testedCall("TestedAt", a.id, p), ok
}

// testedCall returns a call of Tested or TestedAt.
func (r *rewriter) testedCall(name string, id uint32, p predicate) wrapping {
	args := []piece{textf(", %d, %s, ", id, r.named(p.test))}
	if p.operand != nil {
		args = append(args, r.source(p.operand))
	} else {
		args = append(args, textf("%d", p.number))
	}
	return wrapping{r.prefix + "rt." + name + "(", append(args, text(")"))}
}

// returnedPredicate reports whether v, or its length, is what the function returns; the caller
// tests it then.
func (r *rewriter) returnedPredicate(v value, body *ast.BlockStmt) (predicate, bool) {
	p := predicate{test: []string{"TestByCaller"}}
	if v.length {
		p.test = append(p.test, "TestLength")
	}
	switch up := r.up(v.expr).(type) {
	case *ast.CallExpr:
		if sites.Builtin(r.info, up.Fun) == "len" && !isMapType(r.info.TypeOf(v.expr)) && !v.length {
			return r.returnedPredicate(value{up, true, v.later}, body)
		} else if r.isConversion(up, v) {
			return r.returnedPredicate(value{up, v.length, v.later}, body)
		}
	case *ast.ReturnStmt:
		return p, len(up.Results) == 1
	case *ast.AssignStmt:
		if use := r.firstUse(v, up, body); use != nil && !v.later {
			return r.returnedPredicate(value{use, v.length, true}, body)
		}
	}
	return predicate{}, false
}

// isConversion reports whether the call converts v between integer types.
func (r *rewriter) isConversion(call *ast.CallExpr, v value) bool {
	return r.info.Types[call.Fun].IsType() && isInteger(r.info.TypeOf(call)) && isInteger(r.info.TypeOf(v.expr))
}

// valueOf returns the expression whose value a reads.
func (r *rewriter) valueOf(a *access) ast.Expr {
	n := a.Node
	switch up := r.up(n).(type) {
	case *ast.IndexExpr:
		if a.Map() && ast.Unparen(up.X) == n {
			return up
		}
	case *ast.SelectorExpr: // x.n.Load()
		if c, ok := r.up(up).(*ast.CallExpr); ok && a.Site.Mode == plan.AtomicRead {
			return c
		}
	case *ast.UnaryExpr: // atomic.LoadInt64(&x.n)
		if c, ok := r.up(up).(*ast.CallExpr); ok && a.Site.Mode == plan.AtomicRead {
			return c
		}
	case *ast.CallExpr:
		if a.Map() && sites.Builtin(r.info, up.Fun) == "len" {
			return up
		}
	}
	return n
}

// predicateOf finds what is tested of v: where it stands, or where the local is used
// that it is assigned to.
func (r *rewriter) predicateOf(v value, body *ast.BlockStmt) (predicate, bool) {
	switch up := r.up(v.expr).(type) {
	case *ast.CallExpr:
		switch {
		case sites.Builtin(r.info, up.Fun) == "len" && len(up.Args) == 1 && !isMapType(r.info.TypeOf(v.expr)):
			return r.predicateOf(value{up, true, v.later}, body)
		case r.isConversion(up, v):
			return r.predicateOf(value{up, v.length, v.later}, body)
		}
	case *ast.BinaryExpr:
		if up.Op == token.LAND || up.Op == token.LOR {
			return r.boolPredicate(v)
		}
		return r.comparison(v, up)
	case *ast.UnaryExpr:
		if up.Op == token.NOT {
			return r.boolPredicate(v)
		}
	case *ast.IfStmt, *ast.ForStmt, *ast.CaseClause, *ast.ReturnStmt:
		return r.boolPredicate(v)
	case *ast.AssignStmt:
		if !v.later {
			return r.laterPredicate(v, up, body)
		}
	}
	return predicate{}, false
}

// boolPredicate returns the test of v by itself, if v is a boolean.
func (r *rewriter) boolPredicate(v value) (predicate, bool) {
	return predicate{test: []string{"TestZero"}}, isBool(r.info.TypeOf(v.expr)) && !v.length
}

// laterPredicate follows the local that v is assigned to to its first test.
func (r *rewriter) laterPredicate(v value, s *ast.AssignStmt, body *ast.BlockStmt) (predicate, bool) {
	if len(s.Rhs) == 1 && ast.Unparen(s.Rhs[0]) == v.expr && len(s.Lhs) == 2 && !isBlank(s.Lhs[1]) &&
		r.firstTest(s.Lhs[1], s, body) != nil {
		return predicate{test: []string{"TestPresent"}}, true
	}
	if use := r.firstUse(v, s, body); use != nil {
		return r.predicateOf(value{use, v.length, true}, body)
	}
	return predicate{}, false
}

// firstUse returns the first test of the local that s assigns v to, or nil.
func (r *rewriter) firstUse(v value, s *ast.AssignStmt, body *ast.BlockStmt) ast.Expr {
	if len(s.Rhs) != 1 || ast.Unparen(s.Rhs[0]) != v.expr || len(s.Lhs) > 2 {
		return nil
	}
	return r.firstTest(s.Lhs[0], s, body)
}

// firstTest returns the first use of the local lhs behind s in a condition or a
// return, or nil. The local must not be assigned anew before, nor its address be taken:
// what is tested would not be what s has assigned.
func (r *rewriter) firstTest(lhs ast.Expr, s *ast.AssignStmt, body *ast.BlockStmt) (use ast.Expr) {
	id, ok := lhs.(*ast.Ident)
	if !ok || isBlank(lhs) {
		return nil
	}
	obj, changed := r.info.ObjectOf(id), false
	ast.Inspect(body, func(n ast.Node) bool {
		x, ok := n.(*ast.Ident)
		if !ok || use != nil || changed || x.Pos() <= s.End() || r.info.ObjectOf(x) != obj {
			return use == nil && !changed
		}
		if r.inCondition(x) {
			use = x
		}
		changed = r.isChanged(x)
		return use == nil && !changed
	})
	return use
}

// isChanged reports whether the variable x is assigned where it stands, or its address
// is taken.
func (r *rewriter) isChanged(x ast.Expr) bool {
	switch up := r.up(x).(type) {
	case *ast.AssignStmt:
		return slices.ContainsFunc(up.Lhs, func(lhs ast.Expr) bool { return ast.Unparen(lhs) == x })
	case *ast.RangeStmt:
		return up.Key == x || up.Value == x
	case *ast.IncDecStmt:
		return true
	case *ast.UnaryExpr:
		return up.Op == token.AND
	}
	return false
}

// inCondition reports whether e is part of a condition or of what is returned.
func (r *rewriter) inCondition(e ast.Expr) bool {
	n := ast.Node(e)
	for {
		up := r.parents[n]
		switch s := up.(type) {
		case ast.Expr:
			c, isCall := s.(*ast.CallExpr)
			if isCall && !r.info.Types[c.Fun].IsType() && sites.Builtin(r.info, c.Fun) != "len" {
				return false
			}
			n = up
			continue
		case *ast.IfStmt:
			return s.Cond == n
		case *ast.ForStmt:
			return s.Cond == n
		case *ast.CaseClause, *ast.ReturnStmt:
			return true
		}
		return false
	}
}

// comparison returns the test of v, one of its operands, that e makes.
func (r *rewriter) comparison(v value, e *ast.BinaryExpr) (predicate, bool) {
	op, other := e.Op, e.Y
	if ast.Unparen(e.Y) == v.expr {
		op, other = flipped(op), e.X
	}
	p, equality := predicate{}, op == token.EQL || op == token.NEQ
	if v.length {
		p.test = append(p.test, "TestLength")
	}
	// Texts are compared with the empty one only, and pointers and the like with nil.
	t, tv := r.info.TypeOf(v.expr), r.info.Types[other]
	switch {
	case tv.IsNil():
		p.test = append(p.test, "TestZero")
		return p, equality
	case isString(t):
		p.test = append(p.test, "TestZero", "TestLength")
		return p, tv.Value != nil && constant.StringVal(tv.Value) == "" && equality
	case !isInteger(t):
		return p, false
	}
	if b, ok := under(t).(*types.Basic); ok && b.Info()&types.IsUnsigned != 0 {
		p.test = append(p.test, "TestUnsigned")
	}
	// The operand is a constant, or stands beside v and can be evaluated twice.
	switch {
	case tv.Value != nil:
		n, exact := constant.Int64Val(constant.ToInt(tv.Value))
		if !exact {
			return p, false
		}
		p.number = n
	case v.later || !r.pure(other):
		return p, false
	default:
		p.operand = other
	}
	name, ok := comparisons[op]
	p.test = append(p.test, name)
	return p, ok
}

// comparisons names the monitor's test for each operator; a test and its negation are
// one.
var comparisons = map[token.Token]string{
	token.EQL: "TestEqual", token.NEQ: "TestEqual",
	token.LSS: "TestLess", token.GEQ: "TestLess",
	token.GTR: "TestLessEqual", token.LEQ: "TestLessEqual",
}

// flipped is op with its operands exchanged.
func flipped(op token.Token) token.Token {
	switch op {
	case token.LSS:
		return token.GTR
	case token.GTR:
		return token.LSS
	case token.LEQ:
		return token.GEQ
	case token.GEQ:
		return token.LEQ
	}
	return op
}

func isBool(t types.Type) bool {
	b, ok := under(t).(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

func isInteger(t types.Type) bool {
	b, ok := under(t).(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func isMapType(t types.Type) bool {
	_, ok := under(t).(*types.Map)
	return ok
}

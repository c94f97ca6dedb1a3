// Package predicate finds the test of a test-and-use section on the value of its entry, and
// the words of that variable that may differ for one value.
package predicate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
)

// Predicate is the test of a test-and-use section on the value of its entry, if the
// monitor can repeat it: a comparison with one operand.
type Predicate struct {
	Test    []string // the names of the monitor's Test constants
	Number  int64    // the operand,
	Operand ast.Expr // unless there is an expression for it
}

// value is an expression with the value that an entry has read.
type value struct {
	expr   ast.Expr
	length bool // it is the length of that
	later  bool // in another statement, so that only constants are operands
}

// finder looks for tests in a file.
type finder struct{ *source.File }

// Of returns the test of the value of e that body makes.
func Of(f *source.File, e ast.Expr, body *ast.BlockStmt) (Predicate, bool) {
	return finder{f}.predicateOf(value{expr: e}, body)
}

// OfResult returns the test of the function around the read a on its value, if its sole
// result is the answer; or else that its sole result is that value, for the caller to test.
func OfResult(file *source.File, a *source.Access) (Predicate, bool) {
	f := finder{file}
	fn := f.Enclosing(a.Node)
	if fn.Body == nil || fn.Results == nil || fn.Results.NumFields() != 1 {
		return Predicate{}, false
	}
	v := value{expr: ValueOf(file, a)}
	if source.IsBool(f.Info.TypeOf(fn.Results.List[0].Type)) {
		return f.predicateOf(v, fn.Body)
	}
	return f.returnedPredicate(v, fn.Body)
}

// returnedPredicate reports whether the function returns v, or its length; the caller
// tests it then.
func (r finder) returnedPredicate(v value, body *ast.BlockStmt) (Predicate, bool) {
	p := Predicate{Test: []string{"TestByCaller"}}
	if v.length {
		p.Test = append(p.Test, "TestLength")
	}
	switch up := r.Up(v.expr).(type) {
	case *ast.CallExpr:
		if sites.Builtin(r.Info, up.Fun) == "len" && !source.IsMap(r.Info.TypeOf(v.expr)) && !v.length {
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
	return Predicate{}, false
}

// isConversion reports whether the call converts v between integer types.
func (r finder) isConversion(call *ast.CallExpr, v value) bool {
	isType := r.Info.Types[call.Fun].IsType()
	return isType && source.IsInteger(r.Info.TypeOf(call)) && source.IsInteger(r.Info.TypeOf(v.expr))
}

// ValueOf returns the expression that a reads.
func ValueOf(r *source.File, a *source.Access) ast.Expr {
	n := a.Node
	switch up := r.Up(n).(type) {
	case *ast.IndexExpr:
		if a.Map() && ast.Unparen(up.X) == n {
			return up
		}
	case *ast.SelectorExpr: // x.n.Load()
		if c, ok := r.Up(up).(*ast.CallExpr); ok && a.Site.Mode == plan.AtomicRead {
			return c
		}
	case *ast.UnaryExpr: // atomic.LoadInt64(&x.n)
		if c, ok := r.Up(up).(*ast.CallExpr); ok && a.Site.Mode == plan.AtomicRead {
			return c
		}
	case *ast.CallExpr:
		if a.Map() && sites.Builtin(r.Info, up.Fun) == "len" {
			return up
		}
	}
	return n
}

// predicateOf finds the test on v: where v stands, or where the local is used that v is
// assigned to.
func (r finder) predicateOf(v value, body *ast.BlockStmt) (Predicate, bool) {
	switch up := r.Up(v.expr).(type) {
	case *ast.CallExpr:
		switch {
		case sites.Builtin(r.Info, up.Fun) == "len" && len(up.Args) == 1 && !source.IsMap(r.Info.TypeOf(v.expr)):
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
	return Predicate{}, false
}

// boolPredicate returns the test of v by itself, if v is a boolean.
func (r finder) boolPredicate(v value) (Predicate, bool) {
	return Predicate{Test: []string{"TestZero"}}, source.IsBool(r.Info.TypeOf(v.expr)) && !v.length
}

// laterPredicate follows the local that v is assigned to to its first test.
func (r finder) laterPredicate(v value, s *ast.AssignStmt, body *ast.BlockStmt) (Predicate, bool) {
	if len(s.Rhs) == 1 && ast.Unparen(s.Rhs[0]) == v.expr && len(s.Lhs) == 2 && !source.IsBlank(s.Lhs[1]) &&
		r.firstTest(s.Lhs[1], s, body) != nil {
		return Predicate{Test: []string{"TestPresent"}}, true
	}
	if use := r.firstUse(v, s, body); use != nil {
		return r.predicateOf(value{use, v.length, true}, body)
	}
	return Predicate{}, false
}

// firstUse returns the first test of the local that s assigns v to, or nil.
func (r finder) firstUse(v value, s *ast.AssignStmt, body *ast.BlockStmt) ast.Expr {
	if len(s.Rhs) != 1 || ast.Unparen(s.Rhs[0]) != v.expr || len(s.Lhs) > 2 {
		return nil
	}
	return r.firstTest(s.Lhs[0], s, body)
}

// firstTest returns the first use of the local lhs behind s in a condition or a
// return, or nil. The local must not be assigned anew before, nor its address be taken:
// the test would be on another value than that of s.
func (r finder) firstTest(lhs ast.Expr, s *ast.AssignStmt, body *ast.BlockStmt) (use ast.Expr) {
	id, ok := lhs.(*ast.Ident)
	if !ok || source.IsBlank(lhs) {
		return nil
	}
	obj, changed := r.Info.ObjectOf(id), false
	ast.Inspect(body, func(n ast.Node) bool {
		x, ok := n.(*ast.Ident)
		if !ok || use != nil || changed || x.Pos() <= s.End() || r.Info.ObjectOf(x) != obj {
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
func (r finder) isChanged(x ast.Expr) bool {
	switch up := r.Up(x).(type) {
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

// inCondition reports whether e is part of a condition or of a result.
func (r finder) inCondition(e ast.Expr) bool {
	n := ast.Node(e)
	for {
		up := r.Around(n)
		switch s := up.(type) {
		case ast.Expr:
			c, isCall := s.(*ast.CallExpr)
			if isCall && !r.Info.Types[c.Fun].IsType() && sites.Builtin(r.Info, c.Fun) != "len" {
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
func (r finder) comparison(v value, e *ast.BinaryExpr) (Predicate, bool) {
	op, other := e.Op, e.Y
	if ast.Unparen(e.Y) == v.expr {
		op, other = flipped(op), e.X
	}
	p, equality := Predicate{}, op == token.EQL || op == token.NEQ
	if v.length {
		p.Test = append(p.Test, "TestLength")
	}
	// Texts are compared with the empty one only, and pointers and the like with nil.
	t, tv := r.Info.TypeOf(v.expr), r.Info.Types[other]
	switch {
	case tv.IsNil():
		p.Test = append(p.Test, "TestZero")
		return p, equality
	case source.IsString(t):
		p.Test = append(p.Test, "TestZero", "TestLength")
		return p, tv.Value != nil && constant.StringVal(tv.Value) == "" && equality
	case !source.IsInteger(t):
		return p, false
	}
	if b, ok := source.Under(t).(*types.Basic); ok && b.Info()&types.IsUnsigned != 0 {
		p.Test = append(p.Test, "TestUnsigned")
	}
	// The operand is a constant, or stands beside v and can be evaluated twice.
	switch {
	case tv.Value != nil:
		n, exact := constant.Int64Val(constant.ToInt(tv.Value))
		if !exact {
			return p, false
		}
		p.Number = n
	case v.later || !r.IsPure(other):
		return p, false
	default:
		p.Operand = other
	}
	name, ok := comparisons[op]
	if p.Test = append(p.Test, name); !v.later {
		p.Test = append(p.Test, "TestOnly")
	}
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

package instrument

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
)

// question is what a test-and-use section asks of the value of its entry, as far
// as the monitor can ask it again: a comparison with one operand.
type question struct {
	kind    int      // one of the constants below, with flags
	number  int64    // the operand,
	operand ast.Expr // unless there is an expression for it
}

// The Test constants of the monitor.
const (
	asksZero = 1 + iota
	asksPresent
	asksEqual
	asksLess
	asksLessEqual
	asksUnsigned = 16
	asksLength   = 32
)

// value is an expression that holds what an entry has read.
type value struct {
	expr   ast.Expr
	length bool // it is the length of that
	later  bool // in another statement, so that only constants are operands
}

// placeTest says behind the entry what is asked of it.
func (r *rewriter) placeTest(o *opening, entry ast.Stmt) {
	if o.Kind != plan.TestAndUse {
		return
	}
	q, ok := r.asks(o)
	if !ok {
		return
	}
	if q.operand == nil {
		r.onward(entry, asTested, r.callf("Tested(%d, %d, %d)", o.ID, q.kind, q.number))
		return
	}
	call := []piece{r.callf("Tested(%d, %d, int64(", o.ID, q.kind), r.source(q.operand), text("))")}
	starts, through := r.waysOn(entry)
	for _, at := range starts {
		if r.namesSame(q.operand, at+1) {
			r.start(at, asTested, call...)
		}
	}
	if through && r.namesSame(q.operand, entry.End()) {
		r.after(entry, asTested, call...)
	}
}

// namesSame reports whether all names in e, and int64, mean at pos what they mean
// where e stands.
func (r *rewriter) namesSame(e ast.Expr, pos token.Pos) bool {
	same := r.means("int64", types.Universe.Lookup("int64"), pos)
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			ast.Inspect(n.X, func(x ast.Node) bool {
				if id, ok := x.(*ast.Ident); ok {
					same = same && r.info.Uses[id] != nil && r.means(id.Name, r.info.Uses[id], pos)
				}
				_, selector := x.(*ast.SelectorExpr)
				return !selector
			})
			return false
		case *ast.Ident:
			same = same && r.info.Uses[n] != nil && r.means(n.Name, r.info.Uses[n], pos)
		}
		return same
	})
	return same
}

// asks finds the question that o's entry is for.
func (r *rewriter) asks(o *opening) (question, bool) {
	if o.entryAt != nil {
		return r.askedOf(value{expr: r.valueOf(o.entryAt)}, o.body)
	}
	call := o.entry.(*ast.CallExpr)
	inner := r.callees[o.Entry]
	if inner == nil {
		return question{}, false
	}
	body, _ := inner.enclosing(inner.at.Node)
	if body == nil {
		return question{}, false
	}
	v := value{expr: inner.valueOf(inner.at)}
	if q, ok := inner.askedOf(v, body); ok && q.operand == nil && isBool(r.info.TypeOf(call)) {
		return q, true
	}
	if inner.returned1(v.expr) { // the caller asks
		return r.askedOf(value{expr: call}, o.body)
	}
	return question{}, false
}

// callee is an entry that lies in a function which others call.
type callee struct {
	*rewriter
	at *access
}

// returned1 reports whether e, perhaps converted, is the only result of a return.
func (r *rewriter) returned1(e ast.Expr) bool {
	n := r.up(e)
	for {
		c, ok := n.(*ast.CallExpr)
		if !ok || !r.info.Types[c.Fun].IsType() {
			break
		}
		n = r.up(c)
	}
	s, ok := n.(*ast.ReturnStmt)
	return ok && len(s.Results) == 1
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

// askedOf finds what is asked of v: where it stands, or where the local is used
// that it is assigned to.
func (r *rewriter) askedOf(v value, body *ast.BlockStmt) (question, bool) {
	switch up := r.up(v.expr).(type) {
	case *ast.CallExpr:
		switch {
		case sites.Builtin(r.info, up.Fun) == "len" && len(up.Args) == 1 && !isMapType(r.info.TypeOf(v.expr)):
			return r.askedOf(value{up, true, v.later}, body)
		case r.info.Types[up.Fun].IsType() && isInteger(r.info.TypeOf(up)) && isInteger(r.info.TypeOf(v.expr)):
			return r.askedOf(value{up, v.length, v.later}, body)
		}
	case *ast.BinaryExpr:
		if up.Op == token.LAND || up.Op == token.LOR {
			return r.asksBool(v)
		}
		return r.compared(v, up)
	case *ast.UnaryExpr:
		if up.Op == token.NOT {
			return r.asksBool(v)
		}
	case *ast.IfStmt, *ast.ForStmt, *ast.CaseClause, *ast.ReturnStmt:
		return r.asksBool(v)
	case *ast.AssignStmt:
		if !v.later {
			return r.askedLater(v, up, body)
		}
	}
	return question{}, false
}

func (r *rewriter) asksBool(v value) (question, bool) {
	return question{kind: asksZero}, isBool(r.info.TypeOf(v.expr)) && !v.length
}

// askedLater follows the local that v is assigned to to the first question about it.
func (r *rewriter) askedLater(v value, s *ast.AssignStmt, body *ast.BlockStmt) (question, bool) {
	if len(s.Rhs) != 1 || ast.Unparen(s.Rhs[0]) != v.expr || len(s.Lhs) > 2 {
		return question{}, false
	}
	if len(s.Lhs) == 2 && !isBlank(s.Lhs[1]) && r.firstQuestion(s.Lhs[1], s, body) != nil {
		return question{kind: asksPresent}, true
	}
	if use := r.firstQuestion(s.Lhs[0], s, body); use != nil {
		return r.askedOf(value{use, v.length, true}, body)
	}
	return question{}, false
}

// firstQuestion returns the first use of the local lhs behind s in a condition or a
// return, or nil.
func (r *rewriter) firstQuestion(lhs ast.Expr, s *ast.AssignStmt, body *ast.BlockStmt) (use ast.Expr) {
	id, ok := lhs.(*ast.Ident)
	if !ok || isBlank(lhs) {
		return nil
	}
	obj := r.info.ObjectOf(id)
	ast.Inspect(body, func(n ast.Node) bool {
		x, ok := n.(*ast.Ident)
		if ok && use == nil && x.Pos() > s.End() && r.info.Uses[x] == obj && r.inCondition(x) {
			use = x
		}
		return use == nil
	})
	return use
}

// inCondition reports whether e is part of a condition or of what is returned.
func (r *rewriter) inCondition(e ast.Expr) bool {
	n := ast.Node(e)
	for {
		up := r.parents[n]
		switch s := up.(type) {
		case ast.Expr:
			if _, call := s.(*ast.CallExpr); call && !r.info.Types[s.(*ast.CallExpr).Fun].IsType() && sites.Builtin(r.info, s.(*ast.CallExpr).Fun) != "len" {
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

// compared returns the question that the comparison e asks of v, one of its operands.
func (r *rewriter) compared(v value, e *ast.BinaryExpr) (question, bool) {
	op, other := e.Op, e.Y
	if ast.Unparen(e.Y) == v.expr {
		op, other = flipped(op), e.X
	}
	q := question{}
	if v.length {
		q.kind = asksLength
	}
	t := r.info.TypeOf(v.expr)
	tv := r.info.Types[other]
	switch {
	case tv.IsNil():
		q.kind |= asksZero
		return q, op == token.EQL || op == token.NEQ
	case isString(t):
		q.kind |= asksZero | asksLength
		return q, tv.Value != nil && constant.StringVal(tv.Value) == "" && (op == token.EQL || op == token.NEQ)
	case !isInteger(t):
		return q, false
	}
	if b, ok := under(t).(*types.Basic); ok && b.Info()&types.IsUnsigned != 0 {
		q.kind |= asksUnsigned
	}
	switch {
	case tv.Value != nil:
		n, exact := constant.Int64Val(constant.ToInt(tv.Value))
		if !exact {
			return q, false
		}
		q.number = n
	case v.later || !r.pure(other):
		return q, false
	default:
		q.operand = other
	}
	switch op {
	case token.EQL, token.NEQ:
		q.kind |= asksEqual
	case token.LSS, token.GEQ:
		q.kind |= asksLess
	case token.GTR, token.LEQ:
		q.kind |= asksLessEqual
	default:
		return q, false
	}
	return q, true
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

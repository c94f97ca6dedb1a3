package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
)

// The tree of what gc hoists. Names in comments are those of
// cmd/compile/internal/walk/order.go.

type kind int

const (
	root   kind = iota // a statement or another expression that is complete in itself
	call               // calls or receives
	quiet              // hoisted, but calls nothing of the user's: len, slicing, assertion, …
	copied             // an operand that is copied (addrTemp, cheapExpr, mapKeyTemp)
	logic              // && or ||
	left               // left operand of logic: complete before the right one begins
	cond               // right operand of logic: perhaps not evaluated
	entry              // key or value of a map literal: entries are stored one by one
	values             // right-hand side of an assignment: complete before the store
	maybe              // hoisted or not, depending on what a type parameter stands for
)

// node is an expression that gc hoists, or one of the boundaries between
// which it does.
type node struct {
	kind  kind
	exprs []ast.Expr // what would move; one but for values
	up    *node
	kids  []*node // in the order in which they are evaluated
	hooks []*hook // accesses that are made when the node itself is evaluated

	// Of values only: the number of targets, and which of them the assignment
	// declares or are blank (nil if it declares none).
	results         int
	declared, blank []bool

	required bool     // must be evaluated before its statement
	spilled  bool     // goes to temporaries: required, or before one that is
	temps    []string // names for its results
}

// hook is a monitored access in the tree.
type hook struct {
	*access
	in    *node
	after int     // kids of in before this one are evaluated before the access's operands are complete
	needs []*node // further nodes that must come first
}

func (n *node) kid(k kind, e ...ast.Expr) *node {
	c := &node{kind: k, exprs: e, up: n}
	n.kids = append(n.kids, c)
	return c
}

func (n *node) hook(a *access) {
	if a != nil && a.left == "" {
		n.hooks = append(n.hooks, &hook{access: a, in: n, after: len(n.kids)})
	}
}

// needs says that other must come before access a, which n makes.
func (n *node) needs(a *access, other *node) {
	for _, h := range n.hooks {
		if h.access == a {
			h.needs = append(h.needs, other)
		}
	}
}

// walk calls f for n and all nodes below it.
func (n *node) walk(f func(*node)) {
	f(n)
	for _, k := range n.kids {
		k.walk(f)
	}
}

// calls reports whether evaluating n calls or receives.
func (n *node) calls() bool {
	if n.kind == call {
		return true
	}
	for _, k := range n.kids {
		if k.calls() {
			return true
		}
	}
	return false
}

// blockers adds to list the nodes that must move so that evaluating n neither
// calls nor receives.
func (n *node) blockers(list []*node) []*node {
	if !n.calls() {
		return list
	}
	switch n.kind {
	case call, logic, values:
		return append(list, n)
	case quiet:
		if n.isMapLit() {
			return append(list, n)
		}
	}
	for _, k := range n.kids {
		list = k.blockers(list)
	}
	return list
}

func (n *node) isMapLit() bool { return len(n.kids) > 0 && n.kids[0].kind == entry }

// orderer builds trees. hooks are found by the expression that they wrap.
type orderer struct {
	info   *types.Info
	scope  *types.Scope // of the package
	places map[ast.Expr]*access
	// behind holds accesses to what an expression gives: the map, the elements
	// of the slice, what the pointer points to.
	behind map[ast.Expr]*access
}

// expr adds to n what evaluating e hoists and accesses (expr1).
func (o *orderer) expr(e ast.Expr, n *node) {
	if e == nil {
		return
	}
	if tv := o.info.Types[e]; tv.IsType() || tv.Value != nil {
		return
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		o.expr(e.X, n)
	case *ast.SelectorExpr:
		if sel := o.info.Selections[e]; sel != nil && sel.Kind() != types.MethodExpr {
			o.expr(e.X, n)
		}
	case *ast.StarExpr:
		o.expr(e.X, n)
	case *ast.IndexExpr:
		o.index(e, n)
	case *ast.SliceExpr:
		c := n.kid(quiet, e)
		o.expr(e.X, c)
		o.cheap(e.Low, c)
		o.cheap(e.High, c)
		o.cheap(e.Max, c)
	case *ast.CallExpr:
		o.call(e, n)
	case *ast.UnaryExpr:
		o.unary(e, n)
	case *ast.BinaryExpr:
		o.binary(e, n)
	case *ast.TypeAssertExpr:
		o.assert(e, n)
	case *ast.CompositeLit:
		o.composite(e, n)
	}
	n.hook(o.places[e])
	n.hook(o.behind[e])
}

// cheap adds an operand that gc copies at once unless it is a name or
// constant (cheapExpr).
func (o *orderer) cheap(e ast.Expr, n *node) {
	if e == nil || o.info.Types[e].Value != nil {
		return
	}
	if o.bareName(e) && o.behind[ast.Unparen(e)] == nil {
		return
	}
	o.expr(e, n.kid(copied, e))
}

func (o *orderer) index(e *ast.IndexExpr, n *node) {
	o.expr(e.X, n)
	m, ok := under(o.info.TypeOf(e.X)).(*types.Map)
	if !ok {
		o.expr(e.Index, n)
		return
	}
	o.expr(e.Index, o.keyNode(m, e.Index, n))
}

// keyNode returns the node that holds a map key: a copy where the runtime takes
// the key by address (mapKeyTemp, mapfast), else n.
func (o *orderer) keyNode(m *types.Map, key ast.Expr, n *node) *node {
	tv := o.info.Types[key]
	if tv.Value != nil || o.bareName(key) && o.behind[ast.Unparen(key)] == nil {
		return n
	}
	t := m.Key()
	if dependsOnTypeParam(m) {
		return n.kid(maybe, key)
	}
	fast := sizes.Sizeof(m.Elem()) <= 128
	switch u := t.Underlying().(type) {
	case *types.Struct, *types.Array:
		if fast {
			return n.kid(maybe, key)
		}
	case *types.Basic:
		size := sizes.Sizeof(u)
		if fast && (u.Info()&types.IsString != 0 || u.Info()&types.IsInteger != 0 && size >= 4 || u.Kind() == types.UnsafePointer) {
			return n
		}
	case *types.Pointer, *types.Chan:
		if fast {
			return n
		}
	case *types.Interface:
		if !types.IsInterface(tv.Type) {
			return n.kid(copied, key)
		}
	}
	if tv.Addressable() {
		return n
	}
	return n.kid(copied, key)
}

func (o *orderer) unary(e *ast.UnaryExpr, n *node) {
	if e.Op == token.ARROW {
		n = n.kid(call, e)
	}
	o.expr(e.X, n)
}

func (o *orderer) binary(e *ast.BinaryExpr, n *node) {
	switch e.Op {
	case token.LAND, token.LOR:
		c := n.kid(logic, e)
		o.expr(e.X, c.kid(left, e.X))
		o.expr(e.Y, c.kid(cond, e.Y))
		return
	case token.EQL, token.NEQ:
		if o.comparedByAddress(e.X) || o.comparedByAddress(e.Y) {
			n = n.kid(maybe, e)
		}
	}
	o.expr(e.X, n)
	o.expr(e.Y, n)
}

// comparedByAddress reports whether gc may copy e to compare it (addrTemp),
// or convert it to an interface first.
func (o *orderer) comparedByAddress(e ast.Expr) bool {
	tv := o.info.Types[e]
	if tv.Value != nil || tv.IsNil() || tv.Addressable() || isCall(e) {
		return false
	}
	if dependsOnTypeParam(tv.Type) {
		return true
	}
	switch tv.Type.Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

func (o *orderer) assert(e *ast.TypeAssertExpr, n *node) {
	switch {
	case e.Type == nil: // a type switch's guard
	case isTypeParam(o.info.TypeOf(e.Type)):
		n = n.kid(maybe, e)
	case !isDirectIface(o.info.TypeOf(e.Type)):
		n = n.kid(quiet, e)
	}
	o.expr(e.X, n)
}

func (o *orderer) composite(e *ast.CompositeLit, n *node) {
	t := under(o.info.TypeOf(e))
	if p, ok := t.(*types.Pointer); ok { // &T elided in a composite literal
		t = under(p.Elem())
	}
	m, isMap := t.(*types.Map)
	if isMap {
		n = n.kid(quiet, e)
	}
	for i, elt := range e.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		switch {
		case isMap:
			c := n.kid(entry, elt)
			o.expr(kv.Key, o.keyNode(m, kv.Key, c))
			o.expr(kv.Value, c)
		case ok:
			o.converted(kv.Value, elementType(o.info, t, kv.Key, i), n)
		default:
			o.converted(elt, elementType(o.info, t, nil, i), n)
		}
	}
}

// converted adds e as a value of type to (nil if unknown), which may take an
// implicit conversion to an interface (OCONVIFACE).
func (o *orderer) converted(e ast.Expr, to types.Type, n *node) {
	if to != nil && types.IsInterface(to) && !isTypeParam(to) && o.copiedForInterface(e) {
		n = n.kid(copied, e)
	}
	o.expr(e, n)
}

// copiedForInterface reports whether converting e to an interface copies the
// operand to a temporary first (dataWordFuncName, addrTemp).
func (o *orderer) copiedForInterface(e ast.Expr) bool {
	tv := o.info.Types[e]
	if tv.Value != nil || tv.IsNil() || tv.Type == nil || types.IsInterface(tv.Type) || tv.Addressable() {
		return false
	}
	if _, ok := tv.Type.(*types.Tuple); ok || isCall(e) && !o.info.Types[ast.Unparen(e).(*ast.CallExpr).Fun].IsType() {
		return false // hoisted itself
	}
	if dependsOnTypeParam(tv.Type) {
		return true
	}
	return !isDirectIface(tv.Type) && !convertedByValue(tv.Type)
}

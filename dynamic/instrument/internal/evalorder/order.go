// Package evalorder knows in which order gc evaluates the parts of a statement. It builds
// the tree of the expressions that gc hoists into temporaries, and decides which of them must
// be evaluated before a statement so that nothing that calls or receives comes between the
// monitor's call and the access. Names in comments are those of
// cmd/compile/internal/walk/order.go.
package evalorder

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
)

// Kind is how gc treats an expression.
type Kind int

const (
	Root   Kind = iota // a statement or another expression that is complete in itself
	call               // calls or receives
	quiet              // hoisted, but calls nothing of the user's: len, slicing, assertion, …
	Copied             // an operand that is copied (addrTemp, cheapExpr, mapKeyTemp)
	Logic              // && or ||
	left               // left operand of Logic: complete before the right one begins
	cond               // right operand of Logic: perhaps not evaluated
	entry              // key or value of a map literal: entries are stored one by one
	Values             // right-hand side of an assignment: complete before the store
	maybe              // hoisted or not, depending on the type argument
)

// Node is an expression that gc hoists, or one of the boundaries between
// which it does.
type Node struct {
	Kind  Kind
	Exprs []ast.Expr // that would move; one, except for values
	up    *Node
	Kids  []*Node // in the order in which they are evaluated
	Hooks []*Hook // accesses that are made when the node itself is evaluated

	// Of values only: the number of targets, and which of them the assignment
	// declares or are blank (nil if it declares none).
	Results         int
	Declared, Blank []bool

	Required bool     // must be evaluated before its statement
	Spilled  bool     // goes to temporaries: required, or before one that is
	Temps    []string // names for its results
}

// Hook is a monitored access in the tree.
type Hook struct {
	*source.Access
	in    *Node
	after int     // kids of in before this one are evaluated before the access's operands are complete
	needs []*Node // further nodes that must come first
}

// Kid adds a node below n.
func (n *Node) Kid(k Kind, e ...ast.Expr) *Node {
	c := &Node{Kind: k, Exprs: e, up: n}
	n.Kids = append(n.Kids, c)
	return c
}

// Hook adds an access that is made when n is evaluated.
func (n *Node) Hook(a *source.Access) {
	if a != nil && a.Unmonitored == "" {
		n.Hooks = append(n.Hooks, &Hook{Access: a, in: n, after: len(n.Kids)})
	}
}

// Needs has other come before access a, which n makes.
func (n *Node) Needs(a *source.Access, other *Node) {
	for _, h := range n.Hooks {
		if h.Access == a {
			h.needs = append(h.needs, other)
		}
	}
}

// walk calls f for n and all nodes below it.
func (n *Node) walk(f func(*Node)) {
	f(n)
	for _, k := range n.Kids {
		k.walk(f)
	}
}

// Calls reports whether evaluating n calls or receives.
func (n *Node) Calls() bool {
	if n.Kind == call {
		return true
	}
	for _, k := range n.Kids {
		if k.Calls() {
			return true
		}
	}
	return false
}

// blockers adds to list the nodes that must move so that evaluating n neither
// calls nor receives.
func (n *Node) blockers(list []*Node) []*Node {
	if !n.Calls() {
		return list
	}
	switch n.Kind {
	case call, Logic, Values:
		return append(list, n)
	case quiet:
		if n.isMapLit() {
			return append(list, n)
		}
	}
	for _, k := range n.Kids {
		list = k.blockers(list)
	}
	return list
}

func (n *Node) isMapLit() bool { return len(n.Kids) > 0 && n.Kids[0].Kind == entry }

// An Orderer builds the trees of a file. Accesses are found by the expression that they wrap.
type Orderer struct {
	*source.File
	Places map[ast.Expr]*source.Access
	// Behind holds accesses to the map, the elements of the slice or the variable
	// that an expression refers to.
	Behind map[ast.Expr]*source.Access

	extents map[*source.Access]*extent // of those that come to a part of the elements
}

// New returns the orderer for the accesses of a file.
func New(f *source.File) *Orderer {
	return &Orderer{
		File: f, Places: map[ast.Expr]*source.Access{}, Behind: map[ast.Expr]*source.Access{},
		extents: map[*source.Access]*extent{},
	}
}

// Expr adds to n the hoisted expressions and the accesses of evaluating e (expr1).
func (o *Orderer) Expr(e ast.Expr, n *Node) {
	if e == nil {
		return
	}
	if tv := o.Info.Types[e]; tv.IsType() || tv.Value != nil {
		return
	}
	// The operands of e come first; each case adds the nodes that gc hoists.
	switch e := e.(type) {
	case *ast.ParenExpr:
		o.Expr(e.X, n)
	case *ast.SelectorExpr:
		if sel := o.Info.Selections[e]; sel != nil && sel.Kind() != types.MethodExpr {
			o.Expr(e.X, n)
		}
	case *ast.StarExpr:
		o.Expr(e.X, n)
	case *ast.IndexExpr:
		o.index(e, n)
	case *ast.SliceExpr:
		c := n.Kid(quiet, e)
		o.Expr(e.X, c)
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
	// The accesses to e itself follow when its operands are complete.
	n.Hook(o.Places[e])
	n.Hook(o.Behind[e])
}

// cheap adds an operand that gc copies at once unless it is a name or
// constant (cheapExpr).
func (o *Orderer) cheap(e ast.Expr, n *Node) {
	if e == nil || o.Info.Types[e].Value != nil {
		return
	}
	if o.isBareName(e) && o.Behind[ast.Unparen(e)] == nil {
		return
	}
	o.Expr(e, n.Kid(Copied, e))
}

func (o *Orderer) index(e *ast.IndexExpr, n *Node) {
	o.Expr(e.X, n)
	m, ok := source.Under(o.Info.TypeOf(e.X)).(*types.Map)
	if !ok {
		o.Expr(e.Index, n)
		return
	}
	o.Expr(e.Index, o.keyNode(m, e.Index, n))
}

// keyNode returns the node that holds a map key: a copy where the runtime takes
// the key by address (mapKeyTemp, mapfast), else n.
func (o *Orderer) keyNode(m *types.Map, key ast.Expr, n *Node) *Node {
	tv := o.Info.Types[key]
	if tv.Value != nil || o.isBareName(key) && o.Behind[ast.Unparen(key)] == nil {
		return n
	}
	t := m.Key()
	// mapfast: maps of small elements have functions for keys of 4 and 8 bytes and texts,
	// which take the key by value; all others take its address.
	if dependsOnTypeParam(m) {
		return n.Kid(maybe, key)
	}
	fast := sizes.Sizeof(m.Elem()) <= 128
	switch u := t.Underlying().(type) {
	case *types.Struct, *types.Array:
		if fast {
			return n.Kid(maybe, key)
		}
	case *types.Basic:
		size := sizes.Sizeof(u)
		text, number := u.Info()&types.IsString != 0, u.Info()&types.IsInteger != 0 && size >= 4
		if fast && (text || number || u.Kind() == types.UnsafePointer) {
			return n
		}
	case *types.Pointer, *types.Chan:
		if fast {
			return n
		}
	case *types.Interface:
		if !types.IsInterface(tv.Type) {
			return n.Kid(Copied, key)
		}
	}
	if tv.Addressable() {
		return n
	}
	return n.Kid(Copied, key)
}

func (o *Orderer) unary(e *ast.UnaryExpr, n *Node) {
	if e.Op == token.ARROW {
		n = n.Kid(call, e)
	}
	o.Expr(e.X, n)
}

func (o *Orderer) binary(e *ast.BinaryExpr, n *Node) {
	switch e.Op {
	case token.LAND, token.LOR:
		c := n.Kid(Logic, e)
		o.Expr(e.X, c.Kid(left, e.X))
		o.Expr(e.Y, c.Kid(cond, e.Y))
		return
	case token.EQL, token.NEQ:
		if o.comparedByAddress(e.X) || o.comparedByAddress(e.Y) {
			n = n.Kid(maybe, e)
		}
	}
	o.Expr(e.X, n)
	o.Expr(e.Y, n)
}

// comparedByAddress reports whether gc may copy e to compare it (addrTemp),
// or convert it to an interface first.
func (o *Orderer) comparedByAddress(e ast.Expr) bool {
	tv := o.Info.Types[e]
	if tv.Value != nil || tv.IsNil() || tv.Addressable() || source.IsCall(e) {
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

func (o *Orderer) assert(e *ast.TypeAssertExpr, n *Node) {
	switch {
	case e.Type == nil: // a type switch's guard
	case source.IsTypeParam(o.Info.TypeOf(e.Type)):
		n = n.Kid(maybe, e)
	case !isDirectIface(o.Info.TypeOf(e.Type)):
		n = n.Kid(quiet, e)
	}
	o.Expr(e.X, n)
}

func (o *Orderer) composite(e *ast.CompositeLit, n *Node) {
	t := source.Under(o.Info.TypeOf(e))
	if p, ok := t.(*types.Pointer); ok { // &T elided in a composite literal
		t = source.Under(p.Elem())
	}
	m, isMap := t.(*types.Map)
	if isMap {
		n = n.Kid(quiet, e)
	}
	for i, elt := range e.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		switch {
		case isMap:
			c := n.Kid(entry, elt)
			o.Expr(kv.Key, o.keyNode(m, kv.Key, c))
			o.Expr(kv.Value, c)
		case ok:
			o.Converted(kv.Value, elementType(o.Info, t, kv.Key, i), n)
		default:
			o.Converted(elt, elementType(o.Info, t, nil, i), n)
		}
	}
}

// Converted adds e as a value of type to (nil if unknown), which may take an
// implicit conversion to an interface (OCONVIFACE).
func (o *Orderer) Converted(e ast.Expr, to types.Type, n *Node) {
	if to != nil && types.IsInterface(to) && !source.IsTypeParam(to) && o.copiedForInterface(e) {
		n = n.Kid(Copied, e)
	}
	o.Expr(e, n)
}

// copiedForInterface reports whether converting e to an interface copies the
// operand to a temporary first (dataWordFuncName, addrTemp).
func (o *Orderer) copiedForInterface(e ast.Expr) bool {
	tv := o.Info.Types[e]
	if tv.Value != nil || tv.IsNil() || tv.Type == nil || types.IsInterface(tv.Type) || tv.Addressable() {
		return false
	}
	if _, ok := tv.Type.(*types.Tuple); ok {
		return false // hoisted itself
	}
	if c, ok := ast.Unparen(e).(*ast.CallExpr); ok && !o.Info.Types[c.Fun].IsType() {
		return false // hoisted itself
	}
	if dependsOnTypeParam(tv.Type) {
		return true
	}
	return !isDirectIface(tv.Type) && !convertedByValue(tv.Type)
}

package instrument

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
)

// shape is the kind of call that can hold an access for a section.
type shape int

const (
	noShape  shape = iota
	pointer        // to the variable
	oneKey         // a map and a key, which is written twice
	wholeMap       // a map
)

// shape gives that of a.
func (r *rewriter) shape(a *access) shape {
	switch {
	case a.Map():
		if r.keyOf(a) != nil {
			return oneKey
		}
		return wholeMap
	case a.placed, a.Each, a.extent != nil, a.Append, a.Site.Behind && isSlice(r.info.TypeOf(a.Node)):
		return noShape
	}
	return pointer
}

// keyOf returns the key of the element of a map that a accesses, if that can be
// written twice, or nil.
func (r *rewriter) keyOf(a *access) ast.Expr {
	var key ast.Expr
	switch up := r.up(a.Node).(type) {
	case *ast.IndexExpr:
		if ast.Unparen(up.X) == a.Node {
			key = up.Index
		}
	case *ast.CallExpr:
		if sites.Builtin(r.info, up.Fun) == "delete" {
			key = up.Args[1]
		}
	}
	m, ok := under(r.info.TypeOf(a.Node)).(*types.Map)
	if key == nil || !ok || !r.pure(key) {
		return nil
	}
	if t := r.info.TypeOf(key); !types.Identical(t, m.Key()) && r.info.Types[key].Value == nil || types.IsInterface(m.Key()) {
		return nil
	}
	return key
}

// up returns the node around e, but for parentheses.
func (r *rewriter) up(e ast.Node) ast.Node {
	n := r.parents[e]
	for {
		p, ok := n.(*ast.ParenExpr)
		if !ok {
			return n
		}
		n = r.parents[p]
	}
}

// pure reports whether e may be evaluated twice: it is made of names, constants,
// fields and simple operations.
func (r *rewriter) pure(e ast.Expr) bool {
	if r.info.Types[e].Value != nil {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		sel := r.info.Selections[e]
		return sel == nil || sel.Kind() == types.FieldVal && r.pure(e.X)
	case *ast.StarExpr:
		return r.pure(e.X)
	case *ast.BinaryExpr:
		return (e.Op == token.ADD || e.Op == token.SUB || e.Op == token.MUL) && r.pure(e.X) && r.pure(e.Y)
	case *ast.CallExpr:
		switch sites.Builtin(r.info, e.Fun) {
		case "len", "cap":
			return r.pure(e.Args[0])
		}
		return r.info.Types[e.Fun].IsType() && r.pure(e.Args[0])
	}
	return false
}

// source gives e as it was.
func (r *rewriter) source(e ast.Expr) piece { return r.original(e.Pos(), e.End()) }

// wrapping is a call around the monitor's call at an access.
type wrapping struct {
	name string  // with the opening bracket
	args []piece // behind the first, with the closing bracket
}

// wrappings returns what goes around the monitor's call at a, from the inside: ends
// before entries, those of callers' sections first.
func (r *rewriter) wrappings(a *access) []wrapping {
	s := r.shape(a)
	if s == noShape {
		return nil
	}
	var all []wrapping
	if r.binding[a] {
		all = append(all, r.binds(a, s))
	}
	for _, ends := range []bool{true, false} {
		for _, x := range r.roles[a] {
			if x.reason == "" && (x.end != nil) == ends && r.holds(x.opening, a) {
				all = append(all, r.halves(a, s, x))
			}
		}
	}
	return all
}

func (r *rewriter) writes(a *access) bool {
	return a.Site.Mode == plan.Write || a.Site.Mode == plan.AtomicWrite
}

// Flags of an end, as the monitor takes them.
const (
	allowsReads = 1 << iota
	allowsWrites
	otherVariable
	endWrites
	updates
)

// how says what a does: 0 for a read.
func (r *rewriter) how(a *access) int {
	switch {
	case !r.writes(a):
		return 0
	case r.updates(a):
		return endWrites | updates
	}
	return endWrites
}

// updates reports whether a write builds on what it finds: x++, x += y, and what
// sync/atomic does but for Store.
func (r *rewriter) updates(a *access) bool {
	if a.Site.Mode == plan.AtomicWrite {
		return !strings.HasPrefix(r.atomicName(a), "Store")
	}
	place := a.Node
	if up, ok := r.up(a.Node).(*ast.IndexExpr); ok && a.Map() {
		place = up
	}
	switch s := r.up(place).(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.ASSIGN && s.Tok != token.DEFINE
	}
	return false
}

// atomicName returns the name of the function or method of sync/atomic that makes
// the access, or "".
func (r *rewriter) atomicName(a *access) string {
	for n := ast.Node(a.Node); n != nil; n = r.parents[n] {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			continue
		}
		if f, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr); ok {
			return f.Sel.Name
		}
		return ""
	}
	return ""
}

func (r *rewriter) binds(a *access, s shape) wrapping {
	switch {
	case s == oneKey:
		return r.wrapping("BindKey", r.keyOf(a), fmt.Sprintf("%d, %d", a.id, r.how(a)))
	case s == wholeMap:
		return r.wrapping("BindMap", nil, fmt.Sprintf("%d, %d", a.id, r.how(a)))
	case r.how(a)&updates != 0:
		return r.wrapping("BindUpdate", nil, fmt.Sprint(a.id))
	case r.writes(a):
		return r.wrapping("BindWrite", nil, fmt.Sprint(a.id))
	}
	return r.wrapping("BindRead", nil, fmt.Sprint(a.id))
}

// halves returns the call that begins or ends a section at a.
func (r *rewriter) halves(a *access, s shape, x role) wrapping {
	name, key := "Enter", ast.Expr(nil)
	if x.end != nil {
		name = "End"
	}
	args := fmt.Sprintf("%d, %d", a.id, x.ID)
	switch {
	case s == oneKey && !x.Length:
		name, key = name+"Key", r.keyOf(a)
	case s != pointer:
		name += "Map"
	case x.end != nil && !r.writes(a):
		name += "Read"
	}
	if r.writes(a) && (s == pointer || x.end == nil) {
		name += "Write"
	}
	if x.end != nil {
		args += fmt.Sprintf(", %d", r.allows(x.end, a))
	}
	return r.wrapping(name, key, args)
}

func (r *rewriter) wrapping(name string, key ast.Expr, args string) wrapping {
	w := wrapping{name: r.prefix + "rt." + name + "("}
	if key != nil {
		w.args = append(w.args, text(", "), r.source(key))
	}
	w.args = append(w.args, text(", "+args+")"))
	return w
}

// allows returns the A set of an end as the monitor takes it; a is nil if the end is
// in a callee.
func (r *rewriter) allows(e *ending, a *access) int {
	n := 0
	for _, m := range e.Allows {
		if m == plan.Read {
			n |= allowsReads
		} else {
			n |= allowsWrites
		}
	}
	if e.other {
		n |= otherVariable
	}
	if a == nil || !r.writes(a) {
		return n
	}
	if r.how(a)&updates != 0 {
		n |= updates
	}
	if strings.HasPrefix(r.atomicName(a), "CompareAndSwap") && a.Site.Mode == plan.AtomicWrite {
		n |= allowsReads | allowsWrites // it looks again by itself
	}
	if r.shape(a) != pointer {
		n |= endWrites
	}
	return n
}

// stored returns the call that says what is stored under the key of a map, if the
// map can be named behind the statement.
func (r *rewriter) stored(o *opening, e ending) []piece {
	if e.at == nil || !r.writes(e.at) || r.shape(e.at) != oneKey || o.Length || !r.pure(e.at.Node) {
		return nil
	}
	switch s := r.statement(e.node).(type) {
	case *ast.IncDecStmt, *ast.ExprStmt:
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 {
			return nil
		}
	default:
		return nil
	}
	return []piece{text(r.prefix + "rt.Stored("), r.source(e.at.Node), text(", "), r.source(r.keyOf(e.at)), textf(", %d)", o.ID)}
}

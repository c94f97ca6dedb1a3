package instrument

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
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
	if b := r.binding[a]; b != nil {
		all = append(all, r.binds(a, s, b))
		if w, ok := r.testedAt(a); b.tested && ok {
			all = append(all, w)
		}
	}
	for _, ends := range []bool{true, false} {
		for _, x := range r.roles[a] {
			if x.reason != "" || (x.end != nil) != ends || !r.holds(x.opening, a) {
				continue
			}
			all = append(all, r.endpointCall(a, s, x))
			if w, ok := r.tested(x.opening, r.valueOf(a)); !ends && ok {
				all = append(all, w)
			}
		}
	}
	return all
}

func (r *rewriter) writes(a *access) bool {
	return a.Site.Mode == plan.Write || a.Site.Mode == plan.AtomicWrite
}

// named returns the monitor's constants with the names as an expression.
func (r *rewriter) named(constants []string) string {
	if len(constants) == 0 {
		return "0"
	}
	return r.prefix + "rt." + strings.Join(constants, "|"+r.prefix+"rt.")
}

// accessFlags names what a does; nothing for a read.
func (r *rewriter) accessFlags(a *access) []string {
	switch {
	case !r.writes(a):
		return nil
	case r.updates(a):
		return []string{"Writes", "Updates"}
	}
	return []string{"Writes"}
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

// binds returns the call at an access where sections of callers begin or end.
func (r *rewriter) binds(a *access, s shape, b *bound) wrapping {
	flags := r.accessFlags(a)
	if b.loose {
		flags = append(flags, r.looseWords(a, s == wholeMap)...)
	}
	args := fmt.Sprintf("%d, %s", a.id, r.named(flags))
	switch s {
	case oneKey:
		return r.wrapping("BindKey", r.keyOf(a), args)
	case wholeMap:
		return r.wrapping("BindMap", nil, args)
	}
	return r.wrapping("Bind", nil, args)
}

// endpointCall returns the call that begins or ends a section at a.
func (r *rewriter) endpointCall(a *access, s shape, x role) wrapping {
	name, key, flags := "Enter", ast.Expr(nil), []string(nil)
	switch {
	case x.end != nil:
		name, flags = "End", r.endFlags(x.end, a)
	case x.Kind == plan.UserSection:
		flags = append(r.entryFlags(a), r.looseWords(a, x.Length)...)
	default:
		flags = r.entryFlags(a)
	}
	switch {
	case s == oneKey && !x.Length:
		name, key = name+"Key", r.keyOf(a)
	case s != pointer:
		name += "Map"
	}
	return r.wrapping(name, key, fmt.Sprintf("%d, %d, %s", a.id, x.ID, r.named(flags)))
}

func (r *rewriter) wrapping(name string, key ast.Expr, args string) wrapping {
	w := wrapping{name: r.prefix + "rt." + name + "("}
	if key != nil {
		w.args = append(w.args, text(", "), r.source(key))
	}
	w.args = append(w.args, text(", "+args+")"))
	return w
}

// entryFlags names what the entry a does. Whether it builds on what it finds does not
// matter.
func (r *rewriter) entryFlags(a *access) []string {
	if r.writes(a) {
		return []string{"Writes"}
	}
	return nil
}

// endFlags names the A set of an end, and what the end does; a is nil if that is in a
// callee.
func (r *rewriter) endFlags(e *ending, a *access) (flags []string) {
	// A CompareAndSwap compares again by itself, so that everything may come before it.
	swaps := a != nil && a.Site.Mode == plan.AtomicWrite && strings.HasPrefix(r.atomicName(a), "CompareAndSwap")
	if swaps || slices.Contains(e.Allows, plan.Read) {
		flags = append(flags, "AllowReads")
	}
	if swaps || slices.ContainsFunc(e.Allows, func(m plan.Mode) bool { return m != plan.Read }) {
		flags = append(flags, "AllowWrites")
	}
	if e.other {
		flags = append(flags, "OtherVariable")
	}
	if a != nil {
		flags = append(flags, r.accessFlags(a)...)
	}
	return flags
}

// stored returns the call that reads what a has stored under the key of a map, if the
// map can be named behind the statement.
func (r *rewriter) stored(a *access) []piece {
	if !r.writes(a) || r.shape(a) != oneKey || !r.pure(a.Node) {
		return nil
	}
	switch s := r.statement(a.Node).(type) {
	case *ast.IncDecStmt, *ast.ExprStmt:
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 {
			return nil
		}
	default:
		return nil
	}
	return []piece{text(r.prefix + "rt.Stored("), r.source(a.Node), text(", "), r.source(r.keyOf(a)), textf(", %d)", a.id)}
}

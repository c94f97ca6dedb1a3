package sectionplace

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/predicate"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
	"github.com/interlock-go/interlock/dynamic/instrument/internal/textedit"
)

// shape is the kind of call that can hold an access for a section.
type shape int

const (
	noShape  shape = iota
	pointer        // to the variable
	oneKey         // a map and a key, which is written twice
	wholeMap       // a map
	syncKey        // a sync.Map and a key, which is written twice
)

// shape returns that of a.
func (r *Sections) shape(a *source.Access) shape {
	switch {
	case a.SyncMap():
		if r.KeyOf(a) != nil {
			return syncKey
		}
		return noShape
	case a.Map():
		if r.KeyOf(a) != nil {
			return oneKey
		}
		return wholeMap
	case a.Placed, a.Each, a.Partly, a.Append, a.Site.Behind && source.IsSlice(r.Info.TypeOf(a.Node)):
		return noShape
	}
	return pointer
}

// KeyOf returns the key of the element of a map that a accesses, if that can be
// written twice, or nil.
func (r *Sections) KeyOf(a *source.Access) ast.Expr {
	if a.SyncMap() {
		return r.syncMapKey(a)
	}
	var key ast.Expr
	switch up := r.Up(a.Node).(type) {
	case *ast.IndexExpr:
		if ast.Unparen(up.X) == a.Node {
			key = up.Index
		}
	case *ast.CallExpr:
		if sites.Builtin(r.Info, up.Fun) == "delete" {
			key = up.Args[1]
		}
	}
	m, ok := source.Under(r.Info.TypeOf(a.Node)).(*types.Map)
	if key == nil || !ok || !r.IsPure(key) {
		return nil
	}
	converted := !types.Identical(r.Info.TypeOf(key), m.Key()) && r.Info.Types[key].Value == nil
	if converted || types.IsInterface(m.Key()) {
		return nil
	}
	return key
}

// syncMapKey is KeyOf for a method of a sync.Map: the first argument, except where the method has none that is a key.
func (r *Sections) syncMapKey(a *source.Access) ast.Expr {
	call := r.atomicCall(a)
	if call == nil || len(call.Args) == 0 || r.atomicName(a) == "Range" {
		return nil
	}
	key := call.Args[0]
	if t := r.Info.Types[key]; t.IsNil() || !r.IsPure(key) {
		return nil
	}
	return key
}

// Wrapping is a call around the monitor's call at an access.
type Wrapping struct {
	Name string           // with the opening bracket
	Args []textedit.Piece // behind the first, with the closing bracket
}

// Wrappings returns the calls around the monitor's call at a, from the inside: ends
// before entries, those of callers' sections first.
func (r *Sections) Wrappings(a *source.Access) []Wrapping {
	s := r.shape(a)
	if s == noShape {
		return nil
	}
	var all []Wrapping
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
			if w, ok := r.tested(x.opening, predicate.ValueOf(r.File, a)); !ends && ok {
				all = append(all, w)
			}
		}
	}
	return all
}

// named returns the monitor's constants with the names as an expression.
func (r *Sections) named(constants []string) string {
	if len(constants) == 0 {
		return "0"
	}
	return r.Prefix + "rt." + strings.Join(constants, "|"+r.Prefix+"rt.")
}

// accessFlags names the mode of a; nothing for a read.
func (r *Sections) accessFlags(a *source.Access) []string {
	switch {
	case !a.Writes():
		return nil
	case r.updates(a):
		return []string{"Writes", "Updates"}
	}
	return []string{"Writes"}
}

// updates reports whether a write depends on the old value: x++, x += y, and the methods
// of sync/atomic, except Store, and of a sync.Map, except Store and Delete.
func (r *Sections) updates(a *source.Access) bool {
	if a.Site.Mode == plan.AtomicWrite {
		name := r.atomicName(a)
		return !strings.HasPrefix(name, "Store") && name != "Delete"
	}
	place := a.Node
	if up, ok := r.Up(a.Node).(*ast.IndexExpr); ok && a.Map() {
		place = up
	}
	switch s := r.Up(place).(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.ASSIGN && s.Tok != token.DEFINE
	}
	return false
}

// atomicName returns the name of the function or method of sync/atomic, or of a sync.Map, that makes
// the access, or "".
func (r *Sections) atomicName(a *source.Access) string {
	if c := r.atomicCall(a); c != nil {
		if f, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr); ok {
			return f.Sel.Name
		}
	}
	return ""
}

// atomicCall returns the call of sync/atomic, or of a sync.Map, that makes the access, or nil.
func (r *Sections) atomicCall(a *source.Access) *ast.CallExpr {
	for n := ast.Node(a.Node); n != nil; n = r.Around(n) {
		if c, ok := n.(*ast.CallExpr); ok {
			return c
		}
	}
	return nil
}

// binds returns the call at an access where sections of callers begin or end.
func (r *Sections) binds(a *source.Access, s shape, b *bound) Wrapping {
	flags := r.accessFlags(a)
	if b.loose {
		flags = append(flags, predicate.LooseWords(r.File, a, s == wholeMap)...)
	}
	args := fmt.Sprintf("%d, %s", a.ID, r.named(flags))
	switch s {
	case oneKey:
		return r.wrapping("BindKey", r.place(a), r.KeyOf(a), args)
	case syncKey:
		return r.wrapping("BindSync", nil, r.KeyOf(a), args)
	case wholeMap:
		return r.wrapping("BindMap", r.place(a), nil, args)
	}
	return r.wrapping("Bind", nil, nil, args)
}

// endpointCall returns the call that begins or ends a section at a.
func (r *Sections) endpointCall(a *source.Access, s shape, x role) Wrapping {
	name, key, flags := "Enter", ast.Expr(nil), []string(nil)
	switch {
	case x.end != nil:
		name, flags = "End", r.endFlags(x.end, a)
	case x.Kind == plan.UserSection:
		flags = append(r.entryFlags(a), predicate.LooseWords(r.File, a, x.Length)...)
	default:
		flags = r.entryFlags(a)
	}
	switch {
	case s == syncKey:
		name, key = name+"Sync", r.KeyOf(a)
	case s == oneKey && !x.Length:
		name, key = name+"Key", r.KeyOf(a)
	case s != pointer:
		name += "Map"
	}
	var at []textedit.Piece
	if (s == oneKey || s == wholeMap) && x.end == nil {
		at = r.place(a)
	}
	return r.wrapping(name, at, key, fmt.Sprintf("%d, %d, %s", a.ID, x.ID, r.named(flags)))
}

// place returns where the map that a accesses is kept, or nil where its address cannot be taken twice, or would
// make a local variable escape.
func (r *Sections) place(a *source.Access) []textedit.Piece {
	if !r.IsPure(a.Node) || !r.isBehindPointer(a.Node) {
		return []textedit.Piece{textedit.Text(", nil")}
	}
	return []textedit.Piece{textedit.Text(", &"), r.TextOf(a.Node)}
}

// isBehindPointer reports whether e is a field that is reached by a pointer, or a package variable or a field of one.
func (r *Sections) isBehindPointer(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := r.Info.Uses[e].(*types.Var)
		return ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
	case *ast.SelectorExpr:
		sel := r.Info.Selections[e]
		if sel == nil { // a variable of another package
			v, ok := r.Info.Uses[e.Sel].(*types.Var)
			return ok && !v.IsField()
		}
		return sel.Kind() == types.FieldVal && (sel.Indirect() || r.isBehindPointer(e.X))
	}
	return false
}

func (r *Sections) wrapping(name string, at []textedit.Piece, key ast.Expr, args string) Wrapping {
	w := Wrapping{Name: r.Prefix + "rt." + name + "(", Args: at}
	if key != nil {
		w.Args = append(w.Args, textedit.Text(", "), r.TextOf(key))
	}
	w.Args = append(w.Args, textedit.Text(", "+args+")"))
	return w
}

// entryFlags names the mode of the entry a. Whether it depends on the old value does not
// matter.
func (r *Sections) entryFlags(a *source.Access) []string {
	if a.Writes() {
		return []string{"Writes"}
	}
	return nil
}

// endFlags names the A set of an end, and its mode; a is nil if the end is in a callee.
func (r *Sections) endFlags(e *ending, a *source.Access) (flags []string) {
	// A CompareAndSwap or CompareAndDelete compares again by itself, so that everything may come before it.
	swaps := a != nil && a.Site.Mode == plan.AtomicWrite && strings.HasPrefix(r.atomicName(a), "CompareAnd")
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

// stored returns the call that reads the value that a has stored under the key of a map,
// if the map can be named behind the statement.
func (r *Sections) stored(a *source.Access) []textedit.Piece {
	s := r.shape(a)
	if !a.Writes() || s != oneKey && s != syncKey || !r.IsPure(a.Node) {
		return nil
	}
	switch s := r.Statement(a.Node).(type) {
	case *ast.IncDecStmt, *ast.ExprStmt:
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 {
			return nil
		}
	default:
		return nil
	}
	name := "rt.Stored("
	switch {
	case s == syncKey && a.Pointer:
		name = "rt.StoredSync("
	case s == syncKey:
		name = "rt.StoredSync(&"
	}
	return []textedit.Piece{
		textedit.Text(r.Prefix + name), r.TextOf(a.Node), textedit.Text(", "), r.TextOf(r.KeyOf(a)),
		textedit.Textf(", %d)", a.ID),
	}
}

// tested returns the call that reports the test. It goes around the entry of o at a, or
// around the call of a function that has the entry and returns its value:
//
//	if c.n < c.max {            if *rt.Tested(rt.Enter(rt.R(&c.n, 1), 1, 7, 0), 7, rt.TestLess, c.max) < c.max {
//	if c.Len() == 0 {           if rt.Tested(c.Len(), 7, rt.TestEqual, 0) == 0 {
//
// It reports false where the monitor cannot repeat the test.
func (r *Sections) tested(o *opening, e ast.Expr) (Wrapping, bool) {
	if o.Kind != plan.TestAndUse {
		return Wrapping{}, false
	}
	p, ok := predicate.Of(r.File, e, o.body)
	return r.testedCall("Tested", o.ID, p), ok
}

// testedAt returns the call around an access at which sections of callers begin. It
// reports the test of the function on the value that it reads, if its result is the
// answer; or else that its result is that value, for the caller to test.
//
//	return s.n == n       return *rt.TestedAt(rt.Bind(rt.R(&s.n, 1), 1, 0), 1, rt.TestEqual, n) == n
//	return len(s.list)    return len(*rt.TestedAt(rt.Bind(rt.R(&s.list, 1), 1, 0), 1, rt.TestByCaller|rt.TestLength, 0))
func (r *Sections) testedAt(a *source.Access) (Wrapping, bool) {
	p, ok := predicate.OfResult(r.File, a)
	return r.testedCall("TestedAt", a.ID, p), ok
}

// testedCall returns a call of Tested or TestedAt.
func (r *Sections) testedCall(name string, id uint32, p predicate.Predicate) Wrapping {
	args := []textedit.Piece{textedit.Textf(", %d, %s, ", id, r.named(p.Test))}
	if p.Operand != nil {
		args = append(args, r.TextOf(p.Operand))
	} else {
		args = append(args, textedit.Textf("%d", p.Number))
	}
	return Wrapping{r.Prefix + "rt." + name + "(", append(args, textedit.Text(")"))}
}

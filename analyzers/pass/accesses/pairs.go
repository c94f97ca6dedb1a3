package accesses

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// Variable is a field or package variable with its accesses that count and
// that are made to objects which others may reach.
type Variable struct {
	Name     accesspath.Name
	Accesses []*Access
	// Excused are the others outside of tests: to new objects, in initialisation, or in a sync.Once.
	Excused []*Access
	// Atomic: some access anywhere in the package goes through sync/atomic.
	Atomic bool
}

// Variables sorts the accesses by variable, in the order of their names.
func (l *List) Variables() []*Variable { return l.sorted(l.All) }

// Guardable is Variables with the implied accesses. The elements of a slice or array
// are a variable of their own, behind the one that holds it, and so is
// the object on which methods are called. Where the
// contents of a map are looked at, the variable is read to get there.
func (l *List) Guardable() []*Variable {
	contents := map[ssa.Instruction]bool{} // loads of maps
	for _, a := range l.Implied {
		if a.Map && a.load != nil {
			contents[a.load] = true
		}
	}
	all := slices.Concat(l.All, l.Implied)
	return l.sorted(slices.DeleteFunc(all, func(a *Access) bool { return !a.Implied && contents[a.Instr] }))
}

// aspect is the part of a variable that is accessed.
type aspect int

const (
	itself aspect = iota // and maps that it holds
	elements
	inner // the object that it holds or points to
)

func (a *Access) aspect() aspect {
	switch {
	case a.Elements:
		return elements
	case len(a.Inner) > 0:
		return inner
	}
	return itself
}

// groupKey is the data that accesses have to have in common to be judged together.
type groupKey struct {
	name   accesspath.Name
	aspect aspect
}

func (a *Access) groupKeyOf() groupKey { return groupKey{a.Name, a.aspect()} }

func (l *List) sorted(list []*Access) []*Variable {
	known := map[groupKey]*Variable{}
	var all []*Variable
	for _, a := range list {
		k := a.groupKeyOf()
		v := known[k]
		if v == nil {
			v = &Variable{Name: a.Name}
			known[k] = v
			all = append(all, v)
		}
		v.Atomic = v.Atomic || a.Atomic()
		switch {
		case l.Counts(a) && a.Owner == ownership.Shared:
			v.Accesses = append(v.Accesses, a)
		case !l.Prog.InTest(a.Fn):
			v.Excused = append(v.Excused, a)
		}
	}
	names := map[*Variable]string{}
	for _, v := range all {
		names[v] = v.Name.String()
	}
	slices.SortStableFunc(all, func(a, b *Variable) int { return strings.Compare(names[a], names[b]) })
	return all
}

// Atomic reports whether a goes through sync/atomic.
func (a *Access) Atomic() bool {
	return a.Mode == finding.AtomicRead || a.Mode == finding.AtomicWrite
}

// Writes reports whether a changes the variable, by whatever means.
func (a *Access) Writes() bool {
	return a.Mode == finding.Write || a.Mode == finding.AtomicWrite
}

// Verb returns the verb of a in the past tense.
func (a *Access) Verb() string {
	if a.Writes() {
		return "written"
	}
	return "read"
}

// CommonLock reports whether a and b hold a lock of one class, which orders
// them if it is the same lock; only the read sides of one order nothing.
func CommonLock(a, b *Access) bool {
	for _, x := range a.Locks.Held() {
		for _, y := range b.Locks.Held() {
			if x.Class != "" && x.Class == y.Class && !(x.Read && y.Read) {
				return true
			}
		}
	}
	return false
}

// MayCommonLock reports whether b may hold a lock that a surely holds: then
// nothing says that they run at the same time.
func MayCommonLock(a, b *Access) bool {
	return slices.ContainsFunc(a.Locks.Held(), func(h lockset.Held) bool {
		return h.Class != "" && b.Locks.MayHoldClass(h.Class) && !surelyReads(b, h)
	})
}

// surelyReads reports whether h is the read side of a lock, and b holds the read
// side of one of its class, too.
func surelyReads(b *Access, h lockset.Held) bool {
	return h.Read && slices.ContainsFunc(b.Locks.Held(), func(o lockset.Held) bool { return o.Class == h.Class && o.Read })
}

// Near reports whether the variable that a accesses lies in the same object
// as lock h: the path to the lock, without its last field, leads to it. Locks
// that are package variables are near to everything. So is a lock at the index
// of the object in a list beside its own.
func (a *Access) Near(h lockset.Held) bool {
	if _, global := h.Path.Global(); global {
		return true
	}
	if h.Path.Root == nil {
		return slices.Contains(a.beside, h.Class)
	}
	for owner := h.Path; owner.Fields != ""; {
		owner = owner.Owner()
		if _, under := a.Path.Under(owner); under {
			return true
		}
		if !onlyLocks(h.Path.Root.Type(), owner.Fields) {
			return false
		}
	}
	return false
}

// onlyLocks reports whether the fields lead from t to a struct that holds
// nothing but locks: a lock type of its author's own, which lies where the
// lock of another type would.
func onlyLocks(t types.Type, fields string) bool {
	for _, name := range strings.Split(fields, ".")[1:] {
		field, _, _ := types.LookupFieldOrMethod(t, true, fieldPackage(t), name)
		v, ok := field.(*types.Var)
		if !ok {
			return false
		}
		t = v.Type()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || fields == "" || s.NumFields() == 0 {
		return false
	}
	for f := range s.Fields() {
		if !lockset.IsLock(f.Type()) {
			return false
		}
	}
	return true
}

// fieldPackage returns the package of the unexported fields of a struct of type t.
func fieldPackage(t types.Type) *types.Package {
	if n, ok := ir.Named(t); ok {
		return n.Obj().Pkg()
	}
	return nil
}

// Alike reports whether a and b go the same way from objects of the same
// type, so that they may well mean the same one.
func Alike(a, b *Access) bool {
	return a.Path.Fields == b.Path.Fields && a.Path.Root != nil && b.Path.Root != nil &&
		a.root == b.root
}

// rootType names the type of the object that a path starts from.
func rootType(p accesspath.Path) string {
	if g, ok := p.Global(); ok {
		return g.String()
	}
	if p.Root == nil {
		return ""
	}
	return strings.TrimPrefix(p.Root.Type().String(), "*")
}

// MaySame reports whether a and b may be accesses to one location: not if
// the objects that hold the field are of distinct types, or hold it twice and
// this is the one and that the other (x.first.seq, x.last.seq).
func MaySame(a, b *Access) bool {
	switch {
	case a.groupKeyOf() != b.groupKeyOf(), a.Map != b.Map && !replaces(a, b) && !replaces(b, a):
		return false
	case a.Elements && distinctIndexes(a.Index, b.Index), a.aspect() == inner && !haveConflict(a.Inner, b.Inner):
		return false
	}
	x, y := a.place, b.place
	if len(x) == len(y) {
		return slices.Equal(x, y)
	}
	// One of them starts from a pointer to the inner struct.
	if len(x) > len(y) {
		x, y = y, x
	}
	return slices.Equal(x[1:], y[len(y)-len(x)+1:])
}

// replaces reports whether a assigns the variable by which b comes to its map.
func replaces(a, b *Access) bool {
	return a.Mode == finding.Write && !a.Map && b.Map && b.Implied
}

// distinctIndexes reports whether both are constants, and differ.
func distinctIndexes(a, b ssa.Value) bool {
	x, ok := a.(*ssa.Const)
	y, both := b.(*ssa.Const)
	return ok && both && x.Value != nil && y.Value != nil && x.Int64() != y.Int64()
}

// location is that of Addr, or of the part of the struct there.
func (a *Access) location() []string {
	place := location(a.Addr)
	if a.Part != "" {
		place = append(place, strings.Split(a.Part[1:], ".")...)
	}
	return place
}

// location returns the type of the object that addr lies in, and the fields
// selected from it without following a pointer.
func location(addr ssa.Value) []string {
	fa, ok := addr.(*ssa.FieldAddr)
	if !ok {
		if g, isGlobal := addr.(*ssa.Global); isGlobal {
			return []string{g.String()}
		}
		return []string{typeName(addr)}
	}
	return append(location(fa.X), accesspath.FieldOf(fa).Name())
}

func typeName(addr ssa.Value) string {
	if n, ok := ir.Named(addr.Type()); ok {
		return n.Origin().Obj().Id() + " " + finding.TypeName(n.Origin().Obj())
	}
	return types.Unalias(ir.Pointee(addr.Type())).String()
}

// Exclusive reports whether some lock is surely held for writing.
func (a *Access) Exclusive() bool {
	return slices.ContainsFunc(a.Locks.Held(), func(h lockset.Held) bool { return !h.Read })
}

// Leads reports whether control may come from instruction from to instruction
// to, of the same function.
func (l *List) Leads(from, to ssa.Instruction) bool {
	return l.Prog.Flow(from.Parent()).Leads(from, to)
}

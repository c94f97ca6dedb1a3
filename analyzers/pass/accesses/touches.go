package accesses

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// Touches is the fact of which variables of its receiver's object a method
// reads and writes without synchronising by itself: its callers in several
// goroutines have to. Methods of types that hold a lock, or anything
// else of package sync, have none.
type Touches struct{ List []Touch }

// Touch is one variable in the object.
type Touch struct {
	Field string // "size", "stats.hits"
	Map   bool   // the map in it
	Write bool
}

// AFact marks Touches as a fact.
func (*Touches) AFact() {}

func (t *Touches) String() string {
	var parts []string
	for _, x := range t.List {
		verb := "reads"
		if x.Write {
			verb = "writes"
		}
		parts = append(parts, verb+" "+x.Field)
	}
	return strings.Join(parts, ", ")
}

// touching sums up methods.
type touching struct {
	*collector
	byFn map[*ssa.Function][]*Access
	done map[*ssa.Function][]Touch
}

func (c *collector) newTouching() *touching {
	t := &touching{collector: c, byFn: map[*ssa.Function][]*Access{}, done: map[*ssa.Function][]Touch{}}
	for _, a := range c.list.All {
		t.byFn[a.Fn] = append(t.byFn[a.Fn], a)
	}
	return t
}

// export exports the facts of exported methods.
func (t *touching) export() {
	for _, fn := range t.list.Prog.Funcs {
		obj, ok := fn.Object().(*types.Func)
		if !ok || !obj.Exported() || t.list.Prog.InTest(fn) {
			continue
		}
		if list := t.touchesOf(fn, 0); len(list) > 0 {
			t.pass.ExportObjectFact(obj, &Touches{list})
		}
	}
}

// touchesOf returns the accesses of fn, a method, to its receiver's object. Recursive calls
// add nothing.
func (t *touching) touchesOf(fn *ssa.Function, depth int) []Touch {
	if list, ok := t.done[fn]; ok || depth > knowledge.CallsToTouches {
		return list
	}
	t.done[fn] = nil
	if !plainReceiver(fn) {
		return nil
	}
	if len(fn.Blocks) == 0 {
		t.done[fn] = t.imported(fn)
		return t.done[fn]
	}
	// One touch for a field or map, a write if one of its accesses writes.
	var list []Touch
	add := func(x Touch) {
		if i := slices.IndexFunc(list, func(y Touch) bool { return x.Field == y.Field && x.Map == y.Map }); i >= 0 {
			list[i].Write = list[i].Write || x.Write
		} else if len(list) < knowledge.TouchesOfMethod {
			list = append(list, x)
		}
	}
	// The accesses of the method itself. Elements and objects with a lock of their own
	// are not the holder's to guard.
	for _, a := range t.byFn[fn] {
		rest, ok := a.Path.Under(accesspath.Path{Root: fn.Params[0]})
		if ok && !a.Atomic() && !locksItself(a) && strings.HasPrefix(rest, ".") && !strings.Contains(rest, "[") {
			add(Touch{rest[1:], a.Map, a.Writes()})
		}
	}
	// The accesses of methods that it calls on the same object, or on one inside, except under a lock
	// that it takes itself.
	locked := t.lockedCalls(fn)
	for instr := range ir.Instructions(fn) {
		call, ok := instr.(*ssa.Call)
		if !ok {
			continue
		}
		callee, args := callgraph.Target(call.Common())
		if callee == nil || len(args) == 0 || locked[call] {
			continue
		}
		base, ok := accesspath.Of(args[0]).Under(accesspath.Path{Root: fn.Params[0]})
		if ok && !strings.Contains(base, "[") {
			for _, x := range t.touchesOf(callee, depth+1) {
				x.Field = strings.TrimPrefix(base+"."+x.Field, ".")
				add(x)
			}
		}
	}
	slices.SortFunc(list, func(a, b Touch) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(fmt.Sprint(a.Map), fmt.Sprint(b.Map)))
	})
	t.done[fn] = list
	return list
}

// lockedCalls returns the calls that fn makes under a lock that it has taken itself, as one that it was handed:
//
//	func (e *Event) LockedChan(l sync.Locker) <-chan struct{} { l.Lock(); defer l.Unlock(); return e.C() }
func (t *touching) lockedCalls(fn *ssa.Function) map[*ssa.Call]bool {
	locked := map[*ssa.Call]bool{}
	t.list.Locks.WalkOwn(fn, func(instr ssa.Instruction, s *lockset.State) {
		if call, ok := instr.(*ssa.Call); ok && hasOwnLock(s) {
			locked[call] = true
		}
	})
	return locked
}

// locksItself reports whether the function of a took a lock for it. Locks of its
// callers do not count.
func locksItself(a *Access) bool { return hasOwnLock(a.Locks) }

// hasOwnLock reports whether the function itself has taken a lock that is held in state s.
func hasOwnLock(s *lockset.State) bool {
	return slices.ContainsFunc(s.Held(), func(h lockset.Held) bool { return h.Since != nil })
}

func (t *touching) imported(fn *ssa.Function) []Touch {
	if list, ok := stdTouches(fn); ok {
		return list
	}
	var fact Touches
	if obj, ok := fn.Object().(*types.Func); ok && t.pass.ImportObjectFact(obj, &fact) {
		return fact.List
	}
	return nil
}

// plainReceiver reports whether fn is a method on a pointer to a struct that
// holds nothing to synchronise by.
func plainReceiver(fn *ssa.Function) bool {
	recv := fn.Signature.Recv()
	if recv == nil {
		return false
	}
	p, ok := types.Unalias(recv.Type()).(*types.Pointer)
	if !ok {
		return false
	}
	st, ok := p.Elem().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range st.Fields() {
		if synchronises(f.Type()) || lockset.HoldsLock(f.Type()) {
			return false
		}
	}
	return true
}

// stdTouches returns the accesses of methods of the standard library's containers.
func stdTouches(fn *ssa.Function) ([]Touch, bool) {
	recv := fn.Signature.Recv()
	if recv == nil {
		return nil, false
	}
	changes, ok := knowledge.Container(types.TypeString(recv.Type(), nil), fn.Name())
	if !ok {
		return nil, false
	}
	return []Touch{{Field: "contents", Write: changes}}, true
}

// onInner returns the accesses of a method call to the object that a field holds, or
// points to, as one access to that object by way of its holder.
func (im *implied) onInner(call *ssa.Call) []*Access {
	fn, args := callgraph.Target(call.Common())
	if fn == nil || len(args) == 0 || fn.Signature.Recv() == nil {
		return nil
	}
	// Match h.field.M() and h.pointer.M(), where h.field is of this package:
	//
	//	t0 = &h.field   M(t0)
	//	t0 = &h.pointer   t1 = *t0   M(t1)
	holder, ok := ir.Address(args[0]).(*ssa.FieldAddr)
	if !ok {
		return nil
	}
	name, ok := accesspath.NameOf(holder)
	if !ok || name.Package != im.list.Prog.Pkg.Pkg.Path() {
		return nil
	}
	expr, ok := im.list.Prog.Node(call.Pos()).(*ast.CallExpr)
	if !ok {
		return nil
	}
	// The accesses of M to its receiver are one access to the field, by their strongest mode.
	touches := im.touches.touchesOf(fn, 0)
	if len(touches) == 0 {
		return nil
	}
	a := &Access{
		Name: name, Obj: object(holder), Mode: finding.Read,
		Addr: holder, Path: accesspath.Of(holder), Expr: expr, Inner: touches,
	}
	if slices.ContainsFunc(touches, func(x Touch) bool { return x.Write }) {
		a.Mode = finding.Write
	}
	return []*Access{a}
}

// haveConflict reports whether two calls touch one variable of the object, and one of
// them writes it.
func haveConflict(a, b []Touch) bool {
	return slices.ContainsFunc(a, func(x Touch) bool {
		return slices.ContainsFunc(b, func(y Touch) bool {
			return x.Field == y.Field && x.Map == y.Map && (x.Write || y.Write)
		})
	})
}

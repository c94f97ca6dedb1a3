package accesses

import (
	"go/constant"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// An atomic flag may publish a variable that is made under a lock, as it does in sync.Once: who finds the flag set, or has
// had the variable made, sees what was written before, and needs no lock.
//
//	if !t.done.Load() { t.fill() }
//	return t.list
//
//	func (t *T) fill() {
//		t.mu.Lock(); defer t.mu.Unlock()
//		if !t.done.Load() { t.list = list(); t.done.Store(true) }
//	}

// publication is a flag that publishes a variable, and the functions that write the variable.
type publication struct {
	flag   accesspath.Name
	makers []*ssa.Function
}

// findPublished finds the variables that a flag publishes: every write comes where the flag was found unset, and
// before it is set.
func (l *List) findPublished() {
	flags := map[*ssa.Function][]*Access{} // loads of atomics
	writes := map[groupKey][]*Access{}
	for _, a := range slices.Concat(l.All, l.Implied) {
		switch {
		case a.Mode == finding.AtomicRead:
			flags[a.Fn] = append(flags[a.Fn], a)
		case a.Mode == finding.Write && a.Owner == ownership.Shared && l.Counts(a):
			writes[a.group()] = append(writes[a.group()], a)
		}
	}
	l.flags, l.published = flags, map[groupKey]publication{}
	for group, list := range writes {
		for _, flag := range flags[list[0].Fn] {
			if !slices.ContainsFunc(list, func(w *Access) bool { return !l.publishes(flag.Name, w) }) {
				p := publication{flag: flag.Name}
				for _, w := range list {
					p.makers = append(p.makers, w.Fn)
				}
				l.published[group] = p
				break
			}
		}
	}
}

// publishes reports whether w is made where the flag, of the same object, was found unset, and the flag is set
// behind it.
func (l *List) publishes(flag accesspath.Name, w *Access) bool {
	return slices.ContainsFunc(l.flags[w.Fn], func(f *Access) bool {
		return f.Name == flag && beside(f, w) && where(f, w.Instr) == unset && l.setBehind(w, flag)
	})
}

// beside reports whether the flag lies in the object that holds the variable of a, or is a package variable.
func beside(f, a *Access) bool {
	_, global := f.Path.Global()
	return global || f.Path.Root != nil && f.Path.Root == a.Path.Root && parentOf(f.Path) == parentOf(a.Path)
}

// parentOf returns the fields of p without the last.
func parentOf(p accesspath.Path) string {
	return p.Fields[:max(0, strings.LastIndexByte(p.Fields, '.'))]
}

// setBehind reports whether the flag is set behind w, or as its function returns.
func (l *List) setBehind(w *Access, flag accesspath.Name) bool {
	for _, b := range w.Fn.Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(ssa.CallInstruction)
			if !ok || !setsFlag(call.Common(), flag) {
				continue
			}
			if _, deferred := instr.(*ssa.Defer); deferred || l.Leads(w.Instr, instr) {
				return true
			}
		}
	}
	return false
}

// setsFlag reports whether call stores something else than zero in the flag.
func setsFlag(call *ssa.CallCommon, flag accesspath.Name) bool {
	fn := ir.Origin(call.StaticCallee())
	if fn == nil || !inAtomic(fn) || !strings.HasPrefix(fn.Name(), "Store") || len(call.Args) != 2 {
		return false
	}
	name, ok := accesspath.NameOf(call.Args[0])
	set, known := truth(call.Args[1])
	return ok && name == flag && known && set
}

// behindFlag reports whether a comes where a flag that publishes its variable was found set, or behind a test of it
// which calls a function that writes the variable otherwise.
func (l *List) behindFlag(a *Access) bool {
	p, ok := l.published[a.group()]
	return ok && a.Mode == finding.Read && slices.ContainsFunc(l.flags[a.Fn], func(f *Access) bool {
		if f.Name != p.flag || !beside(f, a) {
			return false
		}
		switch where(f, a.Instr) {
		case set:
			return true
		case either:
			return slices.Contains(p.makers, a.Fn) || l.callsWhereUnset(f, p.makers)
		}
		return false
	})
}

// callsWhereUnset reports whether one of the functions is called where the flag that f loads is unset.
func (l *List) callsWhereUnset(f *Access, makers []*ssa.Function) bool {
	for _, b := range f.Fn.Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(*ssa.Call)
			if ok && slices.Contains(makers, ir.Origin(call.Call.StaticCallee())) && where(f, call) == unset {
				return true
			}
		}
	}
	return false
}

// side is what a test of a flag has shown at an instruction.
type side int

const (
	untested side = iota
	set           // the flag was found set
	unset
	either // it was tested, and control comes there from both sides
)

// where returns what the test of what f loads shows at instruction at.
func where(f *Access, at ssa.Instruction) side {
	branch, whenTrue := testOf(f.Value)
	if branch == nil || !branch.Block().Dominates(at.Block()) || branch.Block() == at.Block() {
		return untested
	}
	sides := [2]side{whenTrue, set + unset - whenTrue}
	for i, succ := range branch.Block().Succs {
		if len(succ.Preds) == 1 && succ.Dominates(at.Block()) {
			return sides[i]
		}
	}
	return either
}

// testOf returns the branch that asks whether v is set, and what v is where its condition holds; nil if there is none.
func testOf(v ssa.Value) (*ssa.If, side) {
	whenTrue := set
	for v != nil && v.Referrers() != nil {
		var next ssa.Value
		for _, ref := range *v.Referrers() {
			switch ref := ref.(type) {
			case *ssa.If:
				return ref, whenTrue
			case *ssa.UnOp:
				if ref.Op == token.NOT {
					next, whenTrue = ref, set+unset-whenTrue
				}
			case *ssa.BinOp:
				constant, known := truth(ref.Y)
				if !known || ref.Op != token.EQL && ref.Op != token.NEQ {
					continue
				}
				if next = ref; constant != (ref.Op == token.EQL) {
					whenTrue = set + unset - whenTrue
				}
			}
		}
		v = next
	}
	return nil, untested
}

// truth returns whether the constant v is something else than zero; not known for other values.
func truth(v ssa.Value) (set, known bool) {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil {
		return false, false
	}
	switch c.Value.Kind() {
	case constant.Bool:
		return constant.BoolVal(c.Value), true
	case constant.Int:
		return constant.Sign(c.Value) != 0, true
	}
	return false, false
}

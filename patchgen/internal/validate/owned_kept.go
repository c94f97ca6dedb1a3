package validate

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
)

// kept is an instruction after which a link leads to an object: a store, or the call of a function that does it.
type kept struct {
	instr    ssa.Instruction
	appended bool // as an element of a list
}

// keepersOf lists the instructions of the function that has made an object, and of the literals in it, after which a
// link leads to the object; for a link to contents, those after which anybody else may have it.
func keepersOf(s *side, object ssa.Value, l link) []kept {
	k := &keeping{side: s, link: l, seen: map[ssa.Value]bool{}}
	k.follow(object, false)
	return k.list
}

// keeping follows an object through the values that refer to it.
type keeping struct {
	*side
	link  link
	seen  map[ssa.Value]bool
	list  []kept
	depth int // of calls
}

func (k *keeping) add(instr ssa.Instruction, appended bool) {
	if !slices.ContainsFunc(k.list, func(x kept) bool { return x.instr == instr }) {
		k.list = append(k.list, kept{instr, appended})
	}
}

// follow goes on to the uses of v, which is the object, or a list that has it as an element.
func (k *keeping) follow(v ssa.Value, isElement bool) {
	if v == nil || k.seen[v] || v.Referrers() == nil || len(k.seen) > maxTraced {
		return
	}
	k.seen[v] = true
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Phi, *ssa.ChangeType, *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.TypeAssert, *ssa.Slice, *ssa.Extract:
			k.follow(ref.(ssa.Value), isElement)
		case *ssa.MakeClosure:
			for _, captured := range captures(ref, v) {
				k.follow(captured, isElement)
			}
		default:
			k.usedBy(ref, v, isElement)
		}
	}
}

// usedBy judges an instruction after which others may find the object.
func (k *keeping) usedBy(ref ssa.Instruction, v ssa.Value, isElement bool) {
	switch ref := ref.(type) {
	case *ssa.Store:
		if ref.Val == v {
			k.stored(ref, isElement)
		}
	case *ssa.MapUpdate:
		name, _ := accesspath.NameOf(ref.Map)
		if (ref.Value == v || ref.Key == v) && (k.link.contents || k.link.elements && name == k.link.field) {
			k.add(ref, true)
		}
	case *ssa.Send, *ssa.Return:
		if k.link.contents {
			k.add(ref, isElement)
		}
	case ssa.CallInstruction:
		k.called(v, ref, isElement)
	}
}

// stored goes on where the object is stored.
func (k *keeping) stored(st *ssa.Store, isElement bool) {
	if slot, ok := st.Addr.(*ssa.IndexAddr); ok {
		if list, isArray := slot.X.(*ssa.Alloc); isArray { // of f(x, v) and []T{v}
			k.follow(list, true)
			return
		}
		name, _ := accesspath.NameOf(slot.X)
		if k.link.contents || k.link.elements && name == k.link.field {
			k.add(st, true)
		}
		return
	}
	if cell := facts.CellOf(st.Addr); cell != nil {
		k.loads(cell, isElement)
		return
	}
	if k.link.contents || k.link.isAt(st.Addr) && k.link.elements == isElement {
		k.add(st, isElement)
	}
}

// loads goes on to the loads of a local variable, in literals too.
func (k *keeping) loads(cell ssa.Value, isElement bool) {
	if k.seen[cell] {
		return
	}
	k.seen[cell] = true
	for _, ref := range *cell.Referrers() {
		switch ref := ref.(type) {
		case *ssa.UnOp:
			k.follow(ref, isElement)
		case *ssa.MakeClosure:
			for _, captured := range captures(ref, cell) {
				k.loads(captured, isElement)
			}
		}
	}
}

// captures lists the variables by which a literal knows a value; none for a bound method.
func captures(literal *ssa.MakeClosure, v ssa.Value) (list []ssa.Value) {
	fn := literal.Fn.(*ssa.Function)
	for i, b := range literal.Bindings {
		if b == v && fn.Parent() != nil {
			list = append(list, fn.FreeVars[i])
		}
	}
	return list
}

// called goes on into a call that gets v.
func (k *keeping) called(v ssa.Value, call ssa.CallInstruction, isElement bool) {
	common := call.Common()
	if b, ok := common.Value.(*ssa.Builtin); ok {
		if result := call.Value(); b.Name() == "append" && result != nil {
			k.follow(result, isElement || common.Args[0] != v)
		}
		return
	}
	if common.Value == v {
		return // a literal that is called
	}
	fn, args := callgraph.Target(common)
	keeps := fn == nil && common.IsInvoke() && k.link.contents
	for i, a := range args {
		keeps = keeps || a == v && k.isKeptBy(call, fn, i, isElement)
	}
	if keeps {
		k.add(call, isElement)
	}
}

// isKeptBy reports whether a call keeps its i-th argument: the function does, or a goroutine has it.
func (k *keeping) isKeptBy(call ssa.CallInstruction, fn *ssa.Function, i int, isElement bool) bool {
	body := k.Calls.Body(fn)
	_, isGo := call.(*ssa.Go)
	switch {
	case k.link.contents && (isGo || body == nil):
		return isGo || !keepsNothing(fn, i)
	case body == nil:
		return false
	case i >= len(body.Params) || k.depth > maxLevel:
		return k.link.contents
	}
	inner := &keeping{side: k.side, link: k.link, seen: map[ssa.Value]bool{}, depth: k.depth + 1}
	inner.follow(body.Params[i], isElement)
	return len(inner.list) > 0
}

// keepsNothing reports whether a function outside of the module is known to leave its i-th argument to the caller.
func keepsNothing(fn *ssa.Function, i int) bool {
	if fn == nil {
		return false
	}
	obj, ok := fn.Object().(*types.Func)
	if !ok {
		return false
	}
	_, known := callgraph.LibraryWrites(obj, i)
	return known
}

// isRepeated reports whether an instruction may run again without the object being made anew.
func (s *side) isRepeated(instr ssa.Instruction, object ssa.Value) bool {
	if fn := instr.Parent(); fn != object.Parent() {
		p := s.Of(fn)
		sites, all := callsOf(p, p.Calls, fn)
		return !p.Calls.Once(fn) && (!all || len(sites) != 1 || s.isRepeated(sites[0].Instr, object))
	}
	cut := ssa.Instruction(nil)
	if made, ok := object.(ssa.Instruction); ok {
		cut = made
	}
	if cut != nil && cut.Block() == instr.Block() {
		return false
	}
	// A loop around the instruction that leaves the object out.
	seen := map[*ssa.BasicBlock]bool{}
	var comesBack func(b *ssa.BasicBlock) bool
	comesBack = func(b *ssa.BasicBlock) bool {
		return slices.ContainsFunc(b.Succs, func(next *ssa.BasicBlock) bool {
			if next == instr.Block() {
				return true
			}
			if seen[next] || cut != nil && next == cut.Block() {
				return false
			}
			seen[next] = true
			return comesBack(next)
		})
	}
	return comesBack(instr.Block())
}

// rootOf follows a list back to where it was made, through its parts.
func rootOf(v ssa.Value) ssa.Value { return ir.Root(v, ir.Piece|ir.Retyped|ir.Boxed) }

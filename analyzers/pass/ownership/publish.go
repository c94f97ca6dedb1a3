package ownership

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/syncapi"
)

// publication is an instruction after which others may reach an object.
type publication struct {
	instr ssa.Instruction
	level Level
}

// publications lists the instructions that publish the object, in its own function;
// those of a closure stand at the places where the closure runs.
func (r *Result) publications(object ssa.Value) []publication {
	if pubs, ok := r.published[object]; ok {
		return pubs
	}
	if fn := object.Parent(); r.tooLarge(fn) {
		r.published[object] = []publication{{fn.Blocks[0].Instrs[0], Shared}}
		return r.published[object]
	}
	w := &walker{r: r, seen: map[ssa.Value]bool{}}
	w.carrier(object)
	w.closeLinks()
	r.published[object] = w.pubs
	return w.pubs
}

// tooLarge reports whether fn has more than [knowledge.InstructionsFollowed] instructions, and notes
// those that have.
func (r *Result) tooLarge(fn *ssa.Function) bool {
	if fn == nil || len(fn.Blocks) == 0 {
		return false
	}
	large, known := r.large[fn]
	if !known {
		n := 0
		for _, b := range fn.Blocks {
			n += len(b.Instrs)
		}
		large = n > knowledge.InstructionsFollowed
		r.large[fn] = large
		if large {
			r.prog.GiveUp(r.pass, fn)
		}
	}
	return large
}

// walker follows one object through the values that carry it.
type walker struct {
	r    *Result
	seen map[ssa.Value]bool
	pubs []publication
	held map[ssa.Value]bool // the objects that hold it have been followed, if strict
	// links are the stores of the object in other objects of the function.
	links []ssa.Instruction
}

// closeLinks makes publications of the stores in objects that are published
// already. Each instruction stays in the list once, with its worst level.
func (w *walker) closeLinks() {
	direct := compact(w.pubs)
	w.pubs = direct
	for _, link := range w.links {
		level := Fresh
		for _, p := range direct {
			if p.level > level && w.r.reaches(p.instr, link, nil) {
				level = p.level
			}
		}
		w.publish(link, level)
	}
}

func compact(pubs []publication) []publication {
	worst := map[ssa.Instruction]Level{}
	for _, p := range pubs {
		worst[p.instr] = max(worst[p.instr], p.level)
	}
	var out []publication
	for _, p := range pubs {
		if level, ok := worst[p.instr]; ok {
			out = append(out, publication{p.instr, level})
			delete(worst, p.instr)
		}
	}
	return out
}

func (w *walker) publish(instr ssa.Instruction, level Level) {
	if level > Fresh {
		w.pubs = append(w.pubs, publication{instr, level})
	}
}

// uses returns the referrers of v without the stores into it: a map literal has one for each entry, and the object of
// each entry is followed through the map.
func (r *Result) uses(v ssa.Value) []ssa.Instruction {
	if uses, ok := r.used[v]; ok {
		return uses
	}
	var uses []ssa.Instruction
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.MapUpdate:
			if ref.Key != v && ref.Value != v {
				continue
			}
		case *ssa.Store:
			if ref.Val != v {
				continue
			}
		}
		uses = append(uses, ref)
	}
	r.used[v] = uses
	return uses
}

// carrier follows v, which holds the object, a pointer into it, or a closure over it.
func (w *walker) carrier(v ssa.Value) {
	if w.seen[v] || v.Referrers() == nil {
		return
	}
	w.seen[v] = true
	for _, ref := range w.r.uses(v) {
		switch ref := ref.(type) {
		// A value that points into the object, or holds it in another form, carries it on.
		case *ssa.FieldAddr:
			w.carrier(ref)
		case *ssa.IndexAddr:
			if ref.X == v {
				w.carrier(ref)
			}
		case *ssa.Slice, *ssa.ChangeType, *ssa.Phi, *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.TypeAssert, *ssa.Convert,
			*ssa.Extract:
			w.carrier(ref.(ssa.Value))
		// Stored in another object, it is known as far as that is.
		case *ssa.Store:
			if ref.Val == v {
				w.stored(ref)
			}
		case *ssa.MapUpdate:
			if ref.Value == v || ref.Key == v {
				w.storedIn(ref.Map, ref)
			}
		// Any goroutine may receive it.
		case *ssa.Send:
			if ref.X == v {
				w.publish(ref, Shared)
			}
		case *ssa.Select:
			w.selected(v, ref)
		case *ssa.MakeClosure:
			w.captured(v, ref)
		case ssa.CallInstruction:
			w.called(v, ref)
		}
	}
}

func (w *walker) selected(v ssa.Value, sel *ssa.Select) {
	for _, state := range sel.States {
		if state.Send == v {
			w.publish(sel, Shared)
		}
	}
}

// stored follows the object into a local variable, or into another object.
func (w *walker) stored(st *ssa.Store) {
	addr := st.Addr
	if fv, ok := addr.(*ssa.FreeVar); ok {
		if bound := accesspath.Binding(fv); bound != nil {
			addr = bound
		}
	}
	if cell, ok := addr.(*ssa.Alloc); ok {
		w.followCell(cell)
		return
	}
	w.storedIn(addr, st)
}

// followCell follows the loads of a variable that holds the object, and the
// closures that capture the variable.
func (w *walker) followCell(addr ssa.Value) {
	if w.seen[addr] {
		return
	}
	w.seen[addr] = true
	for _, ref := range *addr.Referrers() {
		switch ref := ref.(type) {
		case *ssa.UnOp:
			w.carrier(ref)
		case *ssa.MakeClosure:
			w.captured(addr, ref)
		case *ssa.Store, *ssa.FieldAddr, *ssa.IndexAddr, *ssa.DebugRef:
		case ssa.Value:
			w.carrier(ref)
		}
	}
}

// storedIn handles a store of the object within container.
func (w *walker) storedIn(container ssa.Value, at ssa.Instruction) {
	switch root := rootObject(container).(type) {
	case *ssa.Global:
		w.publish(at, Shared)
	case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice:
		w.linkContainer(root, at)
	case *ssa.Call:
		if w.r.freshResult(root, 0) {
			w.linkContainer(root, at)
		} else {
			w.publish(at, Handed)
		}
	default:
		w.publish(at, Handed)
	}
}

// linkContainer notes that whatever publishes container publishes the object too.
func (w *walker) linkContainer(container ssa.Value, at ssa.Instruction) {
	w.links = append(w.links, at)
	w.carrier(container)
	if w.r.strict {
		w.holder(container)
	}
}

// holder follows v, in which the object may lie, or an address within: a value that
// is loaded from there may be the object, or another one that it lies in.
func (w *walker) holder(v ssa.Value) {
	if w.held[v] || v.Referrers() == nil {
		return
	}
	if w.held == nil {
		w.held = map[ssa.Value]bool{}
	}
	w.held[v] = true
	for _, ref := range w.r.uses(v) {
		switch ref := ref.(type) {
		case *ssa.DebugRef, *ssa.BinOp, *ssa.If:
		case *ssa.UnOp, *ssa.Lookup, *ssa.Index, *ssa.Field, *ssa.Next, *ssa.Extract, *ssa.TypeAssert:
			w.holder(ref.(ssa.Value))
			w.carrier(ref.(ssa.Value))
		case *ssa.Store:
			if ref.Val == v {
				w.publish(ref, Handed)
			}
		case *ssa.MakeClosure:
			w.publish(ref, Handed)
		case ssa.CallInstruction:
			w.holderCalled(v, ref)
		case ssa.Value:
			w.holder(ref)
		}
	}
}

// holderCalled follows the call to which v is given: the callee may find the
// object in it.
func (w *walker) holderCalled(v ssa.Value, call ssa.CallInstruction) {
	common := call.Common()
	if b, ok := common.Value.(*ssa.Builtin); ok {
		if result := call.Value(); b.Name() == "append" && result != nil {
			w.holder(result)
		}
		return
	}
	if fn := common.StaticCallee(); fn == nil || !keepsPrivate(fn) {
		w.publish(call, Handed)
	}
}

// rootObject returns the object that an address lies in, following no loads
// but those of captured variables.
func rootObject(v ssa.Value) ssa.Value {
	for {
		v = ir.Root(v, ir.Field|ir.Element|ir.Piece|ir.Retyped)
		held, ok := accesspath.Cell(ir.Back(v, ir.Loaded))
		if !ok {
			return v
		}
		v = held
	}
}

// captured follows the object, or the variable that holds it, into a closure.
func (w *walker) captured(v ssa.Value, mk *ssa.MakeClosure) {
	fn := mk.Fn.(*ssa.Function)
	inner := &walker{r: w.r, seen: w.seen}
	for i, b := range mk.Bindings {
		if b != v {
			continue
		}
		if fn.Parent() == nil { // a bound method: its receiver is handed on
			inner.publish(mk, Handed)
		} else if _, isCell := v.(*ssa.Alloc); isCell {
			inner.followCell(fn.FreeVars[i])
			inner.carrier(fn.FreeVars[i])
		} else {
			inner.carrier(fn.FreeVars[i])
		}
	}
	within := Fresh
	for _, p := range inner.pubs {
		within = max(within, p.level)
	}
	w.closureUses(fn, mk, within)
}

// closureUses publishes the captured object where the closure runs.
func (w *walker) closureUses(fn *ssa.Function, mk *ssa.MakeClosure, within Level) {
	if fn.Parent() == nil {
		w.carrier(mk)
		return
	}
	if w.r.graph.Escapes(fn) {
		w.publish(mk, max(within, Handed))
	}
	for _, s := range w.r.graph.Sites(fn) {
		switch s.Mode {
		case callgraph.Go:
			w.publish(s.Instr, Shared)
		case callgraph.Defer:
			for _, end := range runDefers(s.Caller) {
				w.publish(end, within)
			}
		default:
			w.publish(s.Instr, within)
		}
	}
}

// called handles a call that has v among its operands.
func (w *walker) called(v ssa.Value, call ssa.CallInstruction) {
	common := call.Common()
	if _, ok := call.(*ssa.Go); ok {
		w.publish(call, Shared)
		return
	}
	if b, ok := common.Value.(*ssa.Builtin); ok {
		if result := call.Value(); b.Name() == "append" && result != nil {
			w.carrier(result)
		}
		return
	}
	if common.Value == v && !common.IsInvoke() {
		return // the closure itself is called: captured has looked inside
	}
	fn, args := callgraph.Target(common)
	if fn == nil {
		w.publish(call, Handed)
		return
	}
	for i, a := range args {
		if a == v {
			w.publish(call, w.r.leakOfFunction(fn, i))
		}
	}
}

// leakOfFunction returns how far fn publishes its parameter i.
func (r *Result) leakOfFunction(fn *ssa.Function, i int) Level {
	if keepsPrivate(fn) {
		return Fresh
	}
	if len(fn.Blocks) == 0 {
		return r.importedLeak(fn, i)
	}
	key := paramKey{fn, i}
	if level, ok := r.leaks[key]; ok {
		return level
	}
	r.leaks[key] = Fresh // recursion publishes nothing by itself
	w := &walker{r: r, seen: map[ssa.Value]bool{}}
	w.carrier(fn.Params[i])
	level := Fresh
	for _, p := range w.pubs {
		level = max(level, p.level)
	}
	r.leaks[key] = level
	return level
}

func (r *Result) importedLeak(fn *ssa.Function, i int) Level {
	var fact Behaviour
	if obj, ok := fn.Object().(*types.Func); ok && r.pass.ImportObjectFact(obj, &fact) {
		return fact.leakOfParam(i)
	}
	return Handed
}

// keepsPrivate is the table of foreign functions that never pass on their
// arguments: methods of locks, wait groups and atomics on their own receiver.
func keepsPrivate(fn *ssa.Function) bool {
	recv := fn.Signature.Recv()
	if recv == nil {
		obj, _ := fn.Object().(*types.Func)
		return slices.Contains([]string{"Load", "Add", "And", "Or"}, syncapi.Atomic(obj))
	}
	switch name := syncapi.Type(ir.Pointee(recv.Type())); name {
	case "", "atomic.Value", "atomic.Pointer", "sync.Pool", "sync.Map":
		return false
	}
	return true
}

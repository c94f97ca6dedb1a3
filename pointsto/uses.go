package pointsto

import (
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// countUses notes who reads and writes the places, on objects that others can
// reach.
func (a *program) countUses() {
	for _, fn := range a.live {
		a.usesIn(fn, a.ctx.of[fn])
	}
	for _, p := range append(a.all(), slices.Collect(maps.Values(a.lists.elems))...) {
		p.find().uses.add(p.outside)
		// Code that we do not see reads and writes what it has.
		if a.has(p.contents, unknown|leaves) {
			p.find().uses = uses{anyone, anyone}
		}
	}
}

func (a *program) usesIn(fn *ssa.Function, ctx context) {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			switch v := instr.(type) {
			case *ssa.UnOp:
				if v.Op == token.MUL {
					a.use(v.X, ctx, false, deref(v.X.Type()))
				}
			case *ssa.Store:
				if !a.has(a.node(v.Addr), shared) || !freshStore(v) {
					a.use(v.Addr, ctx, true, v.Val.Type())
				}
			case *ssa.MapUpdate:
				a.useMap(v.Map, ctx, true)
			case *ssa.Lookup:
				a.useMap(v.X, ctx, false)
			case *ssa.Range:
				a.useMap(v.X, ctx, false)
			case *ssa.Convert: // string(bytes)
				a.useBytes(v.X, v.Type(), ctx)
			case *ssa.MultiConvert:
				a.useBytes(v.X, v.Type(), ctx)
			case ssa.CallInstruction:
				a.useByCall(v.Common(), ctx)
			}
		}
	}
}

// use notes an access at addr to a value of type t.
func (a *program) use(addr ssa.Value, ctx context, write bool, t types.Type) {
	if !a.has(a.node(addr), shared) {
		return
	}
	a.at(addr).note(ctx, write)
	for _, p := range a.whole(t) {
		p.note(ctx, write)
	}
}

func (p *place) note(ctx context, write bool) {
	p = p.find()
	if write {
		p.uses.writes |= ctx
	} else {
		p.uses.reads |= ctx
	}
}

func (a *program) useMap(m ssa.Value, ctx context, write bool) {
	t, ok := m.Type().Underlying().(*types.Map)
	if ok && a.has(a.node(m), shared) {
		a.mapVal(t).note(ctx, write)
	}
}

// useBytes: a conversion from a slice to a string reads all elements.
func (a *program) useBytes(x ssa.Value, to types.Type, ctx context) {
	if _, isSlice := x.Type().Underlying().(*types.Slice); isSlice && !types.Identical(x.Type().Underlying(),
		to.Underlying()) {
		a.usePointee(x, ctx, false)
	}
}

// useByCall notes what builtins, functions without a body, and those with
// models do to what they are given.
func (a *program) useByCall(common *ssa.CallCommon, ctx context) {
	b, ok := common.Value.(*ssa.Builtin)
	if !ok {
		if fn := common.StaticCallee(); fn != nil {
			m := modelOf(fn)
			for i, arg := range common.Args {
				write := len(fn.Blocks) == 0 || m.writes(i)
				if write || m.reads(i) {
					a.usePointee(boxedIn(arg), ctx, write)
				}
			}
		}
		return
	}
	switch b.Name() {
	case "append", "copy":
		a.usePointee(common.Args[0], ctx, true)
		if len(common.Args) > 1 {
			a.usePointee(common.Args[1], ctx, false)
		}
	case "clear", "delete":
		a.usePointee(common.Args[0], ctx, true)
		a.useMap(common.Args[0], ctx, true)
	}
}

// boxedIn returns what was put into interface v, if that is seen here.
func boxedIn(v ssa.Value) ssa.Value {
	if mk, ok := v.(*ssa.MakeInterface); ok {
		return mk.X
	}
	return v
}

// usePointee notes an access to what v leads to.
func (a *program) usePointee(v ssa.Value, ctx context, write bool) {
	if !a.has(a.node(v), shared) {
		return
	}
	switch u := v.Type().Underlying().(type) {
	case *types.Slice:
		a.elemOf(v).note(ctx, write)
		for _, p := range a.whole(u.Elem()) {
			p.note(ctx, write)
		}
	case *types.Pointer:
		a.use(v, ctx, write, u.Elem())
	}
}

// all lists the places.
func (ps *places) all() []*place {
	var list []*place
	for _, p := range ps.fields {
		list = append(list, p)
	}
	for _, p := range ps.typed {
		list = append(list, p)
	}
	for _, p := range ps.cells {
		list = append(list, p)
	}
	return list
}

// freshStore reports whether st writes to an object that its function has
// allocated and nobody can know of yet, as a composite literal does.
func freshStore(st *ssa.Store) bool {
	object := allocated(st.Addr)
	if object == nil || object.Parent() != st.Parent() {
		return false
	}
	for _, ref := range *object.Referrers() {
		if publishes(object, ref) && before(ref, st) {
			return false
		}
	}
	return true
}

// allocated returns the allocation of which addr is a part.
func allocated(addr ssa.Value) *ssa.Alloc {
	for {
		switch v := addr.(type) {
		case *ssa.FieldAddr:
			addr = v.X
		case *ssa.IndexAddr:
			if _, isSlice := v.X.Type().Underlying().(*types.Slice); isSlice {
				return nil
			}
			addr = v.X
		case *ssa.Alloc:
			return v
		default:
			return nil
		}
	}
}

// publishes reports whether a use of pointer v may make it known to others.
func publishes(v ssa.Value, use ssa.Instruction) bool {
	switch use := use.(type) {
	case *ssa.FieldAddr:
		return publishesPart(use)
	case *ssa.IndexAddr:
		return publishesPart(use)
	case *ssa.UnOp, *ssa.DebugRef, *ssa.Return:
		return false
	case *ssa.Store:
		return use.Val == v
	}
	return true
}

func publishesPart(part ssa.Value) bool {
	for _, ref := range *part.Referrers() {
		if publishes(part, ref) {
			return true
		}
	}
	return false
}

// before reports whether control may come from instruction p to q.
func before(p, q ssa.Instruction) bool {
	if p.Block() == q.Block() {
		for _, instr := range p.Block().Instrs {
			if instr == p {
				return true
			}
			if instr == q {
				break
			}
		}
	}
	seen := map[*ssa.BasicBlock]bool{}
	work := []*ssa.BasicBlock{p.Block()}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, s := range b.Succs {
			if s == q.Block() {
				return true
			}
			if !seen[s] {
				seen[s] = true
				work = append(work, s)
			}
		}
	}
	return false
}

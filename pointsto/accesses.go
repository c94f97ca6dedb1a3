package pointsto

import (
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// countAccesses notes which goroutines read and write the locations, on objects that others can
// reach.
func (a *program) countAccesses() {
	for _, fn := range a.live {
		a.accessesIn(fn, a.ctx.of[fn])
	}
	for _, p := range append(a.listAll(), slices.Collect(maps.Values(a.lists.elems))...) {
		p.representative().by.addVerdict(p.byOutside)
		// External code reads and writes the objects that it has.
		if a.hasMarks(p.contents, unknown|escapesExternal) {
			p.representative().by = accessedBy{anyone, anyone}
		}
	}
}

func (a *program) accessesIn(fn *ssa.Function, ctx context) {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			switch v := instr.(type) {
			case *ssa.UnOp:
				if v.Op == token.MUL {
					a.noteAccess(v.X, ctx, false, pointedType(v.X.Type()))
				}
			case *ssa.Store:
				if !a.hasMarks(a.nodeOf(v.Addr), shared) || !freshStore(v) {
					a.noteAccess(v.Addr, ctx, true, v.Val.Type())
				}
			case *ssa.MapUpdate:
				a.noteMapAccess(v.Map, ctx, true)
			case *ssa.Lookup:
				a.noteMapAccess(v.X, ctx, false)
			case *ssa.Range:
				a.noteMapAccess(v.X, ctx, false)
			case *ssa.Convert: // string(bytes)
				a.noteBytesRead(v.X, v.Type(), ctx)
			case *ssa.MultiConvert:
				a.noteBytesRead(v.X, v.Type(), ctx)
			case ssa.CallInstruction:
				a.noteCallAccesses(v.Common(), ctx)
			}
		}
	}
}

// noteAccess notes an access at addr to a value of type t.
func (a *program) noteAccess(addr ssa.Value, ctx context, write bool, t types.Type) {
	if !a.hasMarks(a.nodeOf(addr), shared) {
		return
	}
	a.locationAt(addr).noteContext(ctx, write)
	for _, p := range a.partsOfWhole(t) {
		p.noteContext(ctx, write)
	}
}

func (p *location) noteContext(ctx context, write bool) {
	p = p.representative()
	if write {
		p.by.writes |= ctx
	} else {
		p.by.reads |= ctx
	}
}

func (a *program) noteMapAccess(m ssa.Value, ctx context, write bool) {
	t, ok := m.Type().Underlying().(*types.Map)
	if ok && a.hasMarks(a.nodeOf(m), shared) {
		a.mapVal(t).noteContext(ctx, write)
	}
}

// noteBytesRead notes that a conversion from a slice to a string reads all elements.
func (a *program) noteBytesRead(x ssa.Value, to types.Type, ctx context) {
	if _, isSlice := x.Type().Underlying().(*types.Slice); isSlice && !types.Identical(x.Type().Underlying(),
		to.Underlying()) {
		a.notePointeeAccess(x, ctx, false)
	}
}

// noteCallAccesses notes the accesses of builtins, functions without a body, and those
// with models to their arguments.
func (a *program) noteCallAccesses(common *ssa.CallCommon, ctx context) {
	b, ok := common.Value.(*ssa.Builtin)
	if !ok {
		if fn := common.StaticCallee(); fn != nil {
			m := modelOf(fn)
			for i, arg := range common.Args {
				write := len(fn.Blocks) == 0 || m.writes(i)
				if write || m.readsArgument(i) {
					a.notePointeeAccess(boxedIn(arg), ctx, write)
				}
			}
		}
		return
	}
	switch b.Name() {
	case "append", "copy":
		a.notePointeeAccess(common.Args[0], ctx, true)
		if len(common.Args) > 1 {
			a.notePointeeAccess(common.Args[1], ctx, false)
		}
	case "clear", "delete":
		a.notePointeeAccess(common.Args[0], ctx, true)
		a.noteMapAccess(common.Args[0], ctx, true)
	}
}

// boxedIn returns the value that was put into interface v, if that is seen here.
func boxedIn(v ssa.Value) ssa.Value {
	if mk, ok := v.(*ssa.MakeInterface); ok {
		return mk.X
	}
	return v
}

// notePointeeAccess notes an access to the object that v leads to.
func (a *program) notePointeeAccess(v ssa.Value, ctx context, write bool) {
	if !a.hasMarks(a.nodeOf(v), shared) {
		return
	}
	switch u := v.Type().Underlying().(type) {
	case *types.Slice:
		a.elemOf(v).noteContext(ctx, write)
		for _, p := range a.partsOfWhole(u.Elem()) {
			p.noteContext(ctx, write)
		}
	case *types.Pointer:
		a.noteAccess(v, ctx, write, u.Elem())
	}
}

// listAll returns every location.
func (ps *locations) listAll() []*location {
	var list []*location
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
		if mayPublish(object, ref) && mayPrecede(ref, st) {
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

// mayPublish reports whether a use of pointer v may make it known to others.
func mayPublish(v ssa.Value, use ssa.Instruction) bool {
	switch use := use.(type) {
	case *ssa.FieldAddr:
		return mayPublishPart(use)
	case *ssa.IndexAddr:
		return mayPublishPart(use)
	case *ssa.UnOp, *ssa.DebugRef, *ssa.Return:
		return false
	case *ssa.Store:
		return use.Val == v
	}
	return true
}

func mayPublishPart(part ssa.Value) bool {
	for _, ref := range *part.Referrers() {
		if mayPublish(part, ref) {
			return true
		}
	}
	return false
}

// mayPrecede reports whether control may come from instruction p to q.
func mayPrecede(p, q ssa.Instruction) bool {
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

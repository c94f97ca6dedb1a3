package accesses

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// findEnclosed finds the fields that point to an object which nothing else leads to: each store puts
// a new object there, and a load is used for no more than the object's own fields.
//
//	type Meter struct{ snapshot *Snapshot } // &Meter{snapshot: &Snapshot{}}; m.snapshot.count++; *m.snapshot
func (l *List) findEnclosed() {
	filled, open := map[*types.Var]bool{}, map[*types.Var]bool{} // some store fills it; something lets its object out
	for _, fn := range l.Prog.Funcs {
		for instr := range ir.Instructions(fn) {
			fa, ok := instr.(*ssa.FieldAddr)
			if !ok || !pointsToStruct(fa) {
				continue
			}
			field := accesspath.FieldOf(fa)
			filled[field] = filled[field] || slices.ContainsFunc(*fa.Referrers(), func(ref ssa.Instruction) bool {
				return isStoreTo(ref, fa)
			})
			open[field] = open[field] || field.Exported() || !onlyOwner(fa)
		}
	}
	l.enclosed = map[*types.Var]bool{}
	for field := range filled {
		l.enclosed[field] = filled[field] && !open[field]
	}
}

// pointsToStruct reports whether the field at fa is a pointer to a struct.
func pointsToStruct(fa *ssa.FieldAddr) bool {
	p, ok := fa.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	_, ok = p.Elem().Underlying().(*types.Struct)
	return ok
}

// onlyOwner reports whether nothing that is done by the address of a field lets its object out.
func onlyOwner(fa *ssa.FieldAddr) bool {
	return !slices.ContainsFunc(*fa.Referrers(), func(ref ssa.Instruction) bool {
		switch ref := ref.(type) {
		case *ssa.DebugRef:
			return false
		case *ssa.Store:
			return ref.Val == fa || !isNewObject(ref.Val)
		case *ssa.UnOp:
			return ref.Op != token.MUL || slices.ContainsFunc(*ref.Referrers(), letsOut)
		}
		return true
	})
}

// isNewObject reports whether v is nil, or a new object that is stored once.
func isNewObject(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Const:
		return true
	case *ssa.Alloc:
		stores := 0
		for _, ref := range *v.Referrers() {
			if st, ok := ref.(*ssa.Store); ok && st.Val == v {
				stores++
			} else if letsOut(ref) && !isStoreTo(ref, v) {
				return false
			}
		}
		return stores == 1
	}
	return false
}

func isStoreTo(instr ssa.Instruction, addr ssa.Value) bool {
	st, ok := instr.(*ssa.Store)
	return ok && st.Addr == addr
}

// letsOut reports whether instr does more with a pointer than to select a field, to copy its pointee,
// or to compare it.
func letsOut(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.FieldAddr, *ssa.BinOp, *ssa.DebugRef:
		return false
	case *ssa.UnOp:
		return instr.Op != token.MUL
	}
	return true
}

// inOther reports whether a reaches its object by a field that alone leads to it, and b in another way.
func (l *List) inOther(a, b *Access) bool {
	field := holderField(a.Addr)
	return field != nil && l.enclosed[field] && holderField(b.Addr) != field
}

// holderField returns the field from which the pointer to the object of addr was loaded; nil if none.
func holderField(addr ssa.Value) *types.Var {
	base, _ := selected(addr)
	load, ok := base.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return nil
	}
	fa, ok := load.X.(*ssa.FieldAddr)
	if !ok {
		return nil
	}
	return accesspath.FieldOf(fa)
}

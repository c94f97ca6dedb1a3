package validate

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// lockMade demands, of a patch that adds a pointer to a lock, that each struct of the type gets its lock where it is
// made: a zero value has none.
//
//	w := wrapper{Conn: c, mu: new(sync.Mutex)}
func (j *judge) lockMade() {
	home := j.now.claim.home()
	name := j.now.claim.Lock[strings.LastIndexByte(j.now.claim.Lock, '.')+1:]
	lock := fieldOf(j.now.typeOf(home), name)
	if lock == nil || fieldOf(j.old.typeOf(home), name) != nil {
		return
	}
	if _, isPointer := lock.Type().Underlying().(*types.Pointer); !isPointer {
		return
	}
	m := maker{home, name}
	for _, p := range j.now.Packages {
		each(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			if m.makesWithout(instr) {
				j.add("made", "a %s is made at %s without its lock", home.name, at(p, instr))
			}
		})
		for _, member := range p.IR.Pkg.Members {
			if g, ok := member.(*ssa.Global); ok && home.isIn(g.Type().(*types.Pointer).Elem()) {
				j.add("made", "the package variable %s has no lock in it", g.Name())
			}
		}
	}
}

// fieldOf returns the field of a struct type; nil if there is none.
func fieldOf(t types.Type, name string) *types.Var {
	if t == nil {
		return nil
	}
	st, ok := t.Underlying().(*types.Struct)
	for i := 0; ok && i < st.NumFields(); i++ {
		if f := st.Field(i); f.Name() == name {
			return f
		}
	}
	return nil
}

// maker knows where structs of a type are made, and which field of them is the lock, or leads to it.
type maker struct {
	home
	lock string
}

// makesWithout reports whether an instruction makes a struct of the type, or what holds one in place, without the lock.
func (m maker) makesWithout(instr ssa.Instruction) bool {
	switch x := instr.(type) {
	case *ssa.Alloc:
		return m.isIn(x.Type().(*types.Pointer).Elem()) && !m.sets(x)
	case *ssa.MakeSlice:
		return m.isElement(x.Type())
	case *ssa.MakeChan:
		return m.isElement(x.Type())
	}
	// A zero value.
	for _, op := range instr.Operands(nil) {
		if c, ok := (*op).(*ssa.Const); ok && m.isIn(c.Type()) {
			return true
		}
	}
	return false
}

// sets reports whether the struct at an address is set as a whole, or the lock in it is.
func (m maker) sets(addr ssa.Value) bool {
	t := addr.Type().Underlying().(*types.Pointer).Elem()
	set := map[int]bool{} // fields
	for _, ref := range *addr.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr == addr {
				return true
			}
		case *ssa.FieldAddr:
			isLock := isNamed(t, m.pkg, m.name) && accesspath.FieldOf(ref).Name() == m.lock
			set[ref.Field] = set[ref.Field] || isLock && isStored(ref) || !isLock && m.isIn(accesspath.FieldOf(ref).Type()) &&
				m.sets(ref)
		}
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range st.NumFields() {
		f := st.Field(i)
		isLock := isNamed(t, m.pkg, m.name) && f.Name() == m.lock
		if (isLock || m.isIn(f.Type())) && !set[i] {
			return false
		}
	}
	return true
}

// isStored reports whether something is stored at an address.
func isStored(addr ssa.Value) bool {
	for _, ref := range *addr.Referrers() {
		if store, ok := ref.(*ssa.Store); ok && store.Addr == addr {
			return true
		}
	}
	return false
}

package validate

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// partsUsedBehind doubts a patch that guards the object to which the variable refers, where a call with the object
// returns what may be a part of it, and that is used without the lock.
//
//	c.mu.Lock()
//	e := c.order.Front()
//	c.mu.Unlock()
//	for ; e != nil; e = e.Next() {
func (j *judge) partsUsedBehind() {
	if !j.now.claim.Within {
		return
	}
	for _, p := range j.now.packages() {
		t := tracer{j.now.isVariable(p)}
		// What the calls return, with where the object lies that they were made with.
		parts := map[ssa.Value]ssa.Value{}
		j.now.eachMentioning(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			call, ok := instr.(*ssa.Call)
			if !ok {
				return
			}
			for _, x := range j.now.touchesOfCall(t, call) {
				parts[call] = x.root
			}
		})
		spreadParts(parts)
		j.now.eachMentioning(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			v := usedPart(instr, parts)
			if v == nil {
				return
			}
			u := use{touch: touch{origin: origin{root: parts[v]}}, base: baseOf(parts[v]), pkg: p, fn: fn, instr: instr,
				locks: st}
			if !j.now.isExempt(u) && (j.now.protectionOf(u) < wrongMode || leavesLock(instr, st)) {
				j.doubt(place{p, instr}, finding.Heavy, "covered", stillRace,
					"a part of %s is used at %s without the lock", j.now.claim.Variable, at(p, instr))
			}
		})
	}
}

// leavesLock reports whether an instruction returns from a function that has taken a lock itself, and so releases it.
func leavesLock(instr ssa.Instruction, st *lockset.State) bool {
	_, returns := instr.(*ssa.Return)
	return returns && slices.ContainsFunc(st.Held(), func(h lockset.Held) bool {
		return h.Since != nil && h.Since.Parent() == instr.Parent()
	})
}

// withoutHandle leaves out the reads of the variable itself, where it is a pointer or an interface that is never set
// again, and the claim is on the object that it refers to.
func (s *side) withoutHandle(list []use) []use {
	isHandle := func(u use) bool {
		_, isValue := u.root.(*ssa.Field)
		return u.level == 0 && !isValue
	}
	isSet := slices.ContainsFunc(list, func(u use) bool { return u.write && isHandle(u) })
	if !s.claim.Within || !s.isReference() || isSet {
		return list
	}
	return slices.DeleteFunc(list, isHandle)
}

// isCopyOfStruct reports whether a struct, by its address or as a value, is a copy of another one: a parameter, say.
func isCopyOfStruct(base ssa.Value) bool {
	if base == nil {
		return false
	}
	if _, isAddress := base.Type().Underlying().(*types.Pointer); !isAddress {
		return true
	}
	alloc, ok := base.(*ssa.Alloc)
	return ok && isStored(alloc)
}

// isReference reports whether the claim's variable, a field or a package variable, is a pointer or an interface.
func (s *side) isReference() bool {
	v := s.claim.Variable
	p := s.Package(v.Package)
	if p == nil || v.Func != "" {
		return false
	}
	obj := p.Types.Scope().Lookup(v.Name)
	if v.Type != "" {
		if f := fieldOf(s.typeOf(home{v.Package, v.Type}), v.Name); f != nil {
			obj = f
		}
	}
	if obj == nil {
		return false
	}
	switch obj.Type().Underlying().(type) {
	case *types.Pointer, *types.Interface:
		return true
	}
	return false
}

// spreadParts adds the values that are parts since they come from parts.
func spreadParts(parts map[ssa.Value]ssa.Value) {
	var work []ssa.Value
	for v := range parts {
		work = append(work, v)
	}
	for ; len(work) > 0; work = work[1:] {
		for _, ref := range *work[0].Referrers() {
			for _, v := range carries(ref) {
				if _, known := parts[v]; !known {
					parts[v] = parts[work[0]]
					work = append(work, v)
				}
			}
		}
	}
	for v := range parts {
		if !isPart(v.Type()) {
			delete(parts, v)
		}
	}
}

// carries returns the values that an instruction makes of one of its operands, which are the same part; those that are
// read from a local in which it stores it, for a store.
func carries(instr ssa.Instruction) (list []ssa.Value) {
	switch x := instr.(type) {
	case *ssa.Extract, *ssa.Phi, *ssa.ChangeType, *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.TypeAssert, *ssa.Slice:
		return []ssa.Value{x.(ssa.Value)}
	case *ssa.Store:
		cell, isLocal := x.Addr.(*ssa.Alloc)
		if !isLocal {
			return nil
		}
		for _, ref := range *cell.Referrers() {
			if load, ok := ref.(*ssa.UnOp); ok {
				list = append(list, load)
			}
		}
	}
	return list
}

// isPart reports whether a value of the type may be a part of the object that a call was made with.
func isPart(t types.Type) bool {
	_, isTuple := t.(*types.Tuple)
	return !isTuple && refers(t) && !types.Identical(t, types.Universe.Lookup("error").Type())
}

// usedPart returns the part that an instruction uses, except to compare it or to make another value of it; nil if it
// uses none.
func usedPart(instr ssa.Instruction, parts map[ssa.Value]ssa.Value) ssa.Value {
	switch instr.(type) {
	case *ssa.BinOp, *ssa.DebugRef:
		return nil
	}
	if len(carries(instr)) > 0 {
		return nil
	}
	for _, op := range instr.Operands(nil) {
		if _, isOne := parts[*op]; *op != nil && isOne {
			return *op
		}
	}
	return nil
}

package endpoints

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// A write may answer: n.Add(1) returns the new value, and a function that removes an entry may return the
// entry. A caller that asks for the answer need not rely on the test before: test and use are one step then, as
// in a compare-and-swap.

// answered reports whether a branch depends on v, the smaller or greater of it
// and something else is taken, or a function is asked about it.
func answered(v ssa.Value) bool {
	return follow(v, map[ssa.Value]bool{}, func(v ssa.Value, use ssa.Instruction) bool {
		switch use := use.(type) {
		case *ssa.If:
			return true
		case *ssa.BinOp:
			return ir.IsBool(use.Type())
		case *ssa.Call:
			b, ok := use.Call.Value.(*ssa.Builtin)
			return ok && (b.Name() == "min" || b.Name() == "max")
		}
		return false
	})
}

// follow reports whether found holds for a use of v, or of a value computed from it.
func follow(v ssa.Value, seen map[ssa.Value]bool, found func(v ssa.Value, use ssa.Instruction) bool) bool {
	if v.Referrers() == nil || seen[v] {
		return false
	}
	seen[v] = true
	return slices.ContainsFunc(*v.Referrers(), func(use ssa.Instruction) bool {
		if found(v, use) {
			return true
		}
		switch use := use.(type) {
		case *ssa.BinOp, *ssa.Convert, *ssa.ChangeType, *ssa.Phi, *ssa.Extract:
			return follow(use.(ssa.Value), seen, found)
		case *ssa.Call:
			_, plain := v.Type().Underlying().(*types.Basic)
			return plain && follow(use, seen, found)
		case *ssa.Store:
			return use.Val == v && slices.ContainsFunc(cellsOf(use.Addr), func(cell ssa.Value) bool {
				return follow(cell, seen, found)
			})
		case *ssa.UnOp:
			_, local := v.(*ssa.Alloc)
			_, field := v.(*ssa.FieldAddr)
			return use.Op != token.ARROW && (use.Op != token.MUL || local || field) && follow(use, seen, found)
		}
		return false
	})
}

// cellsOf returns the addresses from which the function loads the value stored at addr: that of a local, or of a
// field as it is written each time.
//
//	e.n = t.last.Add(1); if e.n > limit { … }
func cellsOf(addr ssa.Value) []ssa.Value {
	switch addr := addr.(type) {
	case *ssa.Alloc:
		return []ssa.Value{addr}
	case *ssa.FieldAddr:
		var list []ssa.Value
		for _, ref := range *addr.X.Referrers() {
			if again, ok := ref.(*ssa.FieldAddr); ok && again.Field == addr.Field {
				list = append(list, again)
			}
		}
		return list
	}
	return nil
}

// answers lists the results of the function that carry the value that e, a write, has made or has found in its
// critical section.
func (f *function) answers(e *event) []int {
	// Results that are v, or are computed from it.
	var list []int
	carries := func(v ssa.Value) {
		follow(v, map[ssa.Value]bool{}, func(v ssa.Value, use ssa.Instruction) bool {
			if ret, ok := use.(*ssa.Return); ok {
				for i, r := range ret.Results {
					if r == v {
						list = append(list, i)
					}
				}
			}
			return false
		})
	}
	// The write's own answer: that of the callee, or of an atomic operation.
	for _, v := range e.answers {
		carries(v)
	}
	if call, ok := e.at.(*ssa.Call); ok && !e.call && e.atomic {
		carries(call)
	}
	// Values that reads in the same critical section have found.
	for _, r := range f.byName[e.name] {
		if r.op != read || r.call || e.call || r.path != e.path || r.inMap != e.inMap || e.inMap && !sameKey(r.key, e.key) ||
			!sameRegion(r, e) {
			continue
		}
		for _, result := range f.resultsAbout(r) {
			if !result.Inside {
				list = append(list, result.Index)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// results returns those of the call with the indexes.
func results(call *ssa.Call, indexes []int) []ssa.Value {
	if call.Call.Signature().Results().Len() == 1 && len(indexes) > 0 {
		return []ssa.Value{call}
	}
	var list []ssa.Value
	for _, ref := range *call.Referrers() {
		if x, ok := ref.(*ssa.Extract); ok && slices.Contains(indexes, x.Index) {
			list = append(list, x)
		}
	}
	return list
}

// claimed reports whether, on the way from t to u, an operation on the same variable has answered already: that
// answer decides, not the value that t found.
func (f *function) claimed(d decision, t, u *event) bool {
	f.spendSteps(len(f.byName[t.name]))
	return slices.ContainsFunc(f.byName[t.name], func(w *event) bool {
		return w.op == swap && w.path == t.path && w.at != u.at && d.only[w.at.Block()] &&
			w.at.Block().Dominates(u.at.Block()) && f.flow.Leads(w.at, u.at)
	})
}

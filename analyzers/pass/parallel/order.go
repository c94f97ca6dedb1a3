package parallel

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// waitedAfter returns the signals that the function has waited for on every way to instruction
// at.
func (f *frame) waitedAfter(at ssa.Instruction) []signal {
	if waits, ok := f.passed[at]; ok {
		return waits
	}
	f.work.Spend(len(f.ops) + len(f.entered))
	var waits []signal
	for _, o := range f.ops {
		if len(o.waits) > 0 && f.flow.Precedes(o.instr, at) {
			waits = addSignals(waits, f.decisive(o.waits, o.instr, at)...)
		}
	}
	for b := at.Block(); b != nil; b = b.Idom() {
		waits = addSignals(waits, f.entered[b]...)
		waits = addSignals(waits, f.merged(b)...)
	}
	f.passed[at] = f.internSignals(waits)
	return f.passed[at]
}

// merged returns the signals that each of the ways that meet in b has waited for, other than by a loop around b:
//
//	if done == nil { <-ch } else { select { case <-done: return; case <-ch: } }
func (f *frame) merged(b *ssa.BasicBlock) []signal {
	if waits, ok := f.joins[b]; ok {
		return waits
	}
	f.joins[b] = nil // a jump into a loop leads back
	var waits []signal
	ways := 0
	for _, p := range b.Preds {
		if b.Dominates(p) {
			continue
		}
		last := p.Instrs[len(p.Instrs)-1]
		way := strong(slices.Concat(f.waitedAfter(last), f.at[last].waits, caseSyncs(ir.SelectedBetween(p, b))))
		if ways++; ways == 1 {
			waits = way
			continue
		}
		waits = slices.DeleteFunc(waits, func(s signal) bool { return !slices.Contains(way, s) })
	}
	if ways > 1 {
		f.joins[b] = waits
	}
	return f.joins[b]
}

// internSignals returns the one list of the function with these signals, so that results
// for a list are worked out once.
func (f *frame) internSignals(list []signal) []signal {
	f.work.Spend(len(f.lists))
	for _, have := range f.lists {
		if slices.Equal(have, list) {
			return have
		}
	}
	list = slices.Clip(list)
	f.lists = append(f.lists, list)
	return list
}

// decisive returns the signals that order something: weak ones only if a branch
// between from and at decides.
func (f *frame) decisive(waits []signal, from, at ssa.Instruction) []signal {
	if slices.ContainsFunc(waits, signal.isWeak) && !f.branches(from, at) {
		return strong(waits)
	}
	return waits
}

// branches reports whether a branch that from dominates decides about at.
func (f *frame) branches(from, at ssa.Instruction) bool {
	for b := at.Block().Idom(); b != nil && from.Block().Dominates(b); b = b.Idom() {
		if _, ok := decides(b, at.Block()); ok {
			return true
		}
	}
	return false
}

// decides returns the branch at the end of d if one of its ways is the only one to b.
func decides(d, b *ssa.BasicBlock) (*ssa.If, bool) {
	branch, ok := d.Instrs[len(d.Instrs)-1].(*ssa.If)
	return branch, ok && slices.ContainsFunc(d.Succs, func(way *ssa.BasicBlock) bool {
		return len(way.Preds) == 1 && way.Dominates(b)
	})
}

// givenAfter returns the signals that the function may give after instruction at.
func (f *frame) givenAfter(at ssa.Instruction) []signal {
	if gives, ok := f.coming[at]; ok {
		return gives
	}
	f.work.Spend(len(f.ops))
	var gives []signal
	for _, o := range f.ops {
		if len(o.gives) > 0 && f.flow.Leads(at, o.instr) {
			gives = addSignals(gives, o.gives...)
		}
	}
	f.coming[at] = f.internSignals(gives)
	return f.coming[at]
}

// closure adds to the given signals those that goroutines which wait for them give on.
func (f *frame) closure(given []signal) []signal {
	given = slices.Clone(given)
	all := []syncs{}
	for _, s := range f.strands {
		all = append(all, s.syncs)
	}
	passed := make([]bool, len(all))
	for changed := true; changed; {
		changed = false
		for i, s := range all {
			if !passed[i] && anyMeet(given, strong(s.waits)) {
				passed[i], changed = true, true
				given = addSignals(given, strong(s.gives)...)
			}
		}
	}
	return given
}

// comesTo reports whether control may come from instruction from to instruction
// to without waiting for a given signal, and without making the object of path
// anew.
func (f *frame) comesTo(from, to ssa.Instruction, path accesspath.Path, given []signal) bool {
	seen := map[*ssa.BasicBlock]bool{}
	var walk func(b *ssa.BasicBlock, instrs []ssa.Instruction) bool
	walk = func(b *ssa.BasicBlock, instrs []ssa.Instruction) bool {
		f.work.Spend(len(instrs) + 1)
		for _, instr := range instrs {
			switch s := f.at[instr]; {
			case renews(instr, path):
				return false
			case instr == to:
				return true
			case anyMeet(given, f.decisive(s.waits, instr, to)):
				return false
			}
		}
		for _, next := range b.Succs {
			if seen[next] || anyMeet(given, f.entered[next]) || anyMeet(given, caseSyncs(ir.SelectedBetween(b, next))) {
				continue
			}
			seen[next] = true
			if walk(next, next.Instrs) {
				return true
			}
		}
		return false
	}
	b := from.Block()
	return walk(b, b.Instrs[f.flow.Index(from)+1:])
}

// renews reports whether instr computes the root of the path, or an index in it.
func renews(instr ssa.Instruction, path accesspath.Path) bool {
	v, ok := instr.(ssa.Value)
	return ok && path.Root != nil && path.Uses(v)
}

package validate

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
)

// decisions is what a value decides about: values computed from it, and blocks
// that only one outcome of a test leads to.
type decisions struct {
	values map[ssa.Value]bool
	blocks []*ssa.BasicBlock
}

// decided follows of through operations, locals and tests.
func decided(of ssa.Value) decisions {
	d := decisions{values: map[ssa.Value]bool{}}
	var visit func(v ssa.Value)
	visit = func(v ssa.Value) {
		if d.values[v] || v.Referrers() == nil {
			return
		}
		d.values[v] = true
		for _, ref := range *v.Referrers() {
			switch ref := ref.(type) {
			case *ssa.BinOp, *ssa.Phi, *ssa.Convert, *ssa.ChangeType, *ssa.Extract, *ssa.Field, *ssa.MakeInterface,
				*ssa.TypeAssert, *ssa.Slice:
				visit(ref.(ssa.Value))
			case *ssa.UnOp:
				if ref.Op.String() != "*" {
					visit(ref)
				}
			case *ssa.Call:
				if _, ok := ref.Call.Value.(*ssa.Builtin); ok { // len, append, min and the like
					visit(ref)
				}
			case *ssa.Store: // n := v
				if cell, ok := ref.Addr.(*ssa.Alloc); ok && ref.Val == v {
					for _, load := range *cell.Referrers() {
						if load, ok := load.(*ssa.UnOp); ok {
							visit(load)
						}
					}
				}
			case *ssa.If:
				// A block with several ways in runs whatever the outcome, and so does what follows a loop over
				// something that was read before it.
				for _, next := range ref.Block().Succs {
					if len(next.Preds) == 1 && (isRepeated(of, ref.Block()) || passesBy(ref.Block(), next)) {
						d.blocks = append(d.blocks, next)
					}
				}
			}
		}
	}
	visit(of)
	return d
}

// isRepeated reports whether v is computed again behind b.
func isRepeated(v ssa.Value, b *ssa.BasicBlock) bool {
	instr, ok := v.(ssa.Instruction)
	return ok && leads(b, nil, func(c *ssa.BasicBlock) bool { return c == instr.Block() })
}

// passesBy reports whether the function may end behind b without next.
func passesBy(b, next *ssa.BasicBlock) bool {
	return leads(b, next, func(c *ssa.BasicBlock) bool { return len(c.Succs) == 0 })
}

// leads reports whether a way from b, not through the block without, leads to one that is sought.
func leads(b, without *ssa.BasicBlock, isSought func(*ssa.BasicBlock) bool) bool {
	seen := map[*ssa.BasicBlock]bool{without: true}
	var visit func(c *ssa.BasicBlock) bool
	visit = func(c *ssa.BasicBlock) bool {
		if seen[c] {
			return false
		}
		seen[c] = true
		return isSought(c) || slices.ContainsFunc(c.Succs, visit)
	}
	return slices.ContainsFunc(b.Succs, visit)
}

// controls reports whether a test of the value decides whether b runs.
func (d decisions) controls(b *ssa.BasicBlock) bool {
	return slices.ContainsFunc(d.blocks, func(c *ssa.BasicBlock) bool { return c.Dominates(b) })
}

// feeds reports whether instr takes a value that was computed from the first.
func (d decisions) feeds(instr ssa.Instruction) bool {
	return slices.ContainsFunc(instr.Operands(nil), func(op *ssa.Value) bool { return *op != nil && d.values[*op] })
}

// stores reports whether a value that was computed from the first goes into
// the write b. A call takes it as an argument: the callee has to store it, or
// to do so depending on it. One that compares it with what it reads under the
// lock has tested that once more.
func (d decisions) stores(b part) bool {
	call, ok := b.instr.(*ssa.Call)
	if !ok || b.inner == nil {
		return d.feeds(b.instr)
	}
	_, args := callgraph.Target(call.Common())
	for i, param := range b.inner.Parent().Params {
		if i >= len(args) || !d.values[args[i]] {
			continue
		}
		if inner := decided(param); inner.feeds(b.inner) || inner.controls(b.inner.Block()) {
			return true
		}
	}
	return false
}

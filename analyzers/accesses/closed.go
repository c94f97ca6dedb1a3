package accesses

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/accesspath"
)

// beforeClose reports whether a comes before its function closes a channel
// that only signals, and b after that channel was found closed.
func (l *List) beforeClose(a, b *Access) bool {
	found := false
	Reached(a.Instr, func(instr ssa.Instruction) bool {
		if ch := closed(instr); ch != nil && signals(ch) {
			name, ok := accesspath.NameOf(ch)
			found = found || ok && afterReceive(b.Instr, name)
		}
		return !found
	})
	return found
}

// closed gives the channel that instr closes, or nil.
func closed(instr ssa.Instruction) ssa.Value {
	call, ok := instr.(ssa.CallInstruction)
	if !ok {
		return nil
	}
	if b, ok := call.Common().Value.(*ssa.Builtin); !ok || b.Name() != "close" {
		return nil
	}
	return call.Common().Args[0]
}

// signals: a channel of empty structs carries nothing but its closing.
func signals(ch ssa.Value) bool {
	c, ok := ch.Type().Underlying().(*types.Chan)
	if !ok {
		return false
	}
	s, ok := c.Elem().Underlying().(*types.Struct)
	return ok && s.NumFields() == 0
}

// afterReceive reports whether every way to at receives from the channel.
func afterReceive(at ssa.Instruction, channel accesspath.Name) bool {
	for b := at.Block(); b != nil; b = b.Idom() {
		for _, instr := range b.Instrs {
			if instr == at {
				break
			}
			if recv, ok := instr.(*ssa.UnOp); ok && recv.Op == token.ARROW && named(recv.X, channel) {
				return true
			}
		}
		if d := b.Idom(); d != nil && len(b.Preds) == 1 && b.Preds[0] == d && chosen(d, b, channel) {
			return true
		}
	}
	return false
}

// chosen reports whether d goes on to b where a select has received from the channel.
func chosen(d, b *ssa.BasicBlock, channel accesspath.Name) bool {
	branch, ok := d.Instrs[len(d.Instrs)-1].(*ssa.If)
	if !ok || d.Succs[0] != b {
		return false
	}
	cmp, ok := branch.Cond.(*ssa.BinOp)
	if !ok || cmp.Op != token.EQL {
		return false
	}
	which, ok := cmp.X.(*ssa.Extract)
	number, isConst := cmp.Y.(*ssa.Const)
	if !ok || !isConst || which.Index != 0 {
		return false
	}
	sel, ok := which.Tuple.(*ssa.Select)
	if !ok {
		return false
	}
	i := int(number.Int64())
	return i >= 0 && i < len(sel.States) && sel.States[i].Dir == types.RecvOnly && named(sel.States[i].Chan, channel)
}

func named(ch ssa.Value, want accesspath.Name) bool {
	name, ok := accesspath.NameOf(ch)
	return ok && name == want
}

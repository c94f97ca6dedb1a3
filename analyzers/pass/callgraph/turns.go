package callgraph

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// InTurn reports whether the place starts a goroutine only when it has heard from the last one: each way back to it
// receives from a channel that the function has made for the goroutine. That this is the last that the goroutine does
// is taken for granted.
//
//	for { done := make(chan error, 1); go v.fetch(done); if err := <-done; err != nil { return err } }
func (g *Goroutine) InTurn() bool {
	channels := madeFor(g.Start)
	if len(channels) == 0 {
		return false
	}
	heard := func(ch ssa.Value) bool { return slices.Contains(channels, accesspath.Of(ch).Root) }

	// Walk from the start, each block once, and not on where something was heard.
	seen := map[*ssa.BasicBlock]bool{}
	var again func(b *ssa.BasicBlock, instrs []ssa.Instruction) bool
	again = func(b *ssa.BasicBlock, instrs []ssa.Instruction) bool {
		for _, instr := range instrs {
			if instr == g.Start {
				return true
			}
			if recv, ok := instr.(*ssa.UnOp); ok && recv.Op == token.ARROW && heard(recv.X) {
				return false
			}
		}
		return slices.ContainsFunc(b.Succs, func(next *ssa.BasicBlock) bool {
			c := ir.SelectedBetween(b, next)
			if seen[next] || c != nil && c.Dir == types.RecvOnly && heard(c.Chan) {
				return false
			}
			seen[next] = true
			return again(next, next.Instrs)
		})
	}
	b := g.Start.Block()
	return !again(b, b.Instrs[slices.Index(b.Instrs, ssa.Instruction(g.Start))+1:])
}

// madeFor lists the channels that the function of start has made and hands to the goroutine.
func madeFor(start ssa.CallInstruction) (channels []ssa.Value) {
	handed := slices.Clone(start.Common().Args)
	if mk, ok := start.Common().Value.(*ssa.MakeClosure); ok {
		handed = append(handed, mk.Bindings...)
	}
	for _, v := range handed {
		if held, ok := accesspath.Cell(v); ok {
			v = held
		}
		if mk, ok := accesspath.Of(v).Root.(*ssa.MakeChan); ok {
			channels = append(channels, mk)
		}
	}
	return channels
}

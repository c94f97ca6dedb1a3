package ir

import (
	"iter"

	"golang.org/x/tools/go/ssa"
)

// Preceding returns the instructions that control passes on every way to at, block by block, those nearest to the entry
// of the function last.
func Preceding(at ssa.Instruction) iter.Seq[ssa.Instruction] {
	return func(yield func(ssa.Instruction) bool) {
		for b := at.Block(); b != nil; b = b.Idom() {
			for _, instr := range b.Instrs {
				if instr == at {
					break
				}
				if !yield(instr) {
					return
				}
			}
		}
	}
}

// Instructions returns the instructions of a function, block by block.
func Instructions(fn *ssa.Function) iter.Seq[ssa.Instruction] {
	return func(yield func(ssa.Instruction) bool) {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if !yield(instr) {
					return
				}
			}
		}
	}
}

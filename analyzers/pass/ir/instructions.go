package ir

import (
	"iter"

	"golang.org/x/tools/go/ssa"
)

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

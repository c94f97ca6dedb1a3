package ir

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
)

// Carry is how the value of an instruction stems from the values that it takes.
type Carry int

// What a pass takes for another value, for the same one, and for one computed from it.
const (
	Stops Carry = iota
	Copies
	Computes
)

// DependsOn returns how v stems from part, as far as instructions carry values on: Computes if it is computed from part
// on some way, Copies if it may only be part itself.
func DependsOn(v, part ssa.Value, carries func(ssa.Instruction) Carry) Carry {
	known := map[ssa.Value]Carry{part: Copies}
	var from func(ssa.Value) Carry
	from = func(v ssa.Value) Carry {
		if carry, ok := known[v]; ok || len(known) > knowledge.ValuesFollowed {
			return carry
		}
		known[v] = Stops // a loop: the other ways decide
		instr, ok := v.(ssa.Instruction)
		if !ok || carries(instr) == Stops {
			return Stops
		}
		for _, op := range instr.Operands(nil) {
			if *op != nil && from(*op) != Stops {
				known[v] = max(known[v], carries(instr), from(*op))
			}
		}
		return known[v]
	}
	return from(v)
}

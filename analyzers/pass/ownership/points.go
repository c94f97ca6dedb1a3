package ownership

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// point is an instruction of the allocating function during which another
// one, perhaps in a closure, runs; level is the sharing that the way there adds.
type point struct {
	instr ssa.Instruction
	level Level
}

// pointsIn lists the points of fn during which at runs.
func (r *Result) pointsIn(fn *ssa.Function, at ssa.Instruction, depth int) []point {
	f := at.Parent()
	if f == fn {
		return []point{{instr: at}}
	}
	if f.Parent() == nil || depth > knowledge.ClosuresToOwner {
		return []point{{level: Shared}}
	}
	if r.graph.Escapes(f) {
		return []point{{level: Handed}}
	}
	var points []point
	for _, s := range r.graph.Sites(f) {
		switch {
		case s.Mode == callgraph.Go:
			points = append(points, point{level: Shared})
		case s.Mode == callgraph.Defer:
			for _, end := range runDefers(s.Caller) {
				points = append(points, r.pointsIn(fn, end, depth+1)...)
			}
		default:
			points = append(points, r.pointsIn(fn, s.Instr, depth+1)...)
		}
	}
	if len(points) == 0 {
		return []point{{level: Handed}}
	}
	return points
}

func runDefers(f *ssa.Function) []ssa.Instruction {
	var ends []ssa.Instruction
	for instr := range ir.Instructions(f) {
		if _, ok := instr.(*ssa.RunDefers); ok {
			ends = append(ends, instr)
		}
	}
	return ends
}

// reaches reports whether control can come from instruction p to instruction
// at without allocating object anew on the way.
func (r *Result) reaches(p, at ssa.Instruction, object ssa.Value) bool {
	if p.Parent() != at.Parent() {
		return true // one of them is in a closure: no order is known
	}
	flow := r.prog.Flow(p.Parent())
	if p.Block() == at.Block() && flow.Index(p) < flow.Index(at) {
		return true
	}
	if !flow.Follows(p.Block(), at.Block()) {
		return false
	}
	instr, ok := object.(ssa.Instruction)
	if !ok || instr.Parent() != p.Parent() || !flow.Follows(p.Block(), instr.Block()) {
		return true // no way leads past the allocation
	}
	return r.around(p.Block(), instr.Block())[at.Block()]
}

// around returns the blocks that control can reach from the end of one block
// without coming to another, which are those of a loop that both are in.
func (r *Result) around(from, cut *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	key := [2]*ssa.BasicBlock{from, cut}
	if seen, ok := r.arounds[key]; ok {
		return seen
	}
	seen := map[*ssa.BasicBlock]bool{}
	var walk func(b *ssa.BasicBlock)
	walk = func(b *ssa.BasicBlock) {
		for _, s := range b.Succs {
			if s != cut && !seen[s] {
				seen[s] = true
				walk(s)
			}
		}
	}
	walk(from)
	r.arounds[key] = seen
	return seen
}

package ir

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Flow answers which instructions of one function control may reach from which.
// It is worked out once a function, in time and space of the square of its
// blocks over 64; a question takes constant time. It is read-only once built.
type Flow struct {
	index map[ssa.Instruction]int // within its block, if that is long
	after [][]uint64              // by number of a block, the blocks that come after it on some way
}

// Flow returns that of fn. It is safe for concurrent use.
func (p *Program) Flow(fn *ssa.Function) *Flow {
	p.flowMu.Lock()
	defer p.flowMu.Unlock()
	f := p.flows[fn]
	if f == nil {
		f = newFlow(fn)
		if p.flows == nil {
			p.flows = map[*ssa.Function]*Flow{}
		}
		p.flows[fn] = f
	}
	return f
}

func newFlow(fn *ssa.Function) *Flow {
	f := &Flow{index: map[ssa.Instruction]int{}, after: closure(fn.Blocks)}
	for _, b := range fn.Blocks {
		if len(b.Instrs) > longBlock {
			for i, instr := range b.Instrs {
				f.index[instr] = i
			}
		}
	}
	return f
}

// longBlock is how many instructions are too many to look through; an index of
// all would take more memory than the instructions.
const longBlock = 64

// Index returns the place of instr in its block.
func (f *Flow) Index(instr ssa.Instruction) int {
	if instrs := instr.Block().Instrs; len(instrs) <= longBlock {
		return slices.Index(instrs, instr)
	}
	return f.index[instr]
}

// Follows reports whether control may come from the end of block a to the
// start of b: of a itself, if it lies in a loop.
func (f *Flow) Follows(a, b *ssa.BasicBlock) bool {
	return f.after[a.Index][b.Index/64]&(1<<(b.Index%64)) != 0
}

// Leads reports whether control may come from instruction from to instruction
// to, of the same function.
func (f *Flow) Leads(from, to ssa.Instruction) bool {
	a, b := from.Block(), to.Block()
	return a == b && f.Index(from) < f.Index(to) || f.Follows(a, b)
}

// Precedes reports whether control comes to instruction b only by way of instruction a, of the same function.
func (f *Flow) Precedes(a, b ssa.Instruction) bool {
	if a.Block() == b.Block() {
		return f.Index(a) < f.Index(b)
	}
	return a.Block().Dominates(b.Block())
}

// Reached lists the instructions that control may reach after instruction from
// within its function, in no order, until visit says stop for a way by
// returning false.
func (f *Flow) Reached(from ssa.Instruction, visit func(ssa.Instruction) bool) {
	seen := map[*ssa.BasicBlock]bool{}
	var walk func(b *ssa.BasicBlock, instrs []ssa.Instruction)
	walk = func(b *ssa.BasicBlock, instrs []ssa.Instruction) {
		for _, instr := range instrs {
			if !visit(instr) {
				return
			}
		}
		for _, s := range b.Succs {
			if !seen[s] {
				seen[s] = true
				walk(s, s.Instrs)
			}
		}
	}
	b := from.Block()
	walk(b, b.Instrs[f.Index(from)+1:])
}

// closure returns for each block those that control may reach from its end, as
// sets of bits. The blocks of a loop reach the same ones, so each strongly
// connected component (Tarjan, 1972) has one set, made of those of the
// components after it.
func closure(blocks []*ssa.BasicBlock) [][]uint64 {
	c := &components{
		after: make([][]uint64, len(blocks)), words: (len(blocks) + 63) / 64,
		number: make([]int, len(blocks)), low: make([]int, len(blocks)), on: make([]bool, len(blocks)),
	}
	for _, b := range blocks {
		if c.number[b.Index] == 0 {
			c.visitBlock(b)
		}
	}
	return c.after
}

type components struct {
	after       [][]uint64
	words       int
	number, low []int
	on          []bool // the stack
	stack       []*ssa.BasicBlock
	last        int
}

func (c *components) visitBlock(b *ssa.BasicBlock) {
	c.last++
	c.number[b.Index], c.low[b.Index] = c.last, c.last
	c.stack, c.on[b.Index] = append(c.stack, b), true
	for _, s := range b.Succs {
		if c.number[s.Index] == 0 {
			c.visitBlock(s)
			c.low[b.Index] = min(c.low[b.Index], c.low[s.Index])
		} else if c.on[s.Index] {
			c.low[b.Index] = min(c.low[b.Index], c.number[s.Index])
		}
	}
	if c.low[b.Index] == c.number[b.Index] {
		c.popComponent(b)
	}
}

// popComponent takes the component with the first block b from the stack.
func (c *components) popComponent(b *ssa.BasicBlock) {
	set := make([]uint64, c.words)
	first := len(c.stack) - 1
	for c.stack[first] != b {
		first--
	}
	for _, m := range c.stack[first:] {
		c.on[m.Index] = false
		c.after[m.Index] = set
	}
	for _, m := range c.stack[first:] {
		for _, s := range m.Succs {
			set[s.Index/64] |= 1 << (s.Index % 64)
			for i, w := range c.after[s.Index] {
				set[i] |= w
			}
		}
	}
	c.stack = c.stack[:first]
}

package simulation

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// beginsPool reports whether a branch enters a loop for the first time that starts so many goroutines as
// its caller has said: no worker at all is no pool, and nobody asks for that.
//
//	for range workers {           for i := 0; i < workers; i++ {
//		go work(jobs)                 wg.Go(func() { work(jobs) })
//	}                             }
//
// Loops over a collection may be empty: there is nothing to wait for then, either.
func (m *machine) beginsPool(st *state, f *frame, instr *ssa.If) bool {
	cond, ok := instr.Cond.(*ssa.BinOp)
	if !ok || cond.Op != token.LSS && cond.Op != token.LEQ && cond.Op != token.NEQ {
		return false
	}
	from, to := m.value(st, f, cond.X), m.value(st, f, cond.Y)
	first := from.kind == number && (from.n == 0 && cond.Op != token.LEQ || from.n == 1 && cond.Op == token.LEQ)
	if !first || to.kind == symbol && to.ref.name == "len" {
		return false
	}
	body := f.block.Succs[0]
	pool, known := m.layouts.pools[body]
	if !known {
		pool = startsInLoop(body)
		m.layouts.pools[body] = pool
	}
	return pool
}

// startsInLoop reports whether a loop that begins with a block, the branch to it left out, starts goroutines.
func startsInLoop(body *ssa.BasicBlock) bool {
	starts, loops := false, false
	seen := map[*ssa.BasicBlock]bool{}
	var visit func(b *ssa.BasicBlock)
	visit = func(b *ssa.BasicBlock) {
		if seen[b] || !body.Dominates(b) {
			return
		}
		seen[b] = true
		for _, instr := range b.Instrs {
			starts = starts || startsGoroutine(instr)
		}
		for _, to := range b.Succs {
			loops = loops || to == body || to.Dominates(body)
			visit(to)
		}
	}
	visit(body)
	return starts && loops
}

// startsGoroutine reports whether an instruction is a go statement, or a call of a method that is named like one.
func startsGoroutine(instr ssa.Instruction) bool {
	if _, ok := instr.(*ssa.Go); ok {
		return true
	}
	call, ok := instr.(*ssa.Call)
	if !ok {
		return false
	}
	callee := call.Call.StaticCallee()
	return callee != nil && callee.Signature.Recv() != nil && callee.Name() == "Go"
}

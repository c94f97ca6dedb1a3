package waits

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/simulation"
)

// isGuessed reports whether instruction at waits for a WaitGroup to which its function has added a number that the
// simulation does not know, other than the length of something: it may well be that of the goroutines.
//
//	wg.Add(r.MetricCount()); for range r.metrics { go … }; wg.Wait()
func isGuessed(at ssa.Instruction) bool {
	group := order.On(at, order.Wait)
	if group == nil {
		return false
	}
	for instr := range ir.Instructions(at.Parent()) {
		add, ok := order.Find(instr, order.Add)
		if !ok || accesspath.Of(add.On) != accesspath.Of(group) {
			continue
		}
		switch n := add.With.(type) {
		case *ssa.Const:
		case *ssa.Call:
			if _, builtin := n.Call.Value.(*ssa.Builtin); !builtin {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// recounts reports whether a goroutine at an end has been started by a loop that computes its bound in each round as
// another loop of the function does: they go round as often, though each result is another one that is not known.
//
//	for i := 0; i < c.Workers(); i++ { go work(done) }; for i := 0; i < c.Workers(); i++ { <-done }
//	for range flag.Args() { go work(done) }; for range flag.Args() { <-done }
func recounts(end *simulation.End) bool {
	return slices.ContainsFunc(end.Stuck, func(s simulation.Stuck) bool { return s.Start != nil && asksTwice(s.Start) }) ||
		slices.ContainsFunc(end.Left, func(l simulation.Left) bool { return l.Start != nil && asksTwice(l.Start) })
}

func asksTwice(start ssa.Instruction) bool {
	bounds := map[string]int{}
	for _, b := range start.Parent().Blocks {
		if bound := boundOf(b); bound != "" {
			bounds[bound]++
		}
	}
	for b := start.Block(); b != nil; b = b.Idom() {
		if bounds[boundOf(b)] > 1 {
			return true
		}
	}
	return false
}

// boundOf returns the function or method by which the branch of a block asks for a number to compare with, or
// which has returned the list that is as long; "" if it asks none.
func boundOf(b *ssa.BasicBlock) string {
	branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok {
		return ""
	}
	cond, ok := branch.Cond.(*ssa.BinOp)
	if !ok {
		return ""
	}
	call, ok := cond.Y.(*ssa.Call)
	if !ok {
		return ""
	}
	if builtin, isBuiltin := call.Call.Value.(*ssa.Builtin); isBuiltin && builtin.Name() == "len" {
		if call, ok = call.Call.Args[0].(*ssa.Call); !ok {
			return ""
		}
	} else if call.Block() != b {
		return ""
	}
	switch {
	case call.Call.IsInvoke():
		return call.Call.Method.FullName()
	case call.Call.StaticCallee() != nil:
		return call.Call.StaticCallee().String()
	}
	return ""
}

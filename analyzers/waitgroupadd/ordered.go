package waitgroupadd

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
)

// mayHear reports whether somebody may learn of an Add by the goroutine that it counts: the function that starts this
// goroutine waits for something before it returns, or that of the Wait does so before it.
//
//	go s.loop(ready); <-ready
func (c *checker) mayHear(add, wait *syncops.Op) bool {
	for _, s := range c.list.Started(add.Fn) {
		after := func(instr ssa.Instruction) bool { return c.list.Reaches(s.Instr, instr) }
		if c.waitsOtherwise(s.Caller, add.Key, after) {
			return true
		}
	}
	return c.waitsOtherwise(wait.Fn, add.Key, func(instr ssa.Instruction) bool {
		return c.list.Reaches(instr, wait.Instr)
	})
}

// waitsOtherwise reports whether an instruction of fn that counts waits for another goroutine, other than by the
// WaitGroup of a key.
func (c *checker) waitsOtherwise(fn *ssa.Function, key syncops.Key, counts func(ssa.Instruction) bool) bool {
	groups := func(instr ssa.Instruction) bool {
		return slices.ContainsFunc(c.list.ByKey[key], func(o *syncops.Op) bool { return o.Instr == instr })
	}
	for instr := range ir.Instructions(fn) {
		waits := order.May(instr, order.Send|order.Receive|order.Wait)
		if waits && counts(instr) && !groups(instr) {
			return true
		}
	}
	return false
}

// handsOver reports whether the function that starts a goroutine hands the WaitGroup of an Add to a call before, which
// may raise it.
//
//	hold(&wg); go func() { wg.Wait(); close(out) }()
func (c *checker) handsOver(add *syncops.Op, start ssa.CallInstruction) bool {
	for instr := range ir.Instructions(start.Parent()) {
		call, ok := instr.(*ssa.Call)
		if !ok || !c.list.Reaches(call, start) {
			continue
		}
		if !order.May(call, order.Add|order.Done|order.Wait) && slices.ContainsFunc(call.Call.Args, func(v ssa.Value) bool {
			return accesspath.Of(v) == add.Path
		}) {
			return true
		}
	}
	return false
}

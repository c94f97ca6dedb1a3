package underlock

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
)

// underCallers judges operations of which the function takes no lock, by the locks that its callers hold of the same
// object.
//
//	func (p *pump) Close() {
//		p.mu.Lock()
//		defer p.mu.Unlock()
//		p.stop()	// waits for a goroutine that needs p.mu
//	}
func (c *checker) underCallers(waits map[*ssa.Function][]*syncops.Op) {
	for _, fn := range c.list.Prog.Funcs {
		if c.list.Prog.InTest(fn) {
			continue
		}
		c.list.Locks.WalkOwn(fn, func(instr ssa.Instruction, s *lockset.State) {
			call, ok := instr.(*ssa.Call)
			if !ok || len(call.Call.Args) == 0 {
				return
			}
			callee := call.Call.StaticCallee()
			for i, op := range waits[callee] {
				if c.calledUnder(op, fn, accesspath.Of(call.Call.Args[0]), s) {
					waits[callee] = slices.Delete(waits[callee], i, i+1) // one caller is enough
					return
				}
			}
		})
	}
}

// calledUnder judges an operation in a function that fn calls on an object, and reports whether it is wrong.
func (c *checker) calledUnder(op *syncops.Op, fn *ssa.Function, object accesspath.Path, s *lockset.State) bool {
	if op.Path.Param(op.Fn) != 0 || op.Path.Owner() != (accesspath.Path{Root: op.Path.Root}) {
		return false // not on a field of the receiver
	}
	for _, h := range s.Held() {
		if h.Since == nil || h.Class == "" || h.Path.Owner() != object {
			continue
		}
		if other, need := c.needing(op, h); need != noNeed && other.Fn != fn {
			c.report(op, fn, h, other, need)
			return true
		}
	}
	return false
}

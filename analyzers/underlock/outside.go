package underlock

import (
	"fmt"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// outsideWait returns the name of the event outside of the program that the call waits for.
func outsideWait(call *ssa.CallCommon) (string, bool) {
	fn := ir.Declared(call.StaticCallee())
	if call.IsInvoke() {
		fn = call.Method
	}
	return knowledge.FullName(fn), knowledge.WaitsOutside(fn)
}

// reportOutside reports waiting for the outside under a lock, once for each function and lock. Nothing hangs for good,
// and the lock may be there to order the writes.
func (c *checker) reportOutside() {
	for _, fn := range c.list.Prog.Funcs {
		if c.list.Prog.InTest(fn) || c.list.Graph.Roles(fn).OnlyInit() {
			continue
		}
		told := map[string]bool{}
		c.list.Locks.WalkOwn(fn, func(instr ssa.Instruction, s *lockset.State) {
			call, ok := instr.(*ssa.Call)
			if !ok {
				return
			}
			what, ok := outsideWait(call.Common())
			if !ok {
				return
			}
			for _, h := range s.Held() {
				if h.Since != nil && !told[h.Path.String()] {
					told[h.Path.String()] = true
					c.reportCallOutside(fn, call, what, h)
				}
			}
		})
	}
}

func (c *checker) reportCallOutside(fn *ssa.Function, call *ssa.Call, what string, h lockset.Held) {
	prog := c.list.Prog
	lock := check.Lock(prog, fn, h.Class, h.Path.String())
	side := check.Side(prog, fn, call, finding.Call, what)
	side.Locks = []string{h.String()}
	f := &finding.Finding{
		Class: string(finding.WaitUnderLock) + finding.Outside,
		Title: fmt.Sprintf("%s is called under %s", what, check.ShortName(lock)),
		Message: fmt.Sprintf("Goroutines that need %s wait for as long as that takes. It is fine where the lock is there "+
			"to order these calls.",
			h.Path),
		Variable: lock,
		Accesses: []finding.Access{side, check.SideAt(prog, fn, h.Since.Pos(), check.LockMode(h.Read), h.Path.String())},
	}
	c.reporter.ReportAt(f, call.Pos(), check.Note{Pos: h.Since.Pos(), Text: h.Path.String() + " is locked here"})
}

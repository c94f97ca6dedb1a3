package unsafepub

import (
	"fmt"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// publication finds the assignment within a started goroutine: its function
// makes a channel, map or object for a field of an object that it was given,
// and code that does not run in that goroutine reads the field.
func (c *checker) publication(v *accesses.Variable) *race {
	for _, a := range plainWrites(v) {
		if !c.startsWith(a) || !makesReference(a.Value) || c.signals(a.Instr) || !c.onlyWrite(v, a) {
			continue
		}
		for _, b := range v.Accesses {
			if b.Writes() || b.Fn == a.Fn || !accesses.MaySame(a, b) || !c.elsewhere(a, b) || waitsBefore(b.Instr) {
				continue
			}
			return &race{a, b, "assigned by a started goroutine, when others may already use it",
				fmt.Sprintf("the object was shared before %s was started; %s (%s) may find the field unset, and races with the "+
					"assignment. Set it before the go statement.",
					c.list.Prog.FuncName(a.Fn), c.list.Prog.FuncName(b.Fn), c.list.Where(b))}
		}
	}
	return nil
}

// startsWith reports whether a stands in a function that is started as a goroutine, outside of its loops, and
// is reached from its arguments.
func (c *checker) startsWith(a *accesses.Access) bool {
	if object(a) == nil || c.list.Leads(a.Instr, a.Instr) {
		return false
	}
	for _, s := range c.list.Graph.Sites(a.Fn) {
		if s.Mode == callgraph.Go {
			return true
		}
	}
	return false
}

func makesReference(v ssa.Value) bool {
	switch ir.Root(v, ir.Retyped|ir.Boxed).(type) {
	case *ssa.MakeChan, *ssa.MakeMap, *ssa.MakeSlice, *ssa.Alloc:
		return true
	}
	return false
}

// onlyWrite reports whether nothing else than a sets v once it is shared.
func (c *checker) onlyWrite(v *accesses.Variable, a *accesses.Access) bool {
	for _, b := range v.Accesses {
		if b != a && b.Writes() && !b.Map {
			return false
		}
	}
	return true
}

// elsewhere reports whether another goroutine than that of a runs b.
func (c *checker) elsewhere(a, b *accesses.Access) bool {
	roles := c.list.Graph.Roles(b.Fn)
	if roles.API || roles.Main {
		return true
	}
	for _, g := range roles.Goroutines {
		if g.Entry != a.Fn {
			return true
		}
	}
	// A function that is only handed on (a finalizer, a callback) is run by
	// somebody else.
	return roles.Unknown && len(c.list.Graph.Sites(b.Fn)) == 0
}

// signals reports whether the function signals others after from: it
// sends, closes, unlocks, or calls code that may.
func (c *checker) signals(from ssa.Instruction) bool {
	found := false
	c.list.Prog.Flow(from.Parent()).Reached(from, func(instr ssa.Instruction) bool {
		switch instr := instr.(type) {
		case *ssa.Send:
			found = true
		case *ssa.Select:
			for _, s := range instr.States {
				found = found || s.Send != nil
			}
		case ssa.CallInstruction:
			found = found || signalCall(instr.Common())
		}
		return !found
	})
	return found
}

// signalCall reports whether call is close, a method of package sync that wakes
// others or orders them, or unknown.
func signalCall(call *ssa.CallCommon) bool {
	if b, ok := call.Value.(*ssa.Builtin); ok {
		return b.Name() == "close"
	}
	fn := call.StaticCallee()
	if fn == nil {
		return !call.IsInvoke()
	}
	switch fn.Name() {
	case "Done", "Unlock", "RUnlock", "Signal", "Broadcast", "Store", "CompareAndSwap", "Swap", "Do":
		return true
	}
	return false
}

// waitsBefore reports whether something before at, on every way there, waits for
// another goroutine.
func waitsBefore(at ssa.Instruction) bool {
	for instr := range ir.Preceding(at) {
		if waitsFor(instr) {
			return true
		}
	}
	return false
}

func waitsFor(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.UnOp:
		return instr.Op.String() == "<-"
	case *ssa.Select:
		return true
	case *ssa.Call:
		if fn := instr.Call.StaticCallee(); fn != nil {
			switch fn.Name() {
			case "Wait", "Lock", "RLock", "Do", "Load":
				return true
			}
		}
	}
	return false
}

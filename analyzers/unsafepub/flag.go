package unsafepub

import (
	"fmt"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/order"
)

// findRunFlag finds a plain bool that shows whether the goroutine of an object runs:
// one exported method sets it and starts the goroutine on the object, another
// branches on it to a channel operation on the object. Both are for any
// caller, and neither holds a lock.
func (c *checker) findRunFlag(v *accesses.Variable) *race {
	if c.lockedSomewhere(v) {
		return nil
	}
	for _, a := range plainWrites(v) {
		if !isBool(a.Value) || !c.isOpen(a) || !c.startsGoroutine(a) {
			continue
		}
		for _, b := range v.Accesses {
			if b.Mode == a.Mode || b.Fn == a.Fn || !accesses.MaySame(a, b) || !c.isOpen(b) || !decidesToTalk(b) {
				continue
			}
			return &race{a, b, "a plain flag that says whether a goroutine runs",
				fmt.Sprintf("%s sets it and starts the goroutine, %s (%s) decides by it whether to talk to that goroutine. Any "+
					"two callers may do so at the same time, without a lock.",
					c.list.Prog.FuncName(a.Fn), c.list.Prog.FuncName(b.Fn), c.list.Where(b))}
		}
	}
	return nil
}

func isBool(v ssa.Value) bool {
	if v == nil {
		return false
	}
	b, ok := v.Type().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// isOpen reports whether a stands in a method that importing packages call, and
// accesses its receiver.
func (c *checker) isOpen(a *accesses.Access) bool {
	return c.list.Graph.Open(a.Fn) && !c.list.Prog.Alone(a.Fn) && !c.list.Graph.Roles(a.Fn).Unknown &&
		len(a.Fn.Params) > 0 && a.Path.Root == a.Fn.Params[0]
}

// startsGoroutine reports whether a goroutine is started on the object of a after a.
func (c *checker) startsGoroutine(a *accesses.Access) bool {
	found := false
	c.list.Prog.Flow(a.Fn).Reached(a.Instr, func(instr ssa.Instruction) bool {
		if start, ok := instr.(*ssa.Go); ok {
			for _, arg := range goArgs(start) {
				found = found || accesspath.Of(arg).Root == a.Path.Root
			}
		}
		return !found
	})
	return found
}

// goArgs lists the arguments and captured variables of a goroutine.
func goArgs(start *ssa.Go) []ssa.Value {
	args := start.Call.Args
	if mk, ok := start.Call.Value.(*ssa.MakeClosure); ok {
		for _, b := range mk.Bindings {
			if held, ok := accesspath.Cell(b); ok {
				b = held
			}
			args = append(args[:len(args):len(args)], b)
		}
	}
	return args
}

// decidesToTalk reports whether the value read by b chooses between ways, on
// one of which the function uses a channel of the same object.
func decidesToTalk(b *accesses.Access) bool {
	if b.Value == nil {
		return false
	}
	for _, ref := range *b.Value.Referrers() {
		branch, ok := ref.(*ssa.If)
		if !ok {
			continue
		}
		for _, way := range branch.Block().Succs {
			if len(way.Preds) == 1 && usesChannel(way, b.Path.Root) {
				return true
			}
		}
	}
	return false
}

// usesChannel reports whether the blocks that way dominates send on, or receive
// from, a channel of the object.
func usesChannel(way *ssa.BasicBlock, object ssa.Value) bool {
	for _, b := range way.Parent().Blocks {
		if !way.Dominates(b) {
			continue
		}
		for _, instr := range b.Instrs {
			for _, o := range order.Of(instr) {
				if o.Kind&(order.Send|order.Receive) != 0 && accesspath.Of(o.On).Root == object {
					return true
				}
			}
		}
	}
	return false
}

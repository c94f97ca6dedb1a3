package validate

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// drained demands that a deferred literal receives from the claim's channel until it is closed, and that the goroutine
// that sends closes it however it ends. What else that may wait for keeps the function from returning now.
func (j *judge) drained() {
	s, v := j.now, j.now.claim.Variable
	drains := 0
	for _, p := range s.packages() {
		for _, op := range p.Ops.All {
			if op.Path.Root == nil || op.Mode != finding.Receive || !s.isChannel(p, op) || !isDrain(p, op) {
				continue
			}
			drains++
			j.sendersEnd(p, op)
		}
	}
	if drains == 0 {
		j.add("drained", "no deferred call receives from %s until it is closed", v)
	}
}

// isDrain reports whether a receive is that of a loop in a deferred literal, which ends when the channel is closed.
func isDrain(p *session.Package, op *syncops.Op) bool {
	receive, ok := op.Instr.(*ssa.UnOp)
	if !ok || !receive.CommaOk || !callgraph.InLoop(receive.Block()) {
		return false
	}
	sites := p.Calls.Sites(op.Fn)
	if len(sites) != 1 {
		return false
	}
	_, isDeferred := sites[0].Instr.(*ssa.Defer)
	return isDeferred
}

// sendersEnd judges the goroutines that get the channel from the function that drains it.
func (j *judge) sendersEnd(p *session.Package, drain *syncops.Op) {
	outer := ir.Outermost(drain.Fn)
	senders := 0
	for instr := range ir.Instructions(drain.Fn.Parent()) {
		start, ok := instr.(*ssa.Go)
		if !ok {
			continue
		}
		for _, fn := range j.now.Calls.Runs(start) {
			closed := j.closesAtEnd(fn)
			if closed == nil {
				continue
			}
			senders++
			j.onlySends(j.now.Of(fn), fn, closed, outer)
		}
	}
	if senders == 0 {
		j.add("drained", "no goroutine that %s starts closes the channel however it ends", short(declared(p, drain.Fn)))
	}
}

// closesAtEnd returns the channel that a function closes by a defer which comes before each send on it; nil if there is
// none.
func (j *judge) closesAtEnd(fn *ssa.Function) ssa.Value {
	for instr := range ir.Instructions(fn) {
		d, ok := instr.(*ssa.Defer)
		if !ok {
			continue
		}
		if ch := order.On(d, order.Close); ch != nil && !callgraph.InLoop(d.Block()) {
			return ch
		}
	}
	return nil
}

// onlySends judges that a goroutine for which a function waits now has itself only its sends to wait for.
func (j *judge) onlySends(p *session.Package, fn *ssa.Function, closed ssa.Value, outer *ssa.Function) {
	for instr := range ir.Instructions(fn) {
		if send, ok := instr.(*ssa.Send); ok && pathOf(send.Chan) == pathOf(closed) {
			continue
		}
		if why := j.now.Hazard(instr); why != "" {
			j.doubt(place{p, instr}, finding.Heavy, "drained", "if that does not end, the function does not return",
				"%s returns only when %s has ended, which %s at %s", outer.Name(), fn.Name(), why, at(p, instr))
			return
		}
	}
}

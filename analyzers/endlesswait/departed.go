package endlesswait

import (
	"fmt"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
)

// checker looks for operations that wait for a goroutine that may have left its loop, by the names of the
// channels.
type checker struct {
	list     *syncops.List
	reporter *check.Reporter
}

// stop is the exit of a goroutine from its loop: a receive in the select of the loop.
type stop struct {
	name string // as the source writes it
	done bool   // Done of a context
}

// otherSide is the operation that ends a send or a receive.
var otherSide = map[finding.Mode]finding.Mode{finding.Send: finding.Receive, finding.Receive: finding.Send}

// departed judges an operation that anybody may do at any time, of which the only other sides are
// goroutines that leave their loops when they are stopped:
//
//	func (l *loop) Do(t task) {            func (l *loop) run() {
//		l.tasks <- t // run has returned       for {
//	}                                          select {
//	                                           case <-l.done:
//	                                               return
//	                                           case t := <-l.tasks:
func (c *checker) departed(op *syncops.Op) {
	if otherSide[op.Mode] == "" || op.Polls || op.Key.Name.Field == "" || !c.list.Unbuffered[op.Key] ||
		!op.Locks.Free() || !c.list.Graph.Open(op.Fn) || c.closed(op.Key) {
		return
	}
	others := c.others(op)
	if others == nil {
		return
	}
	by, leaves := c.leaves(others[0])
	ways := c.alternatives(op)
	if !leaves || slices.ContainsFunc(ways, func(way ssa.Value) bool { return c.obeysStop(way, by) }) {
		return
	}
	status, message := finding.Suspected, "The other side is %s alone, which returns when %s is ready: then"
	// A caller's context may end the wait.
	if len(ways) > 0 {
		status, message = finding.Lead, message+" the caller's context alone can end this wait."
	} else {
		message += " nothing can end this wait."
	}
	c.report(op, status, fmt.Sprintf(message, c.functionName(others[0]), by.name), others[0])
}

// judgeDeafSend judges a send of a goroutine to users of the package, in a loop that ends when it is stopped, whereas
// the send does not:
//
//	for {
//		select {
//		case <-ctx.Done():
//			return
//		case <-ticker.C:
//			t.next <- struct{}{} // the canceller of ctx does not receive any more
func (c *checker) judgeDeafSend(op *syncops.Op) {
	if op.Mode != finding.Send || !op.Alone || op.Key.Name.Field == "" || len(c.list.Started(op.Fn)) == 0 ||
		c.list.Graph.Open(op.Fn) || c.others(op) != nil || c.closed(op.Key) || !c.handedOut(op) {
		return
	}
	for _, b := range op.Fn.Blocks {
		s := ir.Selected(b)
		if s == nil || s.Dir != types.RecvOnly || c.list.Reaches(b.Instrs[0], op.Instr) {
			continue
		}
		loop := b.Idom()
		if by, ok := c.stopOf(s.Chan); ok && loop.Dominates(op.Instr.Block()) && c.list.Reaches(op.Instr, loop.Instrs[0]) {
			c.report(op, finding.Suspected, fmt.Sprintf("%s returns when %s is ready, but not while it waits here: once "+
				"its users do not receive any more, nothing can end this wait.", c.functionName(op), by.name), nil)
			return
		}
	}
}

// others lists the operations that end a send or receive.
func (c *checker) others(op *syncops.Op) []*syncops.Op {
	var list []*syncops.Op
	for _, o := range c.list.ByKey[op.Key] {
		if o.Mode == otherSide[op.Mode] {
			list = append(list, o)
		}
	}
	return list
}

func (c *checker) closed(key syncops.Key) bool {
	return slices.ContainsFunc(c.list.ByKey[key], func(o *syncops.Op) bool { return o.Mode == finding.CloseChan })
}

// handedOut reports whether an exported function returns the channel that op sends to.
func (c *checker) handedOut(op *syncops.Op) bool {
	for _, fn := range c.list.Prog.Funcs {
		if !c.list.Graph.Open(fn) || c.list.Prog.InTest(fn) {
			continue
		}
		for _, b := range fn.Blocks {
			if slices.ContainsFunc(b.Instrs, func(instr ssa.Instruction) bool { return c.returns(instr, op.Key) }) {
				return true
			}
		}
	}
	return false
}

// returns reports whether an instruction returns the channel of a key, or stores it in a variable of
// its function: a result is one where calls are deferred.
func (c *checker) returns(instr ssa.Instruction, key syncops.Key) bool {
	switch instr := instr.(type) {
	case *ssa.Return:
		return slices.ContainsFunc(instr.Results, func(v ssa.Value) bool { return c.isChannel(v, key) })
	case *ssa.Store:
		local, ok := instr.Addr.(*ssa.Alloc)
		return ok && !local.Heap && c.isChannel(instr.Val, key)
	}
	return false
}

// isChannel reports whether v is the channel of a key.
func (c *checker) isChannel(v ssa.Value, key syncops.Key) bool {
	k, ok := syncops.KeyOf(v)
	return ok && k == key
}

func (c *checker) functionName(op *syncops.Op) string { return c.list.Prog.FuncName(op.Fn) }

// alternatives lists the channels of the other cases of op's select.
func (c *checker) alternatives(op *syncops.Op) []ssa.Value {
	sel, ok := op.Instr.(*ssa.Select)
	if !ok {
		return nil
	}
	var list []ssa.Value
	for _, s := range sel.States {
		if s.Pos != op.Pos {
			list = append(list, s.Chan)
		}
	}
	return list
}

// obeysStop reports whether a way out of the wait is there when the other side has left: anything but the
// context that the caller has handed over.
func (c *checker) obeysStop(way ssa.Value, by stop) bool {
	ctx, ok := doneOf(way)
	if !ok {
		return true
	}
	_, own := accesspath.Of(ctx).Root.(*ssa.Parameter)
	return !own || accesspath.Of(ctx).Fields != "" || by.done && by.name == stopName(way)
}

// leaves returns the exit by which the goroutine that does op leaves the loop, for good.
func (c *checker) leaves(op *syncops.Op) (stop, bool) {
	sel, ok := op.Instr.(*ssa.Select)
	if !ok || !sel.Blocking || len(c.list.Started(op.Fn)) == 0 {
		return stop{}, false
	}
	for _, b := range op.Fn.Blocks {
		s := ir.Selected(b)
		if s == nil || s.Dir != types.RecvOnly || !slices.Contains(sel.States, s) || s.Pos == op.Pos {
			continue
		}
		if by, ok := c.stopOf(s.Chan); ok && !c.comesBackTo(b, op) {
			return by, true
		}
	}
	return stop{}, false
}

// comesBackTo reports whether control comes from block b to op, or to another operation that does the same.
func (c *checker) comesBackTo(b *ssa.BasicBlock, op *syncops.Op) bool {
	return slices.ContainsFunc(c.list.ByKey[op.Key], func(o *syncops.Op) bool {
		return o.Mode == op.Mode && (o.Fn != op.Fn || c.list.Reaches(b.Instrs[0], o.Instr))
	})
}

// stopOf returns the stop that a receive from ch is: from a context, or from a channel that somebody closes.
func (c *checker) stopOf(ch ssa.Value) (stop, bool) {
	by := stop{name: stopName(ch)}
	if _, by.done = doneOf(ch); by.done {
		return by, true
	}
	key, ok := syncops.KeyOf(ch)
	return by, ok && key.Name.Field != "" && c.closed(key)
}

func stopName(ch ssa.Value) string {
	if ctx, ok := doneOf(ch); ok {
		return accesspath.Of(ctx).String() + ".Done()"
	}
	return accesspath.Of(ch).String()
}

// doneOf returns the context of which v is the channel.
func doneOf(v ssa.Value) (ctx ssa.Value, ok bool) {
	call, ok := v.(*ssa.Call)
	if !ok || !call.Call.IsInvoke() || call.Call.Method.FullName() != "(context.Context).Done" {
		return nil, false
	}
	return call.Call.Value, true
}

// report reports an operation that nothing ends after the event in the message; other is the other side, if
// there is one.
func (c *checker) report(op *syncops.Op, status finding.Status, message string, other *syncops.Op) {
	prog := c.list.Prog
	v := c.list.Variable(op)
	f := &finding.Finding{
		Title:    fmt.Sprintf("%s of %s may wait for ever", op.Mode, check.ShortName(v)),
		Status:   status,
		Message:  message,
		Variable: v,
		Accesses: []finding.Access{check.SideAt(prog, op.Fn, op.Pos, op.Mode, op.Path.String())},
	}
	var notes []check.Note
	if other != nil {
		f.Accesses = append(f.Accesses, check.SideAt(prog, other.Fn, other.Pos, other.Mode, other.Path.String()))
		notes = append(notes, check.Note{Pos: other.Pos, Text: "the other side"})
	}
	c.reporter.ReportAt(f, op.Pos, notes...)
}

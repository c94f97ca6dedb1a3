package closerace

import (
	_ "embed"
	"fmt"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
)

//go:embed doc.go
var doc string

// Analyzer reports channels that may be closed twice or sent on when closed.
var Analyzer = check.New("closerace", finding.CloseRaces, doc, run, syncops.Analyzer, waits.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	c := &checker{pass.ResultOf[syncops.Analyzer].(*syncops.List), r, map[holder][]*syncops.Op{}}
	for _, op := range c.list.All {
		if op.Mode == finding.Receive && op.Polls {
			c.polls[holderOf(op)] = append(c.polls[holderOf(op)], op)
		}
	}
	for _, op := range c.list.All {
		if op.Mode != finding.CloseChan || !c.list.Free(op) {
			continue
		}
		if poll := c.polled(op); poll != nil {
			c.report(op, poll, "may be closed twice",
				fmt.Sprintf("Two calls of %s may both find %s open and both close it, which panics.", c.functionName(op),
					c.describe(op, poll)))
		} else if send := c.findSend(op); send != nil {
			c.report(send, op, "may be sent on when it is closed",
				fmt.Sprintf("%s may run while %s closes the channel; to send on a closed channel panics.", c.functionName(send),
					c.functionName(op)))
		}
	}
	r.ReportWaits(pass.ResultOf[waits.Analyzer].(*waits.Result))
}

type checker struct {
	list     *syncops.List
	reporter *check.Reporter
	polls    map[holder][]*syncops.Op
}

func (c *checker) functionName(op *syncops.Op) string {
	return c.list.Prog.FuncName(c.list.Function(op))
}

// polled returns the look at the channel, by a select with a default, on which
// its close depends, or that at another one which says the same: the function closes that as well, once for all calls.
//
//	if s.isStopped() { return }
//	s.once.Do(func() { close(s.stop) })
//	close(s.jobs)
func (c *checker) polled(op *syncops.Op) *syncops.Op {
	for _, o := range c.polls[holderOf(op)] {
		if o.Key == op.Key && o.Path != op.Path && o.Fn == op.Fn || o.Key != op.Key && !c.closesToo(op, o) {
			continue
		}
		if o.Fn != op.Fn && c.polledBefore(op, o) {
			return o
		}
		if o.Fn == op.Fn && o.Path.Owner() == op.Path.Owner() && o.Instr.Block() != op.Instr.Block() &&
			o.Instr.Block().Dominates(op.Instr.Block()) {
			return o
		}
	}
	return nil
}

// holder names the type that holds a channel; of a package variable, the package.
type holder struct{ pkg, typ string }

func holderOf(op *syncops.Op) holder { return holder{op.Key.Name.Package, op.Key.Name.Type} }

// closesToo reports whether the function of op closes the channel of o in a literal, as that of a Once.
func (c *checker) closesToo(op, o *syncops.Op) bool {
	return slices.ContainsFunc(c.list.ByKey[o.Key], func(x *syncops.Op) bool {
		return x.Mode == finding.CloseChan && x.Fn.Parent() == op.Fn && !c.list.Free(x)
	})
}

// polledBefore reports whether a branch that leads to op asks a callee, which polls by o:
//
//	if s.isClosed() { return }
//	close(s.done)
func (c *checker) polledBefore(op, o *syncops.Op) bool {
	param := o.Path.Param(o.Fn)
	return param >= 0 && slices.ContainsFunc(c.list.Graph.Sites(o.Fn), func(s callgraph.Site) bool {
		if s.Caller != op.Fn || s.Mode != callgraph.Call || param >= len(s.Args) {
			return false
		}
		asked := accesspath.Of(s.Args[param]).Plus(o.Path.Fields)
		if o.Key == op.Key && asked != op.Path || asked.Owner() != op.Path.Owner() {
			return false
		}
		from := s.Instr.Block()
		answer, _ := s.Instr.(*ssa.Call)
		return from != op.Instr.Block() && from.Dominates(op.Instr.Block()) && branchesOn(from, answer)
	})
}

// branchesOn reports whether the block ends with a branch on the answer of a call, or on its opposite.
func branchesOn(b *ssa.BasicBlock, answer *ssa.Call) bool {
	branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok || answer == nil {
		return false
	}
	cond := branch.Cond
	if not, ok := cond.(*ssa.UnOp); ok {
		cond = not.X
	}
	return cond == answer
}

// findSend returns a send that nothing keeps from coming after the close.
func (c *checker) findSend(op *syncops.Op) *syncops.Op {
	if !c.list.MeantForMany(op) {
		return nil
	}
	for _, o := range c.list.ByKey[op.Key] {
		if o.Mode == finding.Send && o.Alone && c.list.Function(o) != c.list.Function(op) && c.list.Free(o) &&
			unasked(o) && unasked(op) {
			return o
		}
	}
	return nil
}

// unasked reports whether op happens in every call, whatever the state is,
// and nothing recovers from its panic.
func unasked(op *syncops.Op) bool { return !syncops.IsAsked(op.Instr) && op.Fn.Recover == nil }

// describe names the channel of poll, to a reader of a finding about op.
func (c *checker) describe(op, poll *syncops.Op) string {
	if poll.Key == op.Key {
		return "it"
	}
	return check.ShortName(c.list.Variable(poll))
}

func (c *checker) report(op, other *syncops.Op, what, why string) {
	prog := c.list.Prog
	v := c.list.Variable(op)
	f := &finding.Finding{
		Title:    check.ShortName(v) + " " + what,
		Message:  why,
		Variable: v,
		Accesses: []finding.Access{
			check.SideAt(prog, op.Fn, op.Pos, op.Mode, op.Path.String()),
			check.SideAt(prog, other.Fn, other.Pos, other.Mode, other.Path.String()),
		},
	}
	c.reporter.ReportAt(f, op.Pos, check.Note{Pos: other.Pos, Text: string(other.Mode) + " here"})
}

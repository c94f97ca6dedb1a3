package closerace

import (
	_ "embed"
	"fmt"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
)

//go:embed doc.go
var doc string

// Analyzer reports channels that may be closed twice or sent on when closed.
var Analyzer = check.New("closerace", finding.CloseRaces, doc, run, syncops.Analyzer, waits.Analyzer)

func run(pass *analysis.Pass, r *check.Reporter) {
	c := &checker{pass.ResultOf[syncops.Analyzer].(*syncops.List), r}
	for _, op := range c.list.All {
		if op.Mode != finding.CloseChan || !c.isFree(op) {
			continue
		}
		if poll := c.polled(op); poll != nil {
			c.report(op, poll, "may be closed twice",
				fmt.Sprintf("Two calls of %s may both find it open and both close it, which panics.", c.functionName(op)))
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
}

// isFree reports whether any goroutine may do op at any time: in an exported
// function, on something that was there before the call, without a lock.
func (c *checker) isFree(op *syncops.Op) bool {
	_, own := op.Path.Root.(*ssa.Parameter)
	_, global := op.Path.Global()
	return c.list.Graph.Open(c.function(op)) && op.Locks.Free() && (own || global) && op.Key.Name.Field != ""
}

// function returns the declared function in every call of which op happens: the
// literals around it are called, or deferred, where they stand.
func (c *checker) function(op *syncops.Op) *ssa.Function {
	fn := op.Fn
	for fn.Parent() != nil && c.calledInPlace(fn) {
		fn = fn.Parent()
	}
	return fn
}

func (c *checker) calledInPlace(literal *ssa.Function) bool {
	sites := c.list.Graph.Sites(literal)
	return len(sites) > 0 && !slices.ContainsFunc(sites, func(s callgraph.Site) bool {
		return s.Mode == callgraph.Go || s.Through != nil || s.Caller != literal.Parent() || isAskedFor(s.Instr)
	})
}

func (c *checker) functionName(op *syncops.Op) string { return c.list.Prog.FuncName(c.function(op)) }

// polled returns the look at the channel, by a select with a default, on which
// its close depends.
func (c *checker) polled(op *syncops.Op) *syncops.Op {
	for _, o := range c.list.ByKey[op.Key] {
		if o.Mode == finding.Receive && o.Polls && o.Fn == op.Fn && o.Path == op.Path &&
			o.Instr.Block() != op.Instr.Block() && o.Instr.Block().Dominates(op.Instr.Block()) {
			return o
		}
		if o.Mode == finding.Receive && o.Polls && o.Fn != op.Fn && c.polledBefore(op, o) {
			return o
		}
	}
	return nil
}

// polledBefore reports whether a branch that leads to op asks a callee, which polls by o:
//
//	if s.isClosed() { return }
//	close(s.done)
func (c *checker) polledBefore(op, o *syncops.Op) bool {
	param := o.Path.Param(o.Fn)
	return param >= 0 && slices.ContainsFunc(c.list.Graph.Sites(o.Fn), func(s callgraph.Site) bool {
		if s.Caller != op.Fn || s.Mode != callgraph.Call || param >= len(s.Args) ||
			accesspath.Of(s.Args[param]).Plus(o.Path.Fields) != op.Path {
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
	if !c.meantForMany(op) {
		return nil
	}
	for _, o := range c.list.ByKey[op.Key] {
		if o.Mode == finding.Send && o.Alone && c.function(o) != c.function(op) && c.isFree(o) && unasked(o) && unasked(op) {
			return o
		}
	}
	return nil
}

// meantForMany reports whether the struct that holds the channel has a lock:
// then its methods are meant to be called by several goroutines.
func (c *checker) meantForMany(op *syncops.Op) bool {
	pkg := c.list.Prog.Pkg.Pkg
	if i := slices.IndexFunc(pkg.Imports(),
		func(p *types.Package) bool { return p.Path() == op.Key.Name.Package }); i >= 0 {
		pkg = pkg.Imports()[i]
	}
	obj := pkg.Scope().Lookup(op.Key.Name.Type)
	if obj == nil || op.Key.Name.Package != pkg.Path() {
		return false
	}
	st, ok := obj.Type().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range st.Fields() {
		if lockset.IsLock(f.Type()) {
			return true
		}
	}
	return false
}

// unasked reports whether op happens in every call, whatever the state is,
// and nothing recovers from its panic.
func unasked(op *syncops.Op) bool { return !isAskedFor(op.Instr) && op.Fn.Recover == nil }

func isAskedFor(instr ssa.Instruction) bool {
	for b := instr.Block().Idom(); b != nil; b = b.Idom() {
		if _, asks := b.Instrs[len(b.Instrs)-1].(*ssa.If); asks {
			return true
		}
	}
	return false
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

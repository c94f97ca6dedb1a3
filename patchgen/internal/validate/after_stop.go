package validate

import (
	"go/ast"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// afterStop judges the code after a send that has become a case beside a stop. Where the stop leaves the function, that
// code is left out, and nobody may wait for it; where it does not, the code runs although nothing was received.
//
//	select {
//	case res <- v:
//	case <-stop:
//		return
//	}
//	<-f.slots	// for which the next call waits
func (j *judge) afterStop() {
	handovers := facts.NewSearch(j.now.lookHandover)
	for _, p := range j.now.Packages {
		known := j.selects(j.old, j.old.Package(p.Path))
		for _, x := range slices.Concat(slices.Collect(maps.Values(j.selects(j.now, p)))...) {
			if len(known[x.text]) > 0 {
				known[x.text] = known[x.text][1:]
				continue
			}
			i := slices.IndexFunc(p.IR.Funcs, func(fn *ssa.Function) bool { return fn.Syntax() == x.function })
			if i < 0 {
				continue
			}
			for sel := range ir.Instructions(p.IR.Funcs[i]) {
				if sel, ok := sel.(*ssa.Select); ok && x.stmt.Pos() <= sel.Pos() && sel.Pos() < x.stmt.End() {
					j.after(x, sel, handovers)
				}
			}
		}
	}
}

// after judges what the select leads to, and what does not lead back to it.
func (j *judge) after(x selectIn, sel *ssa.Select, handovers *facts.Search) {
	// Whether the case of the stop leaves the function.
	leaves := slices.ContainsFunc(x.stmt.Body.List, func(c ast.Stmt) bool {
		body := c.(*ast.CommClause).Body
		if len(body) == 0 {
			return false
		}
		_, returns := body[len(body)-1].(*ast.ReturnStmt)
		return returns
	})
	flow := x.pkg.IR.Flow(sel.Parent())
	for instr := range ir.Instructions(sel.Parent()) {
		if !flow.Leads(sel, instr) || instr == ssa.Instruction(sel) {
			continue
		}
		if what := handovers.Does(instr); what != "" && leaves {
			j.add("unblocked", "others may wait for it to come to %s, where it %s", at(x.pkg, instr), what)
			continue
		}
		// What is deferred is done in any case, and the next round is the next value's.
		_, isDefer := instr.(*ssa.Defer)
		_, runs := instr.(*ssa.RunDefers)
		if isDefer || runs || flow.Leads(instr, sel) {
			continue
		}
		what := j.now.Lasts(instr)
		switch {
		case !leaves && facts.Waiting(instr) != "" && !isSentAround(x.pkg, instr):
			j.doubt(place{x.pkg, instr}, finding.Heavy, "unblocked", "it waits for ever if only the receiver answers",
				"after the stop it comes to %s as well, where it waits", at(x.pkg, instr))
		case what == "":
		case leaves:
			j.doubt(place{x.pkg, instr}, finding.Heavy, "unblocked", "it stays undone when nobody receives",
				"the stop leaves %s out, where it %s", at(x.pkg, instr), what)
		case handovers.Does(instr) == "":
			j.doubt(place{x.pkg, instr}, finding.Light, "unblocked", "it is wrong if it is only for what was received",
				"after the stop it comes to %s as well, where it %s", at(x.pkg, instr), what)
		}
	}
}

// isSentAround reports whether a receive is from a channel on which the declared function around it sends: it takes
// back what was put there.
//
//	f.slots <- struct{}{}
//	go func() { defer …; res <- v; <-f.slots }()
func isSentAround(p *session.Package, receive ssa.Instruction) bool {
	for _, op := range p.Ops.All {
		if op.Instr == receive {
			return slices.ContainsFunc(p.Ops.ByKey[op.Key], func(other *syncops.Op) bool {
				return other.Mode == finding.Send && ir.Outermost(other.Fn) == ir.Outermost(op.Fn)
			})
		}
	}
	return false
}

package endpoints

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// renews reports whether u is the call of a function that makes a new value
// whether there is one or not, and that others call too.
func (c *checker) renews(u *event) bool {
	call, ok := u.at.(*ssa.Call)
	if !ok || !u.call || u.value != nil {
		return false
	}
	fn, _ := callgraph.Target(call.Common())
	return fn != nil && (c.list.Graph.Open(fn) || len(c.list.Graph.Sites(fn)) > 1)
}

// accounted reports whether the change u is made up of the value of t, or of a value found in the same critical
// section.
func (f *function) accounted(t, u *event) bool {
	if u.amount == nil {
		return false
	}
	for r := range f.testsBehind(u.amount) {
		if r.name == t.name && (r == t || sameRegion(r, t)) {
			return true
		}
	}
	return false
}

// dependsOn reports whether v is part, or is computed from it.
func dependsOn(v, part ssa.Value) bool { return ir.DependsOn(v, part, carries) != ir.Stops }

func carries(instr ssa.Instruction) ir.Carry {
	switch instr := instr.(type) {
	case *ssa.BinOp, *ssa.UnOp, *ssa.Convert, *ssa.ChangeType, *ssa.Phi:
		return ir.Computes
	case *ssa.Call:
		if b, ok := instr.Call.Value.(*ssa.Builtin); ok && b.Name() == "len" {
			return ir.Computes
		}
	}
	return ir.Stops
}

// keepsOthersOut reports whether the critical section of t sets a variable that decides with its former value
// too, on every way to u, or on every way from t to u, so that the next goroutine turns back:
//
//	if c.closing { return }; c.closing = true
func (f *function) keepsOthersOut(t, u *event) bool {
	f.spendSteps(len(f.events))
	return slices.ContainsFunc(f.events, func(w *event) bool {
		if !w.op.writes() || w.call || !sameRegion(t, w) || !f.between(t, w, u) {
			return false
		}
		if w.op == swap {
			v, ok := w.at.(ssa.Value)
			return ok && answered(v)
		}
		return slices.ContainsFunc(f.byName[w.name], func(r *event) bool {
			return r.op == read && r.inMap == w.inMap && sameRegion(r, w) && f.askedItself(r)
		})
	})
}

// between reports whether every way to u comes to w, or every way to it from the branch behind t.
func (f *function) between(t, w, u *event) bool {
	from, by, to := t.at.Block(), w.at.Block(), u.at.Block()
	return by.Dominates(to) || by != from && f.flow.Leads(t.at, w.at) && !reachableBlocks(from, by)[to]
}

// handedOn reports whether v, which was found, is given to somebody on the way to
// the use, or a method of it is called: a second goroutine would do that again.
func handedOn(v ssa.Value, p pair) bool {
	if _, ok := v.Type().Underlying().(*types.Basic); ok {
		return false
	}
	return slices.ContainsFunc(*v.Referrers(), func(ref ssa.Instruction) bool {
		_, isCall := ref.(*ssa.Call)
		return isCall && p.only[ref.Block()]
	})
}

// followed reports whether v, a pointer, is followed without being asked whether it is nil.
func followed(v ssa.Value) bool {
	hit := false
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.FieldAddr:
			hit = hit || ref.X == v
		case *ssa.Call:
			hit = hit || ref.Call.IsInvoke() && ref.Call.Value == v
		case *ssa.BinOp:
			return false
		}
	}
	return hit
}

// indexed reports whether elements of the list v are accessed.
func indexed(v ssa.Value) bool {
	return slices.ContainsFunc(*v.Referrers(), func(ref ssa.Instruction) bool {
		at, ok := ref.(*ssa.IndexAddr)
		return ok && at.X == v
	})
}

// effect reports whether the side of the branch that leads to the use does
// anything else that others may see: then it is not the same to do it twice.
func (c *checker) effect(f *function, p pair) bool {
	for b := range p.only {
		for _, instr := range b.Instrs {
			if instr == p.use.at {
				continue
			}
			switch instr := instr.(type) {
			case *ssa.Go, *ssa.Send, *ssa.Select:
				return true
			case *ssa.Call:
				if c.visible(instr) && !f.asksItself(instr, p.test) {
					return true
				}
			}
		}
	}
	return false
}

// visible reports whether a call may do something that others see.
func (c *checker) visible(call *ssa.Call) bool {
	common := call.Common()
	if b, ok := common.Value.(*ssa.Builtin); ok {
		return b.Name() == "close"
	}
	if common.IsInvoke() {
		return !lockset.IsLock(common.Value.Type()) && !knowledge.QuietName(common.Method.Name())
	}
	fn, _ := callgraph.Target(common)
	if fn == nil {
		return true
	}
	if fn.Pkg == nil && fn.Object() == nil {
		return true
	}
	if knowledge.QuietName(fn.Name()) {
		return false
	}
	return !knowledge.QuietPackage(ir.PackagePath(fn))
}

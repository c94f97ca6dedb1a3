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

// harm says what a second goroutine that comes in between would do, as far as
// that is visible; "" if nothing is.
func (c *checker) harm(f *function, p pair) string {
	t, u, present := p.test, p.use, p.present()
	compared := p.out.Compares || p.out.Length || p.out.Computed
	switch u.op {
	case grow, shrink:
		if p.out.Computed && !p.out.Compares || f.accounted(t, u) || u.op == grow && f.soft(p) {
			return ""
		}
		return u.op.verb()
	case insert:
		if p.out.Length && p.out.Compares {
			return "added to"
		}
		if sameKey(t.key, u.key) && present <= 0 && !compared && (u.made || c.distinct(u.value)) {
			return "made"
		}
	case set:
		if p.out.Ordered && greater(p.branch.at.Cond, u.value) {
			return "set" // to the greater or the smaller of two
		}
		if present < 0 && !compared && (u.made || c.distinct(u.value)) && !c.renews(u) {
			return "made"
		}
	case mark:
		if u.inMap && p.out.Length && p.out.Compares {
			return "added to"
		}
		if u.inMap && !sameKey(t.key, u.key) || present > 0 || p.out.Length || p.out.Computed {
			return ""
		}
		if c.effect(f, p) {
			return "set"
		}
	case reset:
		if present > 0 && !compared && !u.inMap && !u.call && !t.call && p.gap == unlock && handedOn(t.own.Value, p) {
			return "cleared"
		}
	case remove:
		if sameKey(t.key, u.key) && (p.out.Inside || present > 0 && c.effect(f, p)) {
			return "removed"
		}
	case read:
		return c.readHarm(p)
	}
	return ""
}

// renews reports whether u calls a function that makes a new value whether there
// is one or not, and that others call too: creating it twice is harmless.
func (c *checker) renews(u *event) bool {
	call, ok := u.at.(*ssa.Call)
	if !ok || !u.call || u.value != nil {
		return false
	}
	fn, _ := callgraph.Target(call.Common())
	return fn != nil && (c.list.Graph.Open(fn) || len(c.list.Graph.Sites(fn)) > 1)
}

// accounted: the change is made up of what was found (n := x; …; x -= n), so
// that changes in between stay.
func (f *function) accounted(t, u *event) bool {
	if u.amount == nil {
		return false
	}
	for r := range f.tests(u.amount) {
		if r.name == t.name && (r == t || sameRegion(r, t)) {
			return true
		}
	}
	return false
}

// soft reports whether the limit is approximate: the amount added varies and the
// test ignores it, so the limit may be exceeded in any case.
func (f *function) soft(p pair) bool {
	a := p.use.amount
	return p.use.varying() && (a == nil || !dependsOn(p.branch.at.Cond, a))
}

// greater reports whether cond compares v itself with something by size.
func greater(cond, v ssa.Value) bool {
	b, ok := cond.(*ssa.BinOp)
	return ok && v != nil && (plain(b.X) == plain(v) || plain(b.Y) == plain(v))
}

// dependsOn reports whether v is computed from part.
func dependsOn(v, part ssa.Value) bool {
	seen := map[ssa.Value]bool{}
	var from func(v ssa.Value) bool
	from = func(v ssa.Value) bool {
		if v == part {
			return true
		}
		instr, ok := v.(ssa.Instruction)
		if !ok || seen[v] {
			return false
		}
		seen[v] = true
		switch v.(type) {
		case *ssa.BinOp, *ssa.UnOp, *ssa.Convert, *ssa.ChangeType, *ssa.Phi:
		default:
			return false
		}
		return slices.ContainsFunc(instr.Operands(nil), func(op *ssa.Value) bool { return *op != nil && from(*op) })
	}
	return from(v)
}

// claims: in the critical section of t something is set whose former value
// decides too (if c.closing { return }; c.closing = true), on every way to u, so
// that whoever comes next turns back.
func (f *function) claims(t, u *event) bool {
	f.spend(len(f.events))
	return slices.ContainsFunc(f.events, func(w *event) bool {
		if !w.op.writes() || w.call || !sameRegion(t, w) || !w.at.Block().Dominates(u.at.Block()) {
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

// handedOn: what was found is given to somebody on the way to the use, or a
// method of it is called: a second goroutine would do that again.
func handedOn(v ssa.Value, p pair) bool {
	if _, ok := v.Type().Underlying().(*types.Basic); ok {
		return false
	}
	return slices.ContainsFunc(*v.Referrers(), func(ref ssa.Instruction) bool {
		_, isCall := ref.(*ssa.Call)
		return isCall && p.only[ref.Block()]
	})
}

// readHarm: what was found there is used as if it were there still.
func (c *checker) readHarm(p pair) string {
	u := p.use
	if u.call || u.atomic || p.present() <= 0 && !(p.out.Length && p.out.Compares) || p.gap != unlock {
		return ""
	}
	switch instr := u.at.(type) {
	case *ssa.Lookup:
		if !instr.CommaOk && sameKey(p.test.key, u.key) && followed(instr) {
			return "followed"
		}
	case *ssa.UnOp:
		switch {
		case p.out.Length && indexed(instr):
			return "indexed"
		case !p.out.Length && followed(instr):
			return "followed"
		}
	}
	return ""
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
	return !knowledge.QuietPackage(packageOf(fn))
}

func packageOf(fn *ssa.Function) string {
	if obj := fn.Object(); obj != nil && obj.Pkg() != nil {
		return obj.Pkg().Path()
	}
	if p := ir.Outermost(fn).Package(); p != nil {
		return p.Pkg.Path()
	}
	return ""
}

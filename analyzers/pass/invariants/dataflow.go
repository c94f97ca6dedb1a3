package invariants

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

type accessOf = accesses.Access

// dataFlow has the values of a function that are computed from the value of one event.
type dataFlow struct {
	body  *body
	from  *event
	found map[ssa.Value]bool // nil until somebody asks
	ifs   []*ssa.If          // that depend on it
}

// values returns the values computed from the event.
func (d *dataFlow) values() map[ssa.Value]bool {
	if d.found != nil {
		return d.found
	}
	d.found = map[ssa.Value]bool{}
	if v, ok := d.from.at.(ssa.Value); ok {
		d.follow(v)
	}
	if v := d.from.a.Value; v != nil && d.from.call == nil && !d.from.a.Writes() {
		d.follow(v)
	}
	return d.found
}

// follow adds the values computed from v.
func (d *dataFlow) follow(v ssa.Value) {
	if d.found[v] || v.Referrers() == nil || len(d.found) >= knowledge.ValuesFollowed {
		return
	}
	d.found[v] = true
	d.body.work.Spend(len(*v.Referrers()))
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.If:
			d.ifs = append(d.ifs, ref)
		case *ssa.Store:
			if ref.Val == v {
				d.followLocal(ref.Addr)
			}
		case *ssa.MapUpdate:
			if ref.Map != v {
				d.followLocal(ref.Map)
			}
		case ssa.Value:
			d.follow(ref)
		}
	}
}

// followLocal adds the local variable, or the object made here, that a value is stored in.
func (d *dataFlow) followLocal(place ssa.Value) {
	switch object := ir.Root(place, ir.Field|ir.Element).(type) {
	case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice:
		d.follow(object)
	}
}

// isUsed reports whether the value read has a use.
func (d *dataFlow) isUsed() bool {
	for v := range d.values() {
		if len(*v.Referrers()) > 0 {
			return true
		}
	}
	return false
}

// decides reports whether a condition on the value read decides whether u is made.
func (d *dataFlow) decides(u *event) bool {
	d.values()
	return slices.ContainsFunc(d.ifs, func(branch *ssa.If) bool {
		b := branch.Block()
		return b != u.at.Block() && leadsTo(b.Succs[0], u.at.Block(), b) != leadsTo(b.Succs[1], u.at.Block(), b)
	})
}

// leadsTo reports whether control may come from one block to another without passing through a third.
func leadsTo(from, to, avoid *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{}
	var walk func(b *ssa.BasicBlock) bool
	walk = func(b *ssa.BasicBlock) bool {
		if b == to {
			return true
		}
		if seen[b] || b == avoid {
			return false
		}
		seen[b] = true
		return slices.ContainsFunc(b.Succs, walk)
	}
	return walk(from)
}

// isStored reports whether u stores a value computed from the one read.
func (d *dataFlow) isStored(u *event) bool {
	if !u.a.Writes() {
		return false
	}
	if u.call == nil {
		return u.a.Value != nil && d.values()[u.a.Value]
	}
	i := argument(u, u.a.Value)
	return i != nil && d.values()[i]
}

// chooses reports whether u accesses the entry or element that the value read names, or is a call that is
// handed it.
func (d *dataFlow) chooses(u *event) bool {
	if u.call == nil {
		return u.a.Index != nil && d.values()[u.a.Index] || slices.ContainsFunc(indexesOf(u.at), func(v ssa.Value) bool {
			return d.values()[v]
		})
	}
	call, ok := u.at.(*ssa.Call)
	return ok && slices.ContainsFunc(call.Call.Args, func(v ssa.Value) bool { return d.values()[v] })
}

// indexesOf lists the indexes of the elements that are accessed of a list which an instruction loads.
func indexesOf(instr ssa.Instruction) (list []ssa.Value) {
	load, ok := instr.(*ssa.UnOp)
	if !ok {
		return nil
	}
	for _, ref := range *load.Referrers() {
		if at, ok := ref.(*ssa.IndexAddr); ok && at.X == load {
			list = append(list, at.Index)
		}
	}
	return list
}

// argument returns the caller's argument for a parameter of the callee that has the access, or nil.
func argument(u *event, of ssa.Value) ssa.Value {
	call, isCall := u.at.(*ssa.Call)
	param, isParam := of.(*ssa.Parameter)
	if !isCall || !isParam || call.Call.IsInvoke() {
		return nil
	}
	for i, p := range u.a.Fn.Params {
		if p == param && i < len(call.Call.Args) && call.Call.StaticCallee() != nil {
			return call.Call.Args[i]
		}
	}
	return nil
}

package validate

import (
	"go/constant"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// setApart doubts a patch that leaves two steps on both sides: a function sets the variable and another field of its
// object, another one reads the variable and then comes to the field, by getters and setters too, and neither has the
// two in one region.
//
//	func (b *Bar) Reset(n int)  { b.setTotal(n); b.setCurrent(0) }
//	func (b *Bar) ratio() int   { return b.Current() / b.Total() }	// of the old job and the new one
func (j *judge) setApart() {
	s := j.now
	if s.claim.Variable.Type == "" {
		return
	}
	setters := j.pairs(true)
	if len(setters) == 0 {
		return
	}
	readers := j.pairs(false)
	for _, set := range setters {
		i := slices.IndexFunc(readers, func(r fieldPair) bool {
			return r.other == set.other && r.instr.Parent() != set.instr.Parent() && (r.isTouched || set.isTouched)
		})
		if i < 0 {
			continue
		}
		read := readers[i]
		j.doubt(set.place, finding.Heavy, "set apart", "it may find one of the two set",
			"%s sets %s and %s in two steps, and %s comes to both (%s)", short(declared(set.pkg, set.instr.Parent())),
			s.claim.Variable, set.other, short(declared(read.pkg, read.instr.Parent())), at(read.pkg, read.instr))
		return
	}
}

// fieldPair is a function that comes to the claim's variable and to another field of its object in two steps.
type fieldPair struct {
	place            // of the other one
	other     string // Type.Field
	isTouched bool   // the patch touches the function that accesses the variable
}

// pairs lists the functions that write the variable and another field in two steps, or that read the variable and come
// to the other field.
func (j *judge) pairs(write bool) (list []fieldPair) {
	for _, p := range j.now.packages() {
		for _, fn := range p.IR.Funcs {
			if p.IR.InTest(fn) || isTestOf(p, fn) {
				continue
			}
			parts := j.now.fieldParts(p, fn, 0)
			for _, v := range parts {
				for _, w := range parts {
					isApart := v.own && !w.own && v.write == write && (w.write || !write) && v.region != w.region &&
						v.base.Root != nil && v.base == w.base && !(v.isZero() && w.isZero())
					if isApart && (write && j.now.isNext(p, v, w) || !write && v.meets(w)) {
						by := v.instr.Parent()
						if v.inner != nil {
							by = v.inner.Parent()
						}
						list = append(list, fieldPair{place{p, w.instr}, w.name, j.touched[declared(j.now.Of(by), by)]})
					}
				}
			}
		}
	}
	return list
}

// meets reports whether a read of the variable and an access to the other field decide about each other, or something
// is made of both.
func (x part) meets(y part) bool {
	if x.value == nil {
		return false
	}
	a := facts.Decided(x.value)
	if y.value == nil {
		return a.Controls(y.instr.Block())
	}
	b := facts.Decided(y.value)
	if a.Controls(y.instr.Block()) || b.Controls(x.instr.Block()) {
		return true
	}
	for instr := range ir.Instructions(x.instr.Parent()) {
		if a.Feeds(instr) && b.Feeds(instr) {
			return true
		}
	}
	return false
}

// isZero reports whether a write is of the number 0, as by a reset.
func (x part) isZero() bool {
	at := x.instr
	if x.inner != nil {
		at = x.inner
	}
	var v ssa.Value
	switch at := at.(type) {
	case *ssa.Store:
		v = at.Val
	case *ssa.Call:
		v = at.Call.Args[len(at.Call.Args)-1]
	}
	c, ok := v.(*ssa.Const)
	return ok && x.write && c.Value != nil && constant.Sign(constant.ToInt(c.Value)) == 0 && c.Value.Kind() == constant.Int
}

// fieldParts lists the accesses of fn to fields of the type that declares the claim's variable, plain and atomic ones,
// and those of its callees, as far down as maxCallees. A region of any lock is one step.
func (s *side) fieldParts(p *session.Package, fn *ssa.Function, depth int) (parts []part) {
	key := atomicsIn{fn, depth}
	if known, ok := s.inFields[key]; ok {
		return known
	}
	p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) {
		var found []part
		if x, ok := s.fieldPart(p, instr); ok {
			found = []part{x}
		} else if call, ok := instr.(*ssa.Call); ok && depth < maxCallees {
			found = s.inCaller(call, func(fn *ssa.Function) []part { return s.fieldParts(s.Of(fn), fn, depth+1) })
		}
		for _, h := range st.Held() {
			if h.Since != nil && h.Since.Parent() == fn {
				for i := range found {
					found[i].region = h.Since
				}
				break
			}
		}
		parts = append(parts, found...)
	})
	s.inFields[key] = parts
	return parts
}

// fieldPart recognises an access to a field of the variable's type, of an object that others may know.
func (s *side) fieldPart(p *session.Package, instr ssa.Instruction) (part, bool) {
	x := part{instr: instr, region: instr, tests: true}
	var addr ssa.Value
	switch instr := instr.(type) {
	case *ssa.UnOp:
		addr, x.value = instr.X, instr
	case *ssa.Store:
		addr, x.write = instr.Addr, true
	case *ssa.MapUpdate:
		addr, x.write = ir.Address(instr.Map), true
	case *ssa.Call:
		if addr = order.On(instr, order.Atomics); addr == nil {
			return x, false
		}
		if x.write = !isLoad(instr); !x.write {
			x.value = instr
		}
	}
	field, ok := addr.(*ssa.FieldAddr)
	v := s.claim.Variable
	if !ok || !isNamed(field.X.Type(), v.Package, v.Type) || p.Owners.Proven().Of(field.X, instr) == ownership.Fresh {
		return x, false
	}
	name, ok := accesspath.NameOf(field)
	x.name, x.own, x.base = v.Type+"."+name.Field, name.Field == v.Name, pathOf(field.X)
	return x, ok
}

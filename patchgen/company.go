package patchgen

import (
	"go/ast"
	"go/types"
)

// company finds accesses of other variables under the lock class that share a
// function with accesses to cover.
type company struct {
	p    *problem
	lock *knownLock
	vars map[string]*mate
}

// mate is a variable that the lock guards too: it is written under it. nil
// stands for one that it does not guard.
type mate struct {
	t    *target
	accs []*access
	lock *knownLock
}

// joinIn adds to a cover the accesses of other variables without the lock
// that an access of the cover decides about, or that decide about one; and
// notes those that hold it already.
func (k *company) joinIn(c *cover) {
	own := c.in(c.f.body)
	for _, m := range k.in(c.f) {
		for _, a := range m.accs {
			if a.mode == address || a.mode == atomicOp || a.outermost() != c.f {
				continue
			}
			text, _, err := m.lock.expr(a)
			if err != nil || text != c.lock {
				continue
			}
			if k.held(m, a) {
				c.under = append(c.under, a)
			} else if c.linked(a, own) {
				c.acc[a.expr] = a
			}
		}
	}
	lone := &mate{t: k.p.t, lock: k.lock}
	for _, a := range k.p.protectable() {
		if a.outermost() == c.f && c.acc[a.expr] == nil && k.held(lone, a) {
			c.under = append(c.under, a)
		}
	}
}

func (k *company) held(m *mate, a *access) bool {
	_, maybe := m.lock.heldIn(k.p.m.lockFlow().at(a.fn, a.expr).may, a)
	return maybe
}

func (c *cover) linked(a *access, own []*access) bool {
	for _, b := range own {
		if c.decides(a, b) || c.decides(b, a) {
			return true
		}
	}
	return false
}

// outermost is the function whose regions an access belongs to: literals that
// run on the spot are part of what is around them.
func (a *access) outermost() *fn {
	f := a.fn
	for f != nil && f.outer != nil && f.unit.runsAt(f) != nil {
		f = f.outer
	}
	return f
}

// in lists the variables accessed in f that the lock guards too.
func (k *company) in(f *fn) []*mate {
	var out []*mate
	seen := map[string]bool{}
	ast.Inspect(f.body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		e, obj := f.unit.varOf(id)
		if obj == nil || f.unit.pkg.info.Defs[id] != nil {
			return true
		}
		key := objKey(k.p.m, obj)
		if key == k.p.t.key || seen[key] {
			return true
		}
		seen[key] = true
		if m := k.mate(key, obj, f.unit, e); m != nil {
			out = append(out, m)
		}
		return true
	})
	return out
}

// mate looks a variable up, or at all its accesses in the module.
func (k *company) mate(key string, obj *types.Var, u *unit, e ast.Expr) *mate {
	if m, known := k.vars[key]; known {
		return m
	}
	k.vars[key] = nil
	t := k.p.m.newTarget(obj, u, e)
	if lockable(obj.Type()) || !k.beside(t) {
		return nil
	}
	t.deep = isMap(obj.Type()) || k.p.m.mutatedInPlace(t)
	p := &problem{m: k.p.m, t: t, accs: k.p.m.accesses(t)}
	lock := *k.lock
	lock.p = p
	m := &mate{t: t, accs: p.protectable(), lock: &lock}
	for _, a := range m.accs {
		if h, held := lock.heldIn(p.heldAt(a), a); held && !h.read && a.mode.writes() {
			k.vars[key] = m
		}
	}
	return k.vars[key]
}

// beside reports whether a variable lies where the lock or the protected
// variable lies.
func (k *company) beside(t *target) bool {
	switch {
	case t.owner != nil:
		return sameNamed(t.owner, k.lock.owner) || sameNamed(t.owner, k.p.t.owner)
	case t.obj.IsField():
		return false
	case isGlobal(t.obj):
		return k.lock.owner == nil && k.lock.local == nil && t.obj.Pkg().Path() == k.lock.pkg.Path()
	}
	return k.lock.local != nil && t.fn == k.p.t.fn
}

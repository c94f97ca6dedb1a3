package patchgen

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// claim is what a patch that takes a lock promises: every access of the
// variable but those left alone happens under the lock.
type claim struct {
	t     *target
	class string // of the lock; localClass and its name for a local
	left  int
}

// check looks whether the patched module keeps the promise. It finds the
// variable there anew and uses nothing of how the patch was made.
func (cl *claim) check(patched *Module) error {
	t := patched.sameTarget(cl.t)
	if t == nil {
		return fmt.Errorf("%s is not there any more", cl.t)
	}
	p := &problem{m: patched, t: t, accs: patched.accesses(t)}
	fl := patched.lockFlow()
	var open []*access
	for _, a := range p.protectable() {
		if !cl.holds(fl.at(a.fn, a.expr).must, a.mode.writes()) {
			open = append(open, a)
		}
	}
	if len(open) > cl.left {
		return fmt.Errorf("%s is accessed without %s: %s", t, short(cl.class), where(open))
	}
	return nil
}

func (cl *claim) holds(held holds, writes bool) bool {
	for key, h := range held {
		if writes && h.read {
			continue
		}
		name, isLocal := strings.CutPrefix(cl.class, localClass)
		if h.class == cl.class || isLocal && strings.HasPrefix(key, strings.SplitAfter(name, "@")[0]) {
			return true
		}
	}
	return false
}

// sameTarget finds the variable of another state of the module by name.
func (m *Module) sameTarget(old *target) *target {
	for _, q := range m.pkgs {
		if q.path != old.obj.Pkg().Path() {
			continue
		}
		if old.fn != nil {
			return m.sameLocal(old)
		}
		scope := q.types.Scope()
		if old.owner == nil {
			if v, ok := scope.Lookup(old.name).(*types.Var); ok {
				return &target{m: m, obj: v, key: objKey(m, v), name: v.Name(), deep: old.deep}
			}
			return nil
		}
		if tn, ok := scope.Lookup(old.owner.Obj().Name()).(*types.TypeName); ok {
			return fieldTarget(m, tn, old)
		}
	}
	return nil
}

func fieldTarget(m *Module, tn *types.TypeName, old *target) *target {
	st, ok := structOf(tn.Type())
	for i := 0; ok && i < st.NumFields(); i++ {
		if f := st.Field(i); f.Name() == old.name {
			return &target{m: m, obj: f, key: objKey(m, f), name: f.Name(), owner: named(tn.Type()), deep: old.deep}
		}
	}
	return nil
}

// sameLocal finds a local by its function and its ordinal among those of the
// same name there.
func (m *Module) sameLocal(old *target) *target {
	ordinal := -1
	for _, id := range definitions(old.fn.decl(), old.name) {
		ordinal++
		if objKey(old.m, old.fn.unit.pkg.info.Defs[id]) == old.key {
			break
		}
	}
	for _, f := range m.fns {
		if f.outer != nil || f.unit.path != old.fn.unit.path || f.name() != old.fn.decl().name() {
			continue
		}
		ids := definitions(f, old.name)
		if ordinal < 0 || ordinal >= len(ids) {
			return nil
		}
		obj, ok := f.unit.pkg.info.Defs[ids[ordinal]].(*types.Var)
		if !ok {
			return nil
		}
		return &target{m: m, obj: obj, key: objKey(m, obj), name: old.name, fn: m.declaring(f.unit, obj), deep: old.deep}
	}
	return nil
}

// definitions of variables called name within f, in order.
func definitions(f *fn, name string) (out []*ast.Ident) {
	ast.Inspect(f.node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			if _, isVar := f.unit.pkg.info.Defs[id].(*types.Var); isVar {
				out = append(out, id)
			}
		}
		return true
	})
	return out
}

// leaks counts, per function and lock class, the returns at which the lock
// may still be held although nothing deferred unlocks it.
func (m *Module) leaks() map[siteKey]int {
	fl := m.lockFlow()
	out := map[siteKey]int{}
	for _, f := range m.sortedFns() {
		g := fl.graphs[f]
		deferred := f.deferredUnlocks()
		for _, b := range g.Blocks {
			ret := b.Return()
			if !b.Live || ret == nil {
				continue
			}
			state, ok := fl.states[f][ast.Node(ret)]
			if !ok {
				continue
			}
			for class := range classes(state.may) {
				if !deferred[class] && !classes(fl.entry[f])[class] {
					out[siteKey{lockEdge{from: class}, f.unit.pkg.path + "." + f.name()}]++
				}
			}
		}
	}
	return out
}

func (f *fn) deferredUnlocks() map[string]bool {
	out := map[string]bool{}
	ast.Inspect(f.body, func(n ast.Node) bool {
		d, ok := n.(*ast.DeferStmt)
		if !ok {
			return true
		}
		ast.Inspect(d, func(x ast.Node) bool {
			if call, ok := x.(*ast.CallExpr); ok {
				if op, ok := f.unit.lockOp(call); ok && !op.acquire {
					out[op.place.class] = true
				}
			}
			return true
		})
		return false
	})
	return out
}

// leaksMore returns where a lock stays held that did not before.
func leaksMore(before, after map[siteKey]int) error {
	for s, n := range after {
		if n > before[s] {
			return fmt.Errorf("%s may stay locked when %s returns", short(s.from), s.fn)
		}
	}
	return nil
}

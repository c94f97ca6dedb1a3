package patchgen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// guard takes the lock that guards the variable elsewhere: the lock class
// held at most of its accesses, and at a write.
func guard(p *problem) (*patch, error) {
	need := p.protectable()
	for _, a := range p.accs {
		if a.mode == atomicOp {
			return nil, fmt.Errorf("%s is accessed atomically at %s: a lock would not exclude that", p.t, a.unit.at(a.expr))
		}
	}
	classes, reasons := p.guards(need), []string(nil)
	if len(classes) == 0 {
		return nil, fmt.Errorf("no lock is held at most accesses of %s", p.t)
	}
	for _, class := range classes {
		out, err := p.guardWith(class, need)
		if err == nil {
			return out, nil
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v", short(class), err))
	}
	return nil, fmt.Errorf("%s", strings.Join(reasons, "; "))
}

// guards lists lock classes, best first: held at a write, and at no less than
// half of the accesses or at one that a finding names.
func (p *problem) guards(need []*access) []string {
	count, writes, namedAt := map[string]int{}, map[string]bool{}, map[string]bool{}
	for _, a := range need {
		for class := range classes(p.heldAt(a)) {
			count[class]++
			writes[class] = writes[class] || a.mode.writes()
			namedAt[class] = namedAt[class] || p.named(a)
		}
	}
	var out []string
	for _, class := range slices.Sorted(maps.Keys(count)) {
		if writes[class] && (2*count[class] >= len(need) || namedAt[class]) {
			out = append(out, class)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return count[b] - count[a] })
	return out
}

func (p *problem) guardWith(class string, need []*access) (*patch, error) {
	lock, err := p.findLock(class)
	if err != nil {
		return nil, err
	}
	open, upgrade, err := p.unguarded(class, lock, need)
	if err != nil {
		return nil, err
	}
	out := &patch{}
	all := len(open)
	open, out.notes = p.reachable(open, lock)
	out.claim = &claim{t: p.t, class: class, left: all - len(open)}
	if len(open)+len(upgrade) == 0 {
		if all == 0 && p.patched {
			return out, nil
		}
		return nil, fmt.Errorf("it is held at every access already")
	}
	es := newEdits()
	if err := p.upgrade(es, class, upgrade); err != nil {
		return nil, err
	}
	notes, err := p.coverAll(es, open, lock.expr, lock.rw, &company{p: p, lock: lock, vars: map[string]*mate{}})
	if err != nil {
		return nil, err
	}
	out.notes = append(out.notes, notes...)
	if p.t.owner != nil && p.t.obj.Exported() && p.t.owner.Obj().Exported() {
		out.notes = append(out.notes, fmt.Sprintf("%s is exported: code outside the module may still access it without the lock", p.t))
	}
	out.files, err = es.files()
	return out, err
}

// unguarded sorts out the accesses at which the lock is not held, and the
// writes at which only its read side is.
func (p *problem) unguarded(class string, lock *knownLock, need []*access) (open, upgrade []*access, err error) {
	fl := p.m.lockFlow()
	for _, a := range need {
		state := fl.at(a.fn, a.expr)
		h, held := lock.heldIn(state.must, a)
		_, maybe := lock.heldIn(state.may, a)
		switch {
		case held && h.read && a.mode.writes():
			upgrade = append(upgrade, a)
		case held:
		case maybe:
			return nil, nil, fmt.Errorf("%s: it is held on some ways to the access only", a.unit.at(a.expr))
		default:
			open = append(open, a)
		}
	}
	return open, upgrade, nil
}

// reachable sorts out what the patch leaves alone: accesses in packages that
// cannot name the lock; and where the lock lies in another object, reads that
// no finding names, since the object's owner may need no lock for them.
func (p *problem) reachable(open []*access, lock *knownLock) (keep []*access, notes []string) {
	var foreign, owned []*access
	for _, a := range open {
		switch {
		case p.named(a):
			keep = append(keep, a)
		case lock.local != nil:
			keep = append(keep, a)
		case a.unit.pkg.path != lock.pkg.Path() && !token.IsExported(lock.field):
			foreign = append(foreign, a)
		case !lock.sibling(p.t) && !a.mode.writes():
			owned = append(owned, a)
		default:
			keep = append(keep, a)
		}
	}
	if len(foreign) > 0 {
		notes = append(notes, fmt.Sprintf("other packages access %s without the lock, which they cannot name: %s", p.t, where(foreign)))
	}
	if len(owned) > 0 {
		notes = append(notes, fmt.Sprintf("reads of %s without the lock that no finding names are left: %s", p.t, where(owned)))
	}
	return keep, notes
}

// knownLock is an existing lock: a field, or a package variable.
type knownLock struct {
	p     *problem
	class string
	owner *types.Named // nil for a package variable
	field string
	rw    bool
	pkg   *types.Package
	local types.Object // the variable itself, for a lock in a local
	// embedded locks are called through the object itself.
	embedded bool
}

// of writes the lock of the object x.
func (k *knownLock) of(x string) string {
	if k.embedded {
		return x
	}
	return x + "." + k.field
}

func (k *knownLock) sibling(t *target) bool {
	return k.owner == nil || t.owner != nil && sameNamed(k.owner, t.owner)
}

// heldIn looks the lock up in a state: for a lock beside the variable it must
// be that of the same object.
func (k *knownLock) heldIn(s holds, a *access) (hold, bool) {
	if k.owner != nil && k.sibling(k.p.t) && a.base != nil {
		if key, ok := a.holder(); ok {
			h, held := s[key+"."+k.field]
			return h, held
		}
	}
	for _, h := range s {
		if h.class == k.class {
			return h, true
		}
	}
	return hold{}, false
}

// findLock finds the declaration of a lock class.
func (p *problem) findLock(class string) (*knownLock, error) {
	if key, ok := strings.CutPrefix(class, localClass); ok {
		return p.findLocal(key)
	}
	var found *knownLock
	for _, q := range p.m.pkgs {
		scope := q.types.Scope()
		for _, name := range scope.Names() {
			obj := scope.Lookup(name)
			full := obj.Pkg().Path() + "." + name
			if _, isVar := obj.(*types.Var); isVar && full == class {
				found = &knownLock{p: p, class: class, field: name, rw: hasRLock(obj.Type()), pkg: obj.Pkg()}
			}
			tn, isType := obj.(*types.TypeName)
			field, ok := strings.CutPrefix(class, full+".")
			if !isType || !ok {
				continue
			}
			st, isStruct := structOf(tn.Type())
			for i := 0; isStruct && i < st.NumFields(); i++ {
				if f := st.Field(i); f.Name() == field {
					found = &knownLock{p: p, class: class, owner: named(tn.Type()), field: field, rw: hasRLock(f.Type()), pkg: obj.Pkg(), embedded: f.Embedded()}
				}
			}
		}
	}
	if found == nil {
		return nil, fmt.Errorf("its declaration is not in the module")
	}
	return found, nil
}

// findLocal finds a lock in a local variable that the function around the
// protected local declares too.
func (p *problem) findLocal(key string) (*knownLock, error) {
	if p.t.fn == nil {
		return nil, errors.New("it is a local variable")
	}
	u := p.t.fn.unit
	for id, obj := range u.pkg.info.Defs {
		if obj != nil && p.t.fn.node.Pos() <= id.Pos() && id.Pos() < p.t.fn.node.End() && objKey(p.m, obj) == key {
			return &knownLock{p: p, class: localClass + key, field: obj.Name(), rw: hasRLock(obj.Type()), pkg: obj.Pkg(), local: obj}, nil
		}
	}
	return nil, errors.New("its declaration is in another function")
}

// expr writes the lock for an access: beside the variable, or reached through
// the one variable in scope that leads to it.
func (k *knownLock) expr(a *access) (text, key string, err error) {
	u := a.unit
	if u.pkg.path != k.pkg.Path() && !token.IsExported(k.field) {
		return "", "", fmt.Errorf("%s: the lock belongs to another package", u.at(a.expr))
	}
	switch {
	case k.local != nil:
		if scope := k.local.Parent(); scope == nil || !scope.Contains(a.expr.Pos()) || k.local.Pos() > a.expr.Pos() {
			return "", "", fmt.Errorf("%s: %s is not in scope", u.at(a.expr), k.field)
		}
		return k.field, strings.TrimPrefix(k.class, localClass), nil
	case k.owner == nil:
		if u.pkg.path != k.pkg.Path() {
			return "", "", fmt.Errorf("%s: the lock belongs to another package", u.at(a.expr))
		}
		return k.field, k.class, nil
	case k.sibling(k.p.t):
		key, ok := a.holder()
		if !ok {
			return "", "", fmt.Errorf("%s: the object is the result of %s", u.at(a.expr), u.text(a.base))
		}
		return k.of(selectorBase(u, a.base)), key + "." + k.field, nil
	}
	return k.inScope(a)
}

// selectorBase is the source of x in x.f, fit to be followed by a selector.
func selectorBase(u *unit, base ast.Expr) string {
	if star, ok := ast.Unparen(base).(*ast.StarExpr); ok {
		return u.text(star.X)
	}
	return u.text(base)
}

// inScope finds the receiver or parameter that holds the lock, or the field
// of the accessed object that leads back to it.
func (k *knownLock) inScope(a *access) (text, key string, err error) {
	u := a.unit
	var names []types.Object
	for f := a.fn; f != nil; f = f.outer {
		for _, obj := range f.params() {
			if obj != nil && obj.Name() != "_" && sameNamed(named(obj.Type()), k.owner) {
				names = append(names, obj)
			}
		}
	}
	if len(names) == 1 {
		return k.of(names[0].Name()), objKey(u.m, names[0]) + "." + k.field, nil
	}
	if a.base != nil && len(names) == 0 {
		at, ok := u.place(a.base)
		back := k.backPointer(u.pkg.info.TypeOf(a.base))
		if ok && back != "" {
			return k.of(selectorBase(u, a.base) + "." + back), at.key + "." + back + "." + k.field, nil
		}
	}
	return "", "", fmt.Errorf("%s: no single variable in scope leads to the lock", u.at(a.expr))
}

// backPointer names the one field of a struct that points to the lock's owner.
func (k *knownLock) backPointer(t types.Type) string {
	st, ok := structOf(t)
	if !ok {
		return ""
	}
	name := ""
	for i := range st.NumFields() {
		if f := st.Field(i); sameNamed(named(f.Type()), k.owner) {
			if name != "" {
				return ""
			}
			name = f.Name()
		}
	}
	return name
}

// upgrade turns read locks around writes into write locks, where the function
// does nothing else that may block.
func (p *problem) upgrade(es *edits, class string, accs []*access) error {
	done := map[*fn]bool{}
	for _, a := range accs {
		f := a.fn
		if done[f] {
			continue
		}
		done[f] = true
		ops, why := f.lockOps(class)
		switch {
		case why != "":
			return fmt.Errorf("%s is written at %s under a read lock, and %s %s", p.t, a.unit.at(a.expr), f.name(), why)
		case len(ops) == 0:
			return fmt.Errorf("%s is written at %s under a read lock that a caller takes", p.t, a.unit.at(a.expr))
		}
		for _, op := range ops {
			if op.try || !op.read {
				return fmt.Errorf("%s uses both sides of the lock", f.name())
			}
			name := op.call.Fun.(*ast.SelectorExpr).Sel
			es.replace(f.unit, name, strings.TrimPrefix(name.Name, "R"))
		}
	}
	return nil
}

// lockOps lists the function's operations on a lock class; why says what else
// in it may block.
func (f *fn) lockOps(class string) (ops []lockOp, why string) {
	own := map[*ast.CallExpr]bool{}
	f.each(func(call *ast.CallExpr) {
		if op, ok := f.unit.lockOp(call); ok && op.place.class == class {
			ops, own[call] = append(ops, op), true
		}
	})
	ast.Inspect(f.body, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		switch {
		case isCall && own[call]:
			return false
		case isCall && why == "":
			why = f.unit.callReason(call)
		case why == "" && isWait(n):
			why = f.unit.blocks(n)
		}
		return true
	})
	return ops, why
}

// isWait reports whether n by itself, calls apart, may wait.
func isWait(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SendStmt, *ast.SelectStmt, *ast.RangeStmt:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.ARROW
	}
	return false
}

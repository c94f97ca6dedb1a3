package patchgen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// A patch must not turn a race into a check-then-act: where a read decides
// about a later access of state under the same lock, both go into one region,
// whether the later access is of the same variable or of another that the
// lock guards. The one split that is left, with a note, is that of a read and
// a later access of the same variable with something between them that cannot
// be held: the author had it between them too, so nobody could rely on the two
// being one step, and holding the lock across it could block for ever. For two
// variables that is no excuse: without the lock a reader of the code saw a
// race, with two regions he would see locking, and values that do not belong
// together.

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
	switch {
	case lockable(obj.Type()), !k.beside(t):
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

// together runs the cover so that what belongs together lies in one region:
// as small regions if they do, else as one region to the end of the function.
// What stays apart all the same is an error or, for one variable, a note.
func (c *cover) together() (notes []string, err error) {
	if err := c.lift(); err != nil {
		return nil, err
	}
	trial := *c
	trial.es, trial.names = newEdits(), nil
	if err := trial.run(); err != nil {
		return nil, err
	}
	if _, err := trial.apart(); err != nil {
		if c.toTheEnd() {
			return nil, nil
		}
		return nil, err
	}
	if err := c.run(); err != nil {
		return nil, err
	}
	return c.apart()
}

// apart looks for accesses that belong together in different regions.
func (c *cover) apart() (notes []string, err error) {
	own := c.in(c.f.body)
	for _, a := range own {
		for _, b := range own {
			if c.region[a.expr] == c.region[b.expr] || !c.decides(a, b) {
				continue
			}
			if err := c.excuse(a, b); err != nil {
				return nil, err
			}
			notes = append(notes, c.stayTwo(a, b))
		}
		for _, b := range c.under {
			if !c.decides(a, b) || c.testedAgain(a, b) {
				continue
			}
			if err := c.excuse(a, b); err != nil {
				return nil, err
			}
			notes = append(notes, c.stayTwo(a, b))
		}
	}
	return notes, nil
}

func (c *cover) stayTwo(a, b *access) string {
	what := "access"
	if b.mode.writes() {
		what = "write"
	}
	name := c.t.String()
	if nameOf(a.expr).Name != c.t.name {
		name = c.u.text(a.expr)
	}
	return fmt.Sprintf("%s (%s): the read and the later %s of %s stay two steps as they were, since what lies between cannot be done under the lock", c.f.name(), c.u.path, what, name)
}

// excuse says why a and what it decides about must not stay apart; nil if
// they may.
func (c *cover) excuse(a, b *access) error {
	why, again := c.between(a, b)
	switch {
	case why != "" && sameVar(a, b):
		return nil
	case why == "" && again != "":
		why = "the lock is taken anew at " + again
	case why == "":
		why = "no one region can hold both"
	}
	return fmt.Errorf("%s: %s decides about %s (%s), and two regions are not one step: %s",
		c.u.at(a.expr), nameOf(a.expr).Name, nameOf(b.expr).Name, c.u.at(b.expr), why)
}

func sameVar(a, b *access) bool {
	_, v := a.unit.varOf(a.expr)
	_, w := b.unit.varOf(b.expr)
	return v != nil && w != nil && v.Origin() == w.Origin()
}

// between says what lies between two accesses, or around the second one, that
// must not be done under the lock; and where the lock itself is taken there.
func (c *cover) between(a, b *access) (why, again string) {
	end := b.expr.Pos()
	if s := c.stmtOf(b.expr); s != nil && simpleAround(c.u, b.expr) == ast.Node(s) {
		end = s.End()
	}
	ast.Inspect(c.f.body, func(n ast.Node) bool {
		if n == nil || why != "" || n.End() <= a.expr.Pos() || n.Pos() >= end {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return c.u.runsAt(c.u.m.fns[n]) != nil
		case *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.CallExpr:
			if op, ok := c.u.lockOp(n); ok && op.place.key == c.key && n.Pos() > a.expr.Pos() {
				again = c.u.at(n)
			} else if !ok || op.place.key != c.key {
				why = c.callReason(n)
			}
		case *ast.SendStmt, *ast.SelectStmt, *ast.UnaryExpr, *ast.RangeStmt:
			if isWait(n) {
				why = c.blockingHeader(n)
			}
		}
		return why == ""
	})
	return why, again
}

// blockingHeader says why a statement or expression waits by itself.
func (c *cover) blockingHeader(n ast.Node) string {
	if r, ok := n.(*ast.RangeStmt); ok {
		head := *r
		head.Body = &ast.BlockStmt{}
		return c.blocks(&head)
	}
	return c.blocks(n)
}

// testedAgain reports whether a critical section reads a's variable once more
// before b, so that the read without the lock is a hint only.
func (c *cover) testedAgain(a, b *access) bool {
	for _, again := range c.under {
		if again == b || again.mode != read || !sameVar(a, again) || again.expr.Pos() > b.expr.Pos() || again.expr.Pos() < a.expr.Pos() {
			continue
		}
		if c.decides(again, b) && !c.unlockedBetween(again, b) {
			return true
		}
	}
	return sameVar(a, b) && b.mode == read && c.rereads(b)
}

// rereads: a read under the lock of what was read before it is itself the
// second test.
func (c *cover) rereads(b *access) bool {
	_, isIf := c.stmtOf(b.expr).(*ast.IfStmt)
	return isIf
}

func (c *cover) unlockedBetween(a, b *access) (found bool) {
	ast.Inspect(c.f.body, func(n ast.Node) bool {
		if _, ok := n.(*ast.DeferStmt); ok {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok && a.expr.Pos() < call.Pos() && call.Pos() < b.expr.Pos() {
			op, isOp := c.u.lockOp(call)
			found = found || isOp && !op.acquire && op.place.key == c.key
		}
		return !found
	})
	return found
}

// lift moves a Lock of the function's own, with a deferred Unlock behind it,
// up to the first read that decides about what they protect, if all between
// can be held.
func (c *cover) lift() error {
	list := c.f.body.List
	for j, s := range list {
		acquire := c.acquires(s)
		if acquire == nil {
			continue
		}
		i := c.liftTo(list[:j], s.Pos())
		if i < 0 {
			continue
		}
		between := list[i:j]
		if acquire.read && anyWrites(c.in(nodes(between)...)) {
			return fmt.Errorf("%s: only the read lock is taken behind it", c.u.at(list[i]))
		}
		return c.liftOver(between, list[j:], acquire)
	}
	return nil
}

// liftOver moves the Lock that behind starts with before the statements.
func (c *cover) liftOver(between, behind []ast.Stmt, acquire *lockOp) error {
	text := c.u.text(behind[0])
	c.es.deleteLine(c.u, behind[0])
	if len(behind) > 1 && c.defersUnlock(behind[1]) {
		text += "\n" + c.u.text(behind[1])
		c.es.deleteLine(c.u, behind[1])
	} else {
		r := &region{c: c, only: "Lock"}
		if acquire.read {
			r.only = "RLock"
		}
		for _, s := range between {
			if err := c.exits(s, r); err != nil {
				return err
			}
		}
	}
	c.es.before(c.u, between[0], func() string { return text })
	for _, a := range c.in(nodes(between)...) {
		delete(c.acc, a.expr)
	}
	return nil
}

// liftTo is the first statement of the list with an access that decides
// about one behind the end; -1 if there is none, or the lock cannot be held
// from there.
func (c *cover) liftTo(list []ast.Stmt, end token.Pos) int {
	first := -1
	for i, s := range list {
		for _, a := range c.in(s) {
			for _, b := range c.under {
				if first < 0 && b.expr.Pos() > end && c.decides(a, b) && !c.testedAgain(a, b) {
					first = i
				}
			}
		}
		if first >= 0 && (c.blocks(s) != "" || holdsDefer(s) || c.derefs(c.in(s), s) != nil) {
			return -1
		}
	}
	return first
}

func nodes(list []ast.Stmt) (out []ast.Node) {
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

func (c *cover) acquires(s ast.Stmt) *lockOp {
	es, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	if call, ok := es.X.(*ast.CallExpr); ok {
		if op, ok := c.u.lockOp(call); ok && op.acquire && !op.try && op.place.key == c.key && c.u.text(op.lock) == c.lock {
			return &op
		}
	}
	return nil
}

func (c *cover) defersUnlock(s ast.Stmt) bool {
	d, ok := s.(*ast.DeferStmt)
	if !ok {
		return false
	}
	op, ok := c.u.lockOp(d.Call)
	return ok && !op.acquire && op.place.key == c.key
}

// toTheEnd holds the lock from the first access to the end of the function,
// if nothing speaks against it.
func (c *cover) toTheEnd() bool {
	for i, s := range c.f.body.List {
		if c.has(s) {
			return c.holdTail(c.f.body.List[i:])
		}
	}
	return false
}

package patchgen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// cover puts the accesses of one variable in one function under one lock, in
// regions as small as it can. It works on statement lists, with at most one
// region open at a time:
//
//   - a region opens before a statement with an access and ends after it, or
//     goes on to further accesses a few statements later;
//   - a test and the uses in the branch that it controls stay in one region,
//     which ends on each branch where it has to;
//   - nothing that may wait or call unknown code lies within: what it needs of
//     the variable is copied before, what it yields is stored after;
//   - returns and jumps out of a region unlock first.
type cover struct {
	u     *unit
	f     *fn
	es    *edits
	t     *target
	lock  string // source of the lock: "x.mu"
	key   string // its place
	rw    bool   // it has a read side
	base  string // place of the object that holds the variable; "" if none
	acc   map[ast.Expr]*access
	names map[string]bool
	takes map[*fn]bool // functions that take the lock once the patch is made, by themselves or through others

	regions []*region
	anchors map[ast.Stmt]ast.Stmt // labelled statements, by what they label
}

// region is one stretch of code under the lock.
type region struct {
	c     *cover
	write bool
	// only is set where an existing critical section is carried on with its
	// own kind of lock.
	only string
}

func (r *region) lockText() string {
	if r.only != "" {
		return ""
	}
	return r.c.lock + "." + r.kind() + "()"
}

func (r *region) unlockText() string {
	return r.c.lock + "." + strings.Replace(r.kind(), "Lock", "Unlock", 1) + "()"
}

func (r *region) kind() string {
	switch {
	case r.only != "":
		return r.only
	case r.c.rw && !r.write:
		return "RLock"
	}
	return "Lock"
}

// Accesses at most this many statements apart share a region, if what lies
// between may be held.
const maxGap = 3

// run covers the function. An error is the reason why it cannot.
func (c *cover) run() error {
	c.anchors = map[ast.Stmt]ast.Stmt{}
	hasGoto := false
	ast.Inspect(c.f.body, func(n ast.Node) bool {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			hasGoto = true
		}
		return true
	})
	if hasGoto {
		return fmt.Errorf("%s uses goto", c.f.name())
	}
	_, err := c.list(c.f.body.List, nil, true)
	return err
}

// split reports whether a read of the variable and a later write lie in two
// regions: they are no data race any more, but no one step either.
func (c *cover) split() bool {
	for i, r := range c.regions {
		if !r.write {
			for _, later := range c.regions[i+1:] {
				if later.write {
					return true
				}
			}
		}
	}
	return false
}

// list covers a statement list that is entered with region r open (nil:
// none), and gives the region that is open at its end.
func (c *cover) list(list []ast.Stmt, r *region, top bool) (*region, error) {
	for i, s := range list {
		if r == nil {
			if !c.has(s) {
				continue
			}
			if top && c.deferTail(list[i:]) {
				return nil, nil
			}
		}
		var err error
		if r, err = c.stmt(list, i, r); err != nil {
			return nil, err
		}
		if r != nil && i+1 < len(list) && !c.carry(list, i) {
			c.after(s, r.unlockText)
			r = nil
		}
	}
	if top && r != nil {
		c.after(list[len(list)-1], r.unlockText)
		r = nil
	}
	return r, nil
}

// sub covers a nested list and closes its region at the end.
func (c *cover) sub(list []ast.Stmt) error {
	r, err := c.list(list, nil, false)
	if err == nil && r != nil {
		c.after(list[len(list)-1], r.unlockText)
	}
	return err
}

// stmt covers list[i].
func (c *cover) stmt(list []ast.Stmt, i int, r *region) (*region, error) {
	switch s := list[i].(type) {
	case *ast.BlockStmt:
		if r == nil {
			return nil, c.sub(s.List)
		}
		return c.list(s.List, r, false)
	case *ast.LabeledStmt:
		c.anchors[s.Stmt] = s
		inner := append(append([]ast.Stmt(nil), list[:i]...), s.Stmt)
		return c.stmt(append(inner, list[i+1:]...), i, r)
	case *ast.IfStmt:
		return c.ifStmt(list, i, s, r)
	case *ast.SwitchStmt, *ast.TypeSwitchStmt:
		return c.switchStmt(list, i, r)
	case *ast.SelectStmt:
		return c.selectStmt(list, i, s, r)
	case *ast.ForStmt:
		return c.forStmt(list, i, s, r)
	case *ast.RangeStmt:
		return c.rangeStmt(list, i, s, r)
	case *ast.ReturnStmt:
		return c.returnStmt(list, i, s, r)
	case *ast.BranchStmt:
		if r != nil {
			c.before(s, r.unlockText)
		}
		return nil, nil
	}
	return c.simple(list, i, r)
}

// simple covers a statement without statements in it.
func (c *cover) simple(list []ast.Stmt, i int, r *region) (*region, error) {
	s := list[i]
	accs, why := c.in(s), c.blocks(s)
	_, deferred := s.(*ast.DeferStmt)
	switch {
	case len(accs) == 0 && why == "" && !isPanic(c.u, s):
		c.held(s, r)
		return r, nil
	case len(accs) == 0:
		if r != nil {
			c.before(s, r.unlockText)
		}
		return nil, nil
	case deferred || isGo(s) || why != "" && !anyWrites(accs):
		return c.copyBefore(list, i, r, accs)
	case why == "" && isPanic(c.u, s):
		return c.copyBefore(list, i, r, accs)
	case why != "":
		return c.storeAfter(list, i, r, accs)
	}
	if err := c.derefs(accs, s); err != nil {
		return nil, err
	}
	r = c.open(list, i, r)
	c.held(s, r)
	return r, c.note(r, accs)
}

// held records that s runs under the lock: what it changes of the object
// needs the write side.
func (c *cover) held(s ast.Stmt, r *region) {
	if r != nil && c.isUse(s) {
		r.write = true
	}
}

// copyBefore reads the variable into locals before list[i], which then runs
// without the lock.
func (c *cover) copyBefore(list []ast.Stmt, i int, r *region, accs []*access) (*region, error) {
	if anyWrites(accs) {
		return nil, fmt.Errorf("%s: the access happens where the lock cannot be held", c.u.at(list[i]))
	}
	if r == nil && i > 0 && c.unlocks(list[i-1]) != nil {
		// The critical section that ends here can make the copies.
		r = &region{c: c, only: "Lock"}
		c.regions = append(c.regions, r)
		return nil, c.hoist(list[i], list[i-1], accs, r)
	}
	r = c.open(list, i, r)
	if err := c.hoist(list[i], list[i], accs, r); err != nil {
		return nil, err
	}
	c.before(list[i], r.unlockText)
	return nil, nil
}

// storeAfter computes what list[i] stores before the region, which then holds
// the store alone.
func (c *cover) storeAfter(list []ast.Stmt, i int, r *region, accs []*access) (*region, error) {
	s := list[i]
	if r != nil {
		c.before(s, r.unlockText)
	}
	if as, ok := s.(*ast.AssignStmt); ok && len(as.Lhs) > 1 && len(as.Rhs) == 1 {
		return c.storeTuple(as, accs)
	}
	if err := c.hoistCalls(s); err != nil {
		return nil, err
	}
	r = c.open(nil, 0, nil)
	c.before(s, r.lockText)
	return r, c.note(r, accs)
}

func (c *cover) returnStmt(list []ast.Stmt, i int, s *ast.ReturnStmt, r *region) (*region, error) {
	accs := c.in(s)
	if len(accs) == 0 {
		if r != nil && c.isUse(s) && len(s.Results) == 1 && !c.tuple(s.Results[0]) {
			c.hoistResult(s.Results[0])
			c.held(s, r)
		}
		if r != nil {
			c.before(s, r.unlockText)
		}
		return nil, nil
	}
	if why := c.blocks(s); why != "" {
		return c.copyBefore(list, i, r, accs)
	}
	if err := c.derefs(accs, s); err != nil {
		return nil, err
	}
	r = c.open(list, i, r)
	if err := c.note(r, accs); err != nil {
		return nil, err
	}
	for _, e := range s.Results {
		if len(c.in(e)) > 0 {
			if c.tuple(e) {
				return nil, fmt.Errorf("%s: the results come from one call", c.u.at(s))
			}
			c.hoistResult(e)
		}
	}
	c.before(s, r.unlockText)
	return nil, nil
}

func (c *cover) hoistResult(e ast.Expr) {
	name := c.fresh(c.nameFor(e))
	text := c.u.text(e)
	c.es.replace(c.u, e, name)
	c.before(c.stmtOf(e), func() string { return name + " := " + text })
}

func (c *cover) tuple(e ast.Expr) bool {
	_, ok := c.u.pkg.info.TypeOf(e).(*types.Tuple)
	return ok
}

// deferTail covers the rest of a function, entered at its top level, with
// Lock and a deferred Unlock: where it returns the variable itself, holds no
// other defer and does nothing that may block.
func (c *cover) deferTail(tail []ast.Stmt) bool {
	if len(tail) > 2*maxGap || !c.has(tail[len(tail)-1]) {
		return false
	}
	returns, uses := false, false
	var accs []*access
	for _, s := range tail {
		accs = append(accs, c.in(s)...)
		uses = uses || c.isUse(s)
		if c.blocks(s) != "" || c.derefs(c.in(s), s) != nil {
			return false
		}
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				returns = returns || c.has(n)
			}
			return true
		})
		if holdsDefer(s) {
			return false
		}
	}
	if !returns {
		return false
	}
	r := c.open(nil, 0, nil)
	if c.note(r, accs) != nil {
		c.regions = c.regions[:len(c.regions)-1]
		return false
	}
	r.write = r.write || uses
	c.before(tail[0], func() string { return r.lockText() + "\ndefer " + r.unlockText() })
	return true
}

func holdsDefer(s ast.Stmt) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			found = true
		}
		return true
	})
	return found
}

// open gives the open region, or starts one before list[i]: a new one, or one
// that goes on where list[i-1] ends a critical section of the same lock. With
// no list, the caller places the Lock.
func (c *cover) open(list []ast.Stmt, i int, r *region) *region {
	if r != nil {
		return r
	}
	r = &region{c: c}
	c.regions = append(c.regions, r)
	if list == nil {
		return r
	}
	if i > 0 {
		if op := c.unlocks(list[i-1]); op != nil {
			r.only = "Lock"
			c.es.deleteLine(c.u, list[i-1])
			return r
		}
	}
	c.before(list[i], r.lockText)
	return r
}

// unlocks gives the lock operation of a statement that is x.mu.Unlock() for
// this lock, held for writing on every way there.
func (c *cover) unlocks(s ast.Stmt) *lockOp {
	es, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	call, ok := es.X.(*ast.CallExpr)
	if !ok {
		return nil
	}
	op, ok := c.u.lockOp(call)
	if !ok || op.acquire || op.read || op.place.key != c.key || c.u.text(op.lock) != c.lock {
		return nil
	}
	if _, held := c.u.m.lockFlow().at(c.f, call).must[c.key]; !held {
		return nil
	}
	return &op
}

// note records in the region what the accesses do.
func (c *cover) note(r *region, accs []*access) error {
	for _, a := range accs {
		switch a.mode {
		case write, update:
			r.write = true
		case address:
			return fmt.Errorf("%s: its address is taken", a.unit.at(a.expr))
		case alias:
			return fmt.Errorf("%s: the map itself is handed on", a.unit.at(a.expr))
		case atomicOp:
			return fmt.Errorf("%s: it is accessed atomically there", a.unit.at(a.expr))
		}
	}
	return nil
}

// carry reports whether the region goes on after list[i] (-1: from the start
// of the list): to an access that is near or, after a test, to what the test
// is for.
func (c *cover) carry(list []ast.Stmt, i int) bool {
	tested := i < 0
	if !tested {
		switch list[i].(type) {
		case *ast.IfStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt:
			tested = true
		}
	}
	for gap := 0; gap <= maxGap && i+1+gap < len(list); gap++ {
		s := list[i+1+gap]
		if c.leads(s) {
			return true
		}
		if c.blocks(s) != "" {
			return false
		}
		if gap == 0 && tested && c.isUse(s) {
			return true
		}
	}
	return false
}

// leads reports whether a region that is open before s is of use to it: s
// accesses the variable before anything that may block.
func (c *cover) leads(s ast.Stmt) bool {
	if !c.has(s) {
		return false
	}
	switch s := s.(type) {
	case *ast.IfStmt:
		return len(c.in(s.Init, s.Cond)) > 0 || c.blocks(s) == ""
	case *ast.SwitchStmt:
		return len(c.in(s.Init, s.Tag)) > 0 || c.blocks(s) == ""
	case *ast.ForStmt, *ast.RangeStmt, *ast.SelectStmt, *ast.TypeSwitchStmt, *ast.BlockStmt, *ast.LabeledStmt:
		return c.blocks(s) == ""
	}
	return c.blocks(s) == "" || !anyWrites(c.in(s))
}

// isUse reports whether s changes state of the object that holds the
// variable, or calls a method of that object.
func (c *cover) isUse(s ast.Stmt) (found bool) {
	if c.base == "" || c.blocks(s) != "" {
		return false
	}
	within := func(e ast.Expr) bool {
		for _, l := range append(leftmost(e), e) {
			if p, ok := c.u.place(l); ok && (p.key == c.base || strings.HasPrefix(p.key, c.base+".")) && l != e {
				return true
			}
		}
		return false
	}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				found = found || within(lhs)
			}
		case *ast.IncDecStmt:
			found = found || within(n.X)
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && c.u.callee(n) != nil {
				p, ok := c.u.place(sel.X)
				found = found || ok && p.key == c.base
			}
		}
		return !found
	})
	return found
}

// in lists the accesses to cover that evaluating the nodes performs: those in
// literals only where the literal runs on the spot.
func (c *cover) in(nodes ...ast.Node) []*access {
	var out []*access
	for _, n := range nodes {
		if n == nil {
			continue
		}
		ast.Inspect(n, func(x ast.Node) bool {
			if lit, ok := x.(*ast.FuncLit); ok && c.u.runsAt(c.u.m.fns[lit]) == nil {
				return false
			}
			if e, ok := x.(ast.Expr); ok && c.acc[e] != nil {
				out = append(out, c.acc[e])
			}
			return true
		})
	}
	return out
}

// blocks says why n must not be evaluated under the lock.
func (c *cover) blocks(n ast.Node) (why string) {
	if why = c.u.blocks(n); why != "" || len(c.takes) == 0 {
		return why
	}
	ast.Inspect(n, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.FuncLit:
			return c.u.runsAt(c.u.m.fns[x]) != nil
		case *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.CallExpr:
			if why == "" {
				why = c.callReason(x)
			}
		}
		return why == ""
	})
	return why
}

// callReason says why a call may not be made under the lock, its operands
// apart.
func (c *cover) callReason(call *ast.CallExpr) string {
	if callee := c.u.callee(call); callee != nil && c.takes[callee] {
		return fmt.Sprintf("calls %s, which takes the lock too", callee.name())
	}
	return c.u.callReason(call)
}

func (c *cover) has(n ast.Node) bool { return len(c.in(n)) > 0 }

func anyWrites(accs []*access) bool {
	for _, a := range accs {
		if a.mode.writes() {
			return true
		}
	}
	return false
}

func isGo(s ast.Stmt) bool {
	_, ok := s.(*ast.GoStmt)
	return ok
}

func isPanic(u *unit, s ast.Stmt) bool {
	if es, ok := s.(*ast.ExprStmt); ok {
		if call, ok := es.X.(*ast.CallExpr); ok {
			return isBuiltin(u, call, "panic")
		}
	}
	return false
}

var errNilGuard = errors.New("its object may be nil unless what stands before it holds")

// derefs refuses accesses that s evaluates only if something before them
// holds, where locking early could dereference nil.
func (c *cover) derefs(accs []*access, s ast.Node) error {
	for _, a := range accs {
		if c.conditional(a, s) && !c.surelyNonNil(a, s) {
			return fmt.Errorf("%s: %w", a.unit.at(a.expr), errNilGuard)
		}
	}
	return nil
}

// conditional reports whether a is on the right of && or || in s.
func (c *cover) conditional(a *access, s ast.Node) bool {
	var e ast.Node = a.expr
	for e != s && e != nil {
		p := c.u.parents[e]
		if b, ok := p.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) && b.Y == e {
			return true
		}
		e = p
	}
	return false
}

// surelyNonNil: the object is no pointer, or the receiver that the function
// never compares with nil, or its fields are selected before the access.
func (c *cover) surelyNonNil(a *access, s ast.Node) bool {
	if a.base == nil || !isPointer(c.u.pkg.info.TypeOf(a.base)) {
		return true
	}
	text, compared, selected := c.u.text(a.base), false, false
	ast.Inspect(c.f.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if comparesNil(n) && (c.u.text(n.X) == text || c.u.text(n.Y) == text) {
				compared = true
			}
		case *ast.SelectorExpr:
			if n.Pos() >= s.Pos() && n.Pos() < a.expr.Pos() && c.u.text(n.X) == text {
				selected = selected || !c.conditional(&access{expr: n}, s)
			}
		}
		return true
	})
	if compared {
		return false
	}
	if id, ok := ast.Unparen(a.base).(*ast.Ident); ok {
		if obj := c.u.pkg.info.ObjectOf(id); obj == c.f.receiver() || c.u.allocated(obj) {
			return true
		}
	}
	return selected
}

// before inserts lines before s, or before its label.
func (c *cover) before(s ast.Stmt, text func() string) {
	if l := c.anchors[s]; l != nil {
		s = l
	}
	c.es.before(c.u, s, text)
}

func (c *cover) after(s ast.Stmt, text func() string) { c.es.after(c.u, s, text) }

// stmtOf is the statement in a list that e belongs to.
func (c *cover) stmtOf(e ast.Node) ast.Stmt {
	for n := e; n != nil; n = c.u.parents[n] {
		s, ok := n.(ast.Stmt)
		if !ok {
			continue
		}
		switch c.u.parents[n].(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.LabeledStmt:
			return s
		}
	}
	return nil
}

package patchgen

import (
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
	under []*access    // accesses of state under the lock that hold it already

	regions    []*region
	region     map[ast.Expr]*region // of the accesses covered so far
	influences map[ast.Expr]*influence
	anchors    map[ast.Stmt]ast.Stmt // labelled statements, by what they label
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
	c.anchors, c.region = map[ast.Stmt]ast.Stmt{}, map[ast.Expr]*region{}
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

// open returns the open region, or starts one before list[i]: a new one, or one
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

// unlocks returns the lock operation of a statement that is x.mu.Unlock() for
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
		if c.region != nil {
			c.region[a.expr] = r
		}
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

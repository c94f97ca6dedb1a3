package sectionplace

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// placeGaps puts the gap of o where a remote access may come.
func (r *Sections) placeGaps(o *opening, entry ast.Stmt) {
	gap, found := r.callf("Gap(%d)", o.ID), false
	r.inspectBody(o, func(n ast.Node) {
		s, ok := n.(*ast.ExprStmt)
		if ok && s.Pos() > o.entry.Pos() && unlocks(s) && r.reachesEnd(o, s, s.End()) {
			r.after(s, asGap, gap)
			found = true
		}
	})
	if found {
		return
	}
	starts, through := r.waysOn(entry)
	for _, at := range starts {
		if r.reachesEnd(o, r.firstAt(entry, at), at) {
			r.start(at, asGap, gap)
		}
	}
	if through && r.reachesEnd(o, entry, entry.End()) {
		r.after(entry, asGap, gap)
	}
}

// beforeLocks returns the statement ahead of which a goroutine can wait for a section that begins in the one given,
// with no lock of the function held: the first that acquires one since the last release, in the lists that both are in.
func (r *Sections) beforeLocks(entry ast.Stmt) ast.Stmt {
	first := entry
	for s := entry; s != nil; s = r.Statement(r.Around(r.Around(s))) {
		list := r.ListOf(s)
		for i := slices.Index(list, s) - 1; i >= 0; i-- {
			call, ok := list[i].(*ast.ExprStmt)
			if !ok {
				continue
			}
			if unlocks(call) {
				return first
			}
			if strings.Contains(lowerName(call), "lock") {
				first = call
			}
		}
		if len(list) == 0 || inLoop(s) {
			return first
		}
	}
	return first
}

// unlocks reports whether s calls something that unlocks, by its name: locks come
// in many types.
func unlocks(s *ast.ExprStmt) bool { return strings.Contains(lowerName(s), "unlock") }

// lowerName returns the name of the function that s calls, in small letters, or "".
func lowerName(s *ast.ExprStmt) string {
	c, ok := ast.Unparen(s.X).(*ast.CallExpr)
	if !ok {
		return ""
	}
	name := ""
	switch f := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	return strings.ToLower(name)
}

// inspectBody calls f for the nodes of o's function, except those of closures in it.
func (r *Sections) inspectBody(o *opening, f func(ast.Node)) {
	ast.Inspect(o.body, func(n ast.Node) bool {
		if _, closure := n.(*ast.FuncLit); closure {
			return false
		}
		if n != nil {
			f(n)
		}
		return true
	})
}

// firstAt returns the statement that comes first in the block of s that begins at
// the place, or s if it is empty.
func (r *Sections) firstAt(s ast.Stmt, at token.Pos) ast.Stmt {
	first := s
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			if n.Lbrace == at && len(n.List) > 0 {
				first = n.List[0]
			}
		case *ast.CaseClause:
			if n.Colon == at && len(n.Body) > 0 {
				first = n.Body[0]
			}
		case *ast.CommClause:
			if n.Colon == at && len(n.Body) > 0 {
				first = n.Body[0]
			}
		}
		return true
	})
	return first
}

// reachesEnd reports whether an end of o may be reached from pos, which is in or
// before the statement s: one comes in the rest of s's list, or in a list around
// it that this one goes on to.
func (r *Sections) reachesEnd(o *opening, s ast.Stmt, pos token.Pos) bool {
	for s != nil && s.Pos() >= o.body.Pos() {
		list := r.ListOf(s)
		if len(list) == 0 {
			return true // cannot tell
		}
		last := list[len(list)-1]
		for _, e := range o.ends {
			if e.node.Pos() >= pos && e.node.End() <= last.End() {
				return true
			}
		}
		if leaves(last) {
			return false
		}
		s = r.Statement(r.Around(r.Around(s)))
		if inLoop(s) {
			return true
		}
	}
	return false
}

func inLoop(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return inLoop(s.Stmt)
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}

// leaves reports whether the program does not go on behind s, a last statement.
func leaves(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		c, ok := s.X.(*ast.CallExpr)
		id, named := (ast.Expr)(nil), false
		if ok {
			id = ast.Unparen(c.Fun)
			_, named = id.(*ast.Ident)
		}
		return named && id.(*ast.Ident).Name == "panic"
	}
	return false
}

// placeLeaves closes o on the ways out that pass no end: before returns, at the end
// of the function, and behind the statement that has the last end.
func (r *Sections) placeLeaves(o *opening, entry ast.Stmt) {
	leave := r.callf("Leave(%d)", o.ID)
	from := r.roundFrom(o, entry)
	r.inspectBody(o, func(n ast.Node) {
		s, ok := n.(*ast.ReturnStmt)
		if ok && s.Pos() > from && !r.endsIn(o, s) {
			r.ahead(s, asLeave, leave)
		}
	})
	if !o.results {
		r.atEnd(o.body, leave)
	}
	if s := r.lastOf(o, entry); s != nil {
		r.after(s, asLeave, leave)
	}
}

func (r *Sections) endsIn(o *opening, s *ast.ReturnStmt) bool {
	for _, e := range o.ends {
		if s.Pos() <= e.node.Pos() && e.node.End() <= s.End() {
			return true
		}
	}
	return false
}

// roundFrom returns the place from which on a return may come when o is open: where
// the entry is, or the outermost loop around it begins, or the function where it
// has labels to go to.
func (r *Sections) roundFrom(o *opening, entry ast.Stmt) token.Pos {
	from := entry.Pos()
	for n := ast.Node(entry); n != o.body && n != nil; n = r.Around(n) {
		if s, ok := n.(ast.Stmt); ok && inLoop(s) {
			from = n.Pos()
		}
	}
	r.inspectBody(o, func(n ast.Node) {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			from = o.body.Pos()
		}
	})
	return from
}

// lastOf returns the statement, of the innermost list that has the entry and all
// ends, in which the last end is; nil if nothing comes behind it there.
func (r *Sections) lastOf(o *opening, entry ast.Stmt) ast.Stmt {
	last := o.ends[0].node
	for _, e := range o.ends {
		if e.node.Pos() > last.Pos() {
			last = e.node
		}
	}
	if last.Pos() <= o.entry.Pos() {
		return nil // a circular section
	}
	s := r.Statement(last)
	for s != nil && s != entry && !r.follows(entry, s) {
		s = r.Statement(r.Around(s))
	}
	if s == nil {
		return nil
	}
	list := r.ListOf(s)
	if list[len(list)-1] == s || leaves(s) {
		return nil
	}
	return s
}

// follows reports whether s is entry, a later statement of the same list, or a later
// statement of a list around entry.
func (r *Sections) follows(entry, s ast.Stmt) bool {
	for n := ast.Node(entry); n != nil; n = r.Around(n) {
		if x, ok := n.(ast.Stmt); ok && r.Around(x) == r.Around(s) && x.Pos() <= s.Pos() && r.ListOf(x) != nil {
			return true
		}
	}
	return false
}

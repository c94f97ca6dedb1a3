package crossing

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stores"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Meant reports whether a section may be split on purpose, so that a test which fails by that expects too much:
//
//	if version != d.version { return ErrConflict }    the section finds out by itself, as by a CompareAndSwap
//	// Ratio is approximate while others count.       its comment says so
//	state = running; …; state = done                  somebody looks at one variable in between
func (c *Crossing) Meant(p *plan.Plan, pkgs []*sites.Package) bool {
	last := p.Site(c.Last.Site)
	return c.isProgress(p) || strings.Contains(last.Expr+last.Source, "CompareAndSwap") ||
		c.comparesAgain(pkgs, last) || c.isInexact(pkgs)
}

// isProgress reports whether one variable is stored twice, and the other goroutine has only looked at it. A deleted
// entry is no intermediate state of a map: a value that moves to another key is at neither key meanwhile.
func (c *Crossing) isProgress(p *plan.Plan) bool {
	return !c.IsEarly() && c.ReadsOnly() && p.Site(c.First.Site).Variable == p.Site(c.Last.Site).Variable &&
		!deletes(p.Site(c.First.Site))
}

// deletes reports whether an access deletes entries of a map: unlike a store, it has no key.
func deletes(s *plan.Site) bool {
	return s.Variable.Kind == plan.KindMap && s.Mode == plan.Write && !strings.HasSuffix(s.Expr, "]")
}

// ReadsOnly reports whether the other goroutine has stored nothing in between: whether it looked too early is for the
// test to say, which must not wait by time then.
func (c *Crossing) ReadsOnly() bool {
	return c.Came.What == evidence.StepRead && c.Went.What == evidence.StepRead
}

// comparesAgain reports whether the last access is compared with a value, which may have been read before: by an
// operator or by a function that is named for it.
func (c *Crossing) comparesAgain(pkgs []*sites.Package, last *plan.Site) (compares bool) {
	if c.IsEarly() || c.First.What != evidence.StepRead {
		return false
	}
	inspectFile(pkgs, last.File, func(q *sites.Package, n ast.Node) {
		sides := comparedIn(n)
		for i, side := range sides {
			at := q.Fset.PositionFor(side.Pos(), false)
			if at.Line != last.Line || at.Column != last.Column {
				continue
			}
			other := q.Info.Types[sides[1-i]]
			compares = compares || other.Value == nil && !other.IsNil()
		}
	})
	return compares
}

// comparedIn returns the two values that n compares, or nil:
//
//	s.version != t.begun    strings.EqualFold(have, tag)    bytes.Equal(a, b)    t.Equal(u)
func comparedIn(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			return []ast.Expr{n.X, n.Y}
		}
	case *ast.CallExpr:
		fun, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
		if !ok || !strings.HasPrefix(fun.Sel.Name, "Equal") {
			return nil
		}
		switch len(n.Args) {
		case 1:
			return []ast.Expr{fun.X, n.Args[0]}
		case 2:
			return n.Args
		}
	}
	return nil
}

// isInexact reports whether the comment of a function that one of the goroutines is in says that others may come in.
func (c *Crossing) isInexact(pkgs []*sites.Package) bool {
	for _, f := range slices.Concat(c.First.Frames, c.Last.Frames, c.Came.Frames, c.Went.Frames) {
		if stores.SaysInexact(pkgs, f.Function) {
			return true
		}
	}
	return false
}

// Polls reports whether the tests of a package wait in loops for others to get on, without a lock or channel:
//
//	for !s.Ready() { runtime.Gosched() }    for s.Len() > 0 {}
func Polls(pkgs []*sites.Package, path string) (polls bool) {
	for _, p := range pkgs {
		if p.Path != path && p.Path != path+"_test" {
			continue
		}
		for _, f := range p.Files {
			if !strings.HasSuffix(p.Fset.PositionFor(f.Package, false).Filename, "_test.go") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ForStmt:
					polls = polls || len(n.Body.List) == 0 && n.Cond != nil && hasCall(n.Cond)
				case *ast.SelectorExpr:
					polls = polls || n.Sel.Name == "Gosched"
				}
				return !polls
			})
		}
	}
	return polls
}

func hasCall(e ast.Expr) (has bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		_, is := n.(*ast.CallExpr)
		has = has || is
		return !has
	})
	return has
}

// inspectFile calls f for each node of a file, named relative to the root of its module.
func inspectFile(pkgs []*sites.Package, file string, f func(*sites.Package, ast.Node)) {
	for _, p := range pkgs {
		for _, syntax := range p.Files {
			name := p.Fset.PositionFor(syntax.Package, false).Filename
			if name == file || strings.HasSuffix(strings.ReplaceAll(name, "\\", "/"), "/"+file) {
				ast.Inspect(syntax, func(n ast.Node) bool {
					f(p, n)
					return true
				})
			}
		}
	}
}

package patchgen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"unicode"
)

// hoist copies what the accesses in s read into locals, by statements before
// at, and lets s use those.
func (c *cover) hoist(s, at ast.Stmt, accs []*access, r *region) error {
	if err := c.derefs(accs, s); err != nil {
		return err
	}
	names := map[string]string{}
	for _, a := range accs {
		if err := c.note(r, []*access{a}); err != nil {
			return err
		}
		if c.within(a, accs) {
			continue // copied with what it is a part of
		}
		if c.needsSnapshot(a) {
			c.snapshot(at, a)
			continue
		}
		e := a.whole
		if why := c.blocks(e); why != "" {
			return fmt.Errorf("%s: %s", c.u.at(e), why)
		}
		text := c.u.text(e)
		name, ok := names[text]
		if !ok {
			name = c.fresh(c.nameFor(e))
			names[text] = name
			c.before(at, func() string { return name + " := " + text })
		}
		c.es.replace(c.u, e, name)
	}
	return nil
}

// within reports whether a is an operand of what another access is copied with.
func (c *cover) within(a *access, accs []*access) bool {
	for _, b := range accs {
		if b != a && !c.needsSnapshot(b) && b.whole.Pos() <= a.expr.Pos() && a.expr.End() <= b.whole.End() {
			return true
		}
	}
	return false
}

// needsSnapshot reports whether a is a map or slice that is changed in place
// and that the statement goes through while it may block: ranged over, or
// lent to a function that only reads it.
func (c *cover) needsSnapshot(a *access) bool {
	if !c.t.deep || a.mode != read || a.element {
		return false
	}
	if a.call != nil {
		return isMap(c.u.pkg.info.TypeOf(a.expr)) && c.blocks(a.call) != ""
	}
	return c.ranged(a)
}

// ranged reports whether a is what a range statement iterates over.
func (c *cover) ranged(a *access) bool {
	rs, ok := c.u.parents[a.whole].(*ast.RangeStmt)
	return ok && rs.X == a.whole
}

// snapshot copies a map or slice under the lock, for the statement to use.
func (c *cover) snapshot(s ast.Stmt, a *access) {
	text := c.u.text(a.expr)
	name := c.fresh(c.nameFor(a.expr))
	t := c.u.pkg.info.TypeOf(a.expr)
	c.es.replace(c.u, a.expr, name)
	if !isMap(t) {
		c.before(s, func() string { return fmt.Sprintf("%s := append(%s[:0:0], %s...)", name, text, text) })
		return
	}
	k, v := c.fresh("k"), c.fresh("v")
	c.before(s, func() string {
		return fmt.Sprintf("%s := make(%s, len(%s))\nfor %s, %s := range %s {\n\t%s[%s] = %s\n}", name, c.typeText(t), text, k, v, text, name, k, v)
	})
}

// hoistCalls evaluates what may block in s before s. It fails where that
// depends on the variable, or is evaluated only under a condition.
func (c *cover) hoistCalls(s ast.Stmt) (err error) {
	ast.Inspect(s, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if err != nil || !ok || c.blocks(e) == "" {
			return err == nil
		}
		if _, isLit := e.(*ast.FuncLit); isLit {
			return false
		}
		if c.has(e) {
			if c.blocksItself(e) {
				err = fmt.Errorf("%s: what is stored depends on the old value through code that %s", c.u.at(e), c.blocks(e))
			}
			return err == nil
		}
		if c.conditional(&access{expr: e}, s) {
			err = fmt.Errorf("%s: %s under a condition", c.u.at(e), c.blocks(e))
			return false
		}
		name := c.fresh(c.storedIn(s))
		text := c.u.text(e)
		c.es.replace(c.u, e, name)
		c.before(s, func() string { return name + " := " + text })
		return false
	})
	if err == nil && isSend(s) {
		err = fmt.Errorf("%s: sends on a channel", c.u.at(s))
	}
	return err
}

func isSend(s ast.Stmt) bool {
	_, ok := s.(*ast.SendStmt)
	return ok
}

// blocksItself reports whether e may block even if its operands do not.
func (c *cover) blocksItself(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		return c.callReason(e) != ""
	case *ast.UnaryExpr:
		return e.Op == token.ARROW
	}
	return false
}

// storeTuple turns a, x.f = g() into a call without the lock and a store
// under it.
func (c *cover) storeTuple(s *ast.AssignStmt, accs []*access) (*region, error) {
	if len(c.in(s.Rhs[0])) > 0 {
		return nil, fmt.Errorf("%s: what is stored depends on the old value through code that %s", c.u.at(s), c.blocks(s.Rhs[0]))
	}
	var stores []string
	for _, lhs := range s.Lhs {
		if len(c.in(lhs)) == 0 {
			continue
		}
		if why := c.blocks(lhs); why != "" {
			return nil, fmt.Errorf("%s: %s", c.u.at(lhs), why)
		}
		name := c.fresh(c.nameFor(lhs))
		c.es.replace(c.u, lhs, name)
		if s.Tok == token.ASSIGN {
			typ := c.typeText(c.u.pkg.info.TypeOf(lhs))
			c.before(s, func() string { return "var " + name + " " + typ })
		}
		stores = append(stores, c.u.text(lhs)+" = "+name)
	}
	r := c.open(nil, 0, nil)
	if err := c.note(r, accs); err != nil {
		return nil, err
	}
	c.after(s, func() string { return r.lockText() + "\n" + strings.Join(stores, "\n") })
	return r, nil
}

// typeText writes a type as the file would.
func (c *cover) typeText(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == c.u.pkg.types || p.Path() == c.u.pkg.path {
			return ""
		}
		for _, spec := range c.u.file.Imports {
			if strings.Trim(spec.Path.Value, "`\"") == p.Path() && spec.Name != nil {
				return spec.Name.Name
			}
		}
		return p.Name()
	})
}

// storedIn proposes a name for a value computed for s.
func (c *cover) storedIn(s ast.Stmt) string {
	if as, ok := s.(*ast.AssignStmt); ok && len(as.Lhs) == 1 {
		return c.nameFor(as.Lhs[0])
	}
	return "value"
}

// nameFor proposes a name for a copy of e.
func (c *cover) nameFor(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return lowerFirst(e.Sel.Name)
	case *ast.Ident:
		return lowerFirst(e.Name) + "Now"
	case *ast.IndexExpr:
		return "entry"
	case *ast.StarExpr:
		return c.nameFor(e.X)
	case *ast.CallExpr:
		if isBuiltin(c.u, e, "len", "cap") {
			return "n"
		}
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok {
			return lowerFirst(sel.Sel.Name)
		}
	case *ast.BinaryExpr, *ast.UnaryExpr:
		if b, ok := c.u.pkg.info.TypeOf(e).Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
			return "ok"
		}
	}
	return "value"
}

// lowerFirst turns HTTPClient into httpClient.
func lowerFirst(s string) string {
	r := []rune(s)
	for i := range r {
		if !unicode.IsUpper(r[i]) || i > 0 && i+1 < len(r) && unicode.IsLower(r[i+1]) {
			break
		}
		r[i] = unicode.ToLower(r[i])
	}
	return string(r)
}

// fresh makes a name that means nothing yet in the function around, nor in
// the package's or the universe's scope.
func (c *cover) fresh(name string) string {
	if c.names == nil {
		c.names = usedNames(c.f)
	}
	for i := 1; ; i++ {
		try := name
		if i > 1 {
			try = fmt.Sprintf("%s%d", name, i)
		}
		if !c.names[try] && !token.IsKeyword(try) && types.Universe.Lookup(try) == nil && c.u.pkg.types.Scope().Lookup(try) == nil {
			c.names[try] = true
			return try
		}
	}
}

// usedNames are the identifiers of a function that stand alone, and those of
// the file's imports.
func usedNames(f *fn) map[string]bool {
	out := map[string]bool{}
	u := f.unit
	for _, p := range u.pkg.types.Imports() {
		out[p.Name()] = true
	}
	ast.Inspect(f.decl().node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && u.parents[id] != f.decl().node {
			if sel, isSel := u.parents[id].(*ast.SelectorExpr); !isSel || sel.Sel != id {
				out[id.Name] = true
			}
		}
		return true
	})
	return out
}

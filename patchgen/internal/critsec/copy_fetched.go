package critsec

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// copyFetched copies fields of an object that was fetched under the lock before the lock is released, if a branch right
// behind it reads them: at the time of the test, and under the same condition.
//
//	m.mu.Lock()
//	n, ok := m.nodes[name]
//	dead := ok && n.suspect
//				<-	var count int
//				<-	if dead {
//				<-		count = n.count
//				<-	}
//	m.mu.Unlock()
//	if dead {
//		log.Print(name)
//		m.spread(n.count)	->	count
//	}
func (c *builder) copyFetched() {
	ast.Inspect(c.Function.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			for i := 1; i < len(n.List); i++ {
				c.copyForBranch(n.List, i)
			}
		}
		return true
	})
}

// copyForBranch copies the fields that the branch list[i] reads, where that is possible.
func (c *builder) copyForBranch(list []ast.Stmt, i int) {
	branch, ok := list[i].(*ast.IfStmt)
	if !ok || c.releases(list[i-1]) == nil || !c.asksFor(branch, list[:i-1]) || !c.fetches(list[:i-1], branch.Body) {
		return
	}
	reads := c.In(branch.Body)
	for _, a := range reads {
		if !c.isCopiable(a, branch) {
			return
		}
	}
	// A local for each field, set before the release.
	names := map[string]string{}
	var declares, sets []string
	for _, a := range reads {
		text := c.File.Text(a.Expr)
		if names[text] == "" {
			names[text] = c.Fresh(c.NameFor(a.Expr))
			declares = append(declares, "var "+names[text]+" "+c.TypeText(c.File.TypeOf(a.Expr)))
			sets = append(sets, "\t"+names[text]+" = "+text)
		}
		c.edits.Replace(c.File, a.Expr, names[text])
		delete(c.Accesses, a.Expr)
	}
	text := strings.Join(declares, "\n") + "\nif " + c.File.Text(branch.Cond) + " {\n" + strings.Join(sets, "\n") + "\n}"
	c.before(list[i-1], func() string { return text })
}

// asksFor reports whether a branch depends on locals alone, which the statements before the release have set.
func (c *builder) asksFor(branch *ast.IfStmt, before []ast.Stmt) bool {
	if branch.Init != nil || branch.Else != nil && c.has(branch.Else) {
		return false
	}
	isLocal := true
	ast.Inspect(branch.Cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v, ok := c.File.Package.Info.Uses[n].(*types.Var)
			isLocal = isLocal && ok && !v.IsField() && !source.IsGlobal(v) && v.Pos() < before[len(before)-1].End()
		case *ast.UnaryExpr:
			isLocal = isLocal && n.Op == token.NOT
		case *ast.BinaryExpr, *ast.ParenExpr, nil:
		default:
			isLocal = false
		}
		return isLocal
	})
	return isLocal
}

// isCopiable reports whether an access reads a field that a copy may stand for: by a local, once, and not the contents.
func (c *builder) isCopiable(a *source.Access, branch *ast.IfStmt) bool {
	base, ok := ast.Unparen(a.Base).(*ast.Ident)
	isRead := a.Mode == source.Read && a.Whole == a.Expr && a.Call == nil
	if !ok || !isRead || c.Variable.Deep || a.Function != c.Function {
		return false
	}
	for n := c.File.Parents[a.Expr]; n != ast.Node(branch); n = c.File.Parents[n] {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt:
			return false
		}
	}
	return c.File.Sets(branch.Body, map[types.Object]bool{c.File.Package.Info.ObjectOf(base): true}) == nil
}

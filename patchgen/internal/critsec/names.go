package critsec

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// localNames finds names for new locals of a function.
type localNames struct {
	file     *source.File
	function *source.Function
	used     map[string]bool
}

// typeText writes a type as the file would.
func (c *localNames) typeText(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == c.file.Package.Types || p.Path() == c.file.Package.Path {
			return ""
		}
		for _, spec := range c.file.Syntax.Imports {
			if strings.Trim(spec.Path.Value, "`\"") == p.Path() && spec.Name != nil {
				return spec.Name.Name
			}
		}
		return p.Name()
	})
}

// storedIn proposes a name for a value computed for s.
func (c *localNames) storedIn(s ast.Stmt) string {
	if as, ok := s.(*ast.AssignStmt); ok && len(as.Lhs) == 1 {
		return c.nameFor(as.Lhs[0])
	}
	return "value"
}

// nameFor proposes a name for a copy of e.
func (c *localNames) nameFor(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return source.LowerFirst(e.Sel.Name)
	case *ast.Ident:
		return source.LowerFirst(e.Name) + "Now"
	case *ast.IndexExpr:
		return "entry"
	case *ast.StarExpr:
		return c.nameFor(e.X)
	case *ast.CallExpr:
		if source.IsBuiltin(c.file, e, "len", "cap") {
			return "n"
		}
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok {
			return source.LowerFirst(sel.Sel.Name)
		}
	case *ast.BinaryExpr, *ast.UnaryExpr:
		if b, ok := c.file.TypeOf(e).Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
			return "ok"
		}
	}
	return "value"
}

// fresh makes a name that means nothing yet in the function around, nor in
// the package's or the universe's scope.
func (c *localNames) fresh(name string) string {
	if c.used == nil {
		c.used = source.UsedNames(c.function)
	}
	for i := 1; ; i++ {
		try := name
		if i > 1 {
			try = fmt.Sprintf("%s%d", name, i)
		}
		if !c.used[try] && !token.IsKeyword(try) && types.Universe.Lookup(try) == nil &&
			c.file.Package.Types.Scope().Lookup(try) == nil {
			c.used[try] = true
			return try
		}
	}
}

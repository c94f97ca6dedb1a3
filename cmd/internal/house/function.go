package house

import (
	"go/ast"
	"go/token"
	"slices"
)

// measure measures one function that has a body.
func measure(fset *token.FileSet, decl *ast.FuncDecl, comments []*ast.CommentGroup) Function {
	from, to := fset.Position(decl.Pos()).Line, fset.Position(decl.End()).Line
	return Function{
		Name:       functionName(decl),
		Line:       from,
		Lines:      to - from + 1,
		Cyclomatic: cyclomatic(decl),
		Nesting:    nesting(decl.Body),
		Parameters: decl.Type.Params.NumFields(),
		Commented: slices.ContainsFunc(comments, func(g *ast.CommentGroup) bool {
			return g.Pos() > decl.Body.Lbrace && g.End() <= decl.Body.Rbrace
		}),
	}
}

// functionName returns Name, or T.Name for a method of T or *T.
func functionName(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) == 0 {
		return decl.Name.Name
	}
	receiver := decl.Recv.List[0].Type
	for {
		switch t := receiver.(type) {
		case *ast.StarExpr:
			receiver = t.X
		case *ast.ParenExpr:
			receiver = t.X
		case *ast.IndexExpr:
			receiver = t.X
		case *ast.IndexListExpr:
			receiver = t.X
		case *ast.Ident:
			return t.Name + "." + decl.Name.Name
		default:
			return decl.Name.Name
		}
	}
}

// cyclomatic returns McCabe's number: 1, and 1 more for each branch. A switch
// counts by its cases, without default.
func cyclomatic(decl *ast.FuncDecl) int {
	n := 1
	ast.Inspect(decl, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// nesting returns how many control statements stand in each other at the most.
// An else-if stands beside its if, not in it.
func nesting(body *ast.BlockStmt) (deepest int) {
	chained := map[ast.Node]bool{} // the else-ifs
	var open []bool                // of each node on the way down: whether it is a control statement
	depth := 0
	ast.Inspect(body, func(node ast.Node) bool {
		if node == nil {
			if last := len(open) - 1; open[last] {
				depth--
			}
			open = open[:len(open)-1]
			return true
		}
		control := false
		switch node := node.(type) {
		case *ast.IfStmt:
			control = !chained[node]
			if node.Else != nil {
				chained[node.Else] = true
			}
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			control = true
		}
		if control {
			depth++
		}
		deepest = max(deepest, depth)
		open = append(open, control)
		return true
	})
	return deepest
}

// crowded returns the lines of large struct types and of large conditions.
func crowded(fset *token.FileSet, file *ast.File) (structs, conditions []int) {
	inner := map[ast.Expr]bool{} // operands of a condition that is counted as a whole
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.StructType:
			if node.Fields.NumFields() >= largeStruct {
				structs = append(structs, fset.Position(node.Pos()).Line)
			}
		case *ast.BinaryExpr:
			if n := operands(node, inner); !inner[node] && n >= largeCondition {
				conditions = append(conditions, fset.Position(node.Pos()).Line)
			}
		}
		return true
	})
	return structs, conditions
}

// operands returns how many operands && and || have in an expression, and marks the inner ones of these operators.
func operands(e ast.Expr, inner map[ast.Expr]bool) int {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return operands(e.X, inner)
	case *ast.UnaryExpr:
		return operands(e.X, inner)
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			for _, x := range []ast.Expr{e.X, e.Y} {
				if b, ok := ast.Unparen(x).(*ast.BinaryExpr); ok {
					inner[b] = true
				}
			}
			return operands(e.X, inner) + operands(e.Y, inner)
		}
	}
	return 1
}

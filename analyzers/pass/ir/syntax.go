package ir

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/ssa"
)

// indexNodes keys the syntax that accesses memory or calls by the position
// that go/ssa assigns to its instructions: the selected name, the bracket, the
// parenthesis, the star, the name of a package variable, the keyword.
//
// Selectors that go through embedded fields are also keyed by the start of their operand, where go/ssa has
// the addresses of these fields: see [Program.Promoted].
func indexNodes(pass *analysis.Pass) (nodes map[token.Pos]ast.Node, promoted map[token.Pos]*ast.SelectorExpr) {
	nodes, promoted = map[token.Pos]ast.Node{}, map[token.Pos]*ast.SelectorExpr{}
	kinds := []ast.Node{
		(*ast.SelectorExpr)(nil), (*ast.IndexExpr)(nil), (*ast.CallExpr)(nil),
		(*ast.StarExpr)(nil), (*ast.Ident)(nil), (*ast.RangeStmt)(nil), (*ast.SliceExpr)(nil),
	}
	pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Preorder(kinds, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			nodes[n.Sel.Pos()] = n
			if s := pass.TypesInfo.Selections[n]; s != nil && len(s.Index()) > 1 {
				promoted[n.X.Pos()] = n
			}
		case *ast.IndexExpr:
			nodes[n.Lbrack] = n
		case *ast.SliceExpr:
			nodes[n.Lbrack] = n
		case *ast.CallExpr:
			nodes[n.Lparen] = n
		case *ast.StarExpr:
			nodes[n.Star] = n
		case *ast.RangeStmt:
			nodes[n.For] = n
		case *ast.Ident:
			// The selector was seen first, and the whole of it is the access.
			if v, ok := pass.TypesInfo.Uses[n].(*types.Var); ok && isGlobal(v) && nodes[n.Pos()] == nil {
				nodes[n.Pos()] = n
			}
		}
	})
	return nodes, promoted
}

func isGlobal(v *types.Var) bool {
	return !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// Node returns the syntax that an instruction at pos was built from: a
// selector, index, slice, call, dereference, package variable, or range statement;
// nil where there is none, as for implicit accesses.
func (p *Program) Node(pos token.Pos) ast.Node { return p.nodes[pos] }

// Promoted returns the selector that follows an embedded field at addr without its name; nil where there is none.
//
//	type plan struct{ *node }
//	p.each()	// reads p.node
func (p *Program) Promoted(addr *ssa.FieldAddr) *ast.SelectorExpr { return p.promoted[addr.Pos()] }

// Span returns the range of the expression that an instruction at pos was built from: a call is where its parenthesis
// is, and people look for its start. Where there is none both ends are pos.
func (p *Program) Span(pos token.Pos) (from, to token.Pos) {
	if e, ok := p.nodes[pos].(ast.Expr); ok {
		return e.Pos(), e.End()
	}
	return pos, pos
}

// Text returns the source of e on one line, whitespace normalised.
func Text(e ast.Expr) string {
	return strings.Join(strings.Fields(types.ExprString(e)), " ")
}

// FuncName names f as the gc compiler does, without type arguments: "F",
// "(*T).M", "F.func1", nested "F.func1.1". A range-over-func body has the
// name of the function that it stands in.
func (p *Program) FuncName(f *ssa.Function) string {
	for ; f != nil; f = f.Parent() {
		if name := p.names[f.Syntax()]; name != "" {
			return name
		}
	}
	return "init"
}

// namer names functions: declared ones by receiver and name, init functions
// and literals by number in the order of the source.
type namer struct {
	names map[ast.Node]string
	inits int
	vars  int // literals in initialisers of package variables
}

func (n *namer) nameFile(file *ast.File) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			name := n.declared(decl)
			n.names[decl] = name
			if decl.Body != nil {
				n.literals(decl.Body, name+".func", new(int))
			}
		case *ast.GenDecl:
			n.literals(decl, "init.func", &n.vars)
		}
	}
}

func (n *namer) literals(root ast.Node, prefix string, count *int) {
	ast.Inspect(root, func(node ast.Node) bool {
		lit, ok := node.(*ast.FuncLit)
		if !ok {
			return true
		}
		*count++
		n.names[lit] = fmt.Sprintf("%s%d", prefix, *count)
		n.literals(lit.Body, n.names[lit]+".", new(int))
		return false
	})
}

func (n *namer) declared(decl *ast.FuncDecl) string {
	name := decl.Name.Name
	if decl.Recv == nil || len(decl.Recv.List) == 0 {
		if name == "init" {
			name = fmt.Sprintf("init.%d", n.inits)
			n.inits++
		}
		return name
	}
	t, star := ast.Unparen(decl.Recv.List[0].Type), false
	if p, ok := t.(*ast.StarExpr); ok {
		t, star = ast.Unparen(p.X), true
	}
	switch g := t.(type) {
	case *ast.IndexExpr:
		t = g.X
	case *ast.IndexListExpr:
		t = g.X
	}
	base := types.ExprString(t)
	if star {
		return fmt.Sprintf("(*%s).%s", base, name)
	}
	return base + "." + name
}

package ir

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
)

// Alone reports whether the comment of f, or that of its receiver's type,
// asks users to keep to one goroutine at a time. What f does without a lock
// is then its caller's to order.
func (p *Program) Alone(f *ssa.Function) bool {
	f = Outermost(f)
	if f.Object() != nil && p.alone[f.Object()] {
		return true
	}
	recv := f.Signature.Recv()
	if recv == nil {
		return false
	}
	t := types.Unalias(recv.Type())
	if ptr, ok := t.(*types.Pointer); ok {
		t = types.Unalias(ptr.Elem())
	}
	n, ok := t.(*types.Named)
	return ok && p.alone[n.Origin().Obj()]
}

// NoRace reports whether f is marked go:norace: its races are meant.
func (p *Program) NoRace(f *ssa.Function) bool {
	decl, ok := Outermost(f).Syntax().(*ast.FuncDecl)
	return ok && decl.Doc != nil && slices.ContainsFunc(decl.Doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:norace")
	})
}

// readAlone finds the declared types and functions whose comments say so.
func readAlone(pass *analysis.Pass) map[types.Object]bool {
	alone := map[types.Object]bool{}
	note := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		for _, d := range docs {
			if d != nil && knowledge.CommentForbidsConcurrency(d.Text()) {
				alone[pass.TypesInfo.Defs[name]] = true
			}
		}
	}
	for _, f := range pass.Files {
		for _, decl := range f.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				note(decl.Name, decl.Doc)
				note(decl.Name, named(f.Comments, decl)...)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						note(t.Name, t.Doc, decl.Doc)
					}
				}
			}
		}
	}
	return alone
}

// named lists the comments within a function that name it.
//
//	// Since Do is not goroutine-safe, we can reuse the logger.
func named(comments []*ast.CommentGroup, fn *ast.FuncDecl) (list []*ast.CommentGroup) {
	for _, c := range comments {
		if fn.Pos() < c.Pos() && c.End() < fn.End() && slices.Contains(strings.Fields(c.Text()), fn.Name.Name) {
			list = append(list, c)
		}
	}
	return list
}

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
// asks users to keep to one goroutine at a time. Its callers then order the
// accesses that f makes without a lock.
func (p *Program) Alone(f *ssa.Function) bool {
	return says(f, func(obj types.Object) bool { return p.asks.alone[obj] })
}

// ForMany reports whether the comment of f, or that of its receiver's type, says plainly that several goroutines may
// use it.
func (p *Program) ForMany(f *ssa.Function) bool {
	return says(f, func(obj types.Object) bool {
		return knowledge.CommentPromisesSharing(p.asks.comment(obj), obj.Name())
	})
}

// SpeaksOfOrder reports whether a comment on f restricts its use by several goroutines.
func (p *Program) SpeaksOfOrder(f *ssa.Function) bool {
	obj := Outermost(f).Object()
	return obj != nil && knowledge.CommentSpeaksOfOrder(p.asks.comment(obj), obj.Name())
}

// says reports whether f, or the type of its receiver, is one of which something is said.
func says(f *ssa.Function, said func(types.Object) bool) bool {
	f = Outermost(f)
	if f.Object() != nil && said(f.Object()) {
		return true
	}
	recv := f.Signature.Recv()
	if recv == nil {
		return false
	}
	n, ok := Named(recv.Type())
	return ok && said(n.Origin().Obj())
}

// ComesFirst reports whether the comment of f, or that of a method of an interface of the package which f implements,
// asks users to call it before others, or once.
func (p *Program) ComesFirst(f *ssa.Function) bool {
	obj := Outermost(f).Object()
	return obj != nil && p.asks.first[obj]
}

// NoRace reports whether f is marked go:norace: its races are meant.
func (p *Program) NoRace(f *ssa.Function) bool {
	decl, ok := Outermost(f).Syntax().(*ast.FuncDecl)
	return ok && decl.Doc != nil && slices.ContainsFunc(decl.Doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:norace")
	})
}

// asking holds the requests of comments to callers of functions, and users of types.
type asking struct {
	alone map[types.Object]bool // one goroutine at a time
	first map[types.Object]bool // before others, or once
	// comments are those of each, and are read where a finding asks.
	comments map[types.Object][]*ast.CommentGroup
}

// comment returns the comments of obj as one text.
func (a asking) comment(obj types.Object) string {
	var texts []string
	for _, c := range a.comments[obj] {
		texts = append(texts, c.Text())
	}
	return strings.Join(texts, "\n")
}

// readAsking finds the declared types and functions with comments that ask something.
func readAsking(pass *analysis.Pass) asking {
	asks := asking{map[types.Object]bool{}, map[types.Object]bool{}, map[types.Object][]*ast.CommentGroup{}}
	// A type forbids, and a function does so or comes first.
	note := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		obj := pass.TypesInfo.Defs[name]
		_, isType := obj.(*types.TypeName)
		for _, d := range docs {
			if d == nil {
				continue
			}
			text := strings.Join(strings.Fields(d.Text()), " ")
			asks.alone[obj] = asks.alone[obj] || knowledge.CommentForbidsConcurrency(d.Text())
			asks.comments[obj] = append(asks.comments[obj], d)
			asks.first[obj] = asks.first[obj] || !isType && knowledge.CommentComesFirst(text)
		}
	}
	// Declarations, and the methods of interfaces.
	for _, f := range pass.Files {
		for _, decl := range f.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				note(decl.Name, decl.Doc)
				note(decl.Name, commentsNaming(f.Comments, decl)...)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						note(t.Name, t.Doc, decl.Doc)
						for _, m := range methodsOf(t) {
							note(m.Names[0], m.Doc)
						}
					}
				}
			}
		}
	}
	asks.ofInterfaces(pass.Pkg.Scope())
	return asks
}

// methodsOf lists the methods that the declaration of an interface names.
func methodsOf(t *ast.TypeSpec) []*ast.Field {
	i, ok := t.Type.(*ast.InterfaceType)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(i.Methods.List), func(f *ast.Field) bool { return len(f.Names) == 0 })
}

// ofInterfaces adds the methods that implement those of interfaces of the package for which something is asked.
func (a asking) ofInterfaces(scope *types.Scope) {
	var interfaces []*types.Interface
	var others []*types.Named
	for _, name := range scope.Names() {
		obj, ok := scope.Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		named, ok := obj.Type().(*types.Named)
		if i, isInterface := obj.Type().Underlying().(*types.Interface); isInterface {
			interfaces = append(interfaces, i)
		} else if ok {
			others = append(others, named)
		}
	}
	for _, i := range interfaces {
		for m := range i.ExplicitMethods() {
			if !a.alone[m] && !a.first[m] {
				continue
			}
			for _, named := range others {
				if !types.Implements(types.NewPointer(named), i) {
					continue
				}
				obj, _, _ := types.LookupFieldOrMethod(named, true, m.Pkg(), m.Name())
				a.alone[obj], a.first[obj] = a.alone[obj] || a.alone[m], a.first[obj] || a.first[m]
			}
		}
	}
}

// commentsNaming lists the comments within a function that name it.
//
//	// Since Do is not goroutine-safe, we can reuse the logger.
func commentsNaming(comments []*ast.CommentGroup, fn *ast.FuncDecl) (list []*ast.CommentGroup) {
	for _, c := range comments {
		if fn.Pos() < c.Pos() && c.End() < fn.End() && slices.Contains(strings.Fields(c.Text()), fn.Name.Name) {
			list = append(list, c)
		}
	}
	return list
}

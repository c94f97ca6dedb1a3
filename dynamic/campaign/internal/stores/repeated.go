package stores

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Two goroutines that set the same flag, or remove the same key, leave the same
// behind. Harm is done for certain by code beside it that both of them run only where that closes a channel, puts
// another object in the place of one that goroutines meet at, or counts the keys of a map that has got one. Whether it
// matters that two goroutines are started, or two values sent, a test has to show.

// maxRepeated bounds how deep calls are followed.
const maxRepeated = 4

// repeated finds what is done twice with the end of a section.
type repeated struct {
	src    *Source
	pkg    *sites.Package
	within []*ast.FuncDecl // that are looked at
	keys   bool            // a number beside a map counts its keys
}

// places returns where the function of the section has its entry and the end that was met: at the calls, where these
// lie in callees.
func (src *Source) places(section *plan.Section, s *evidence.SplitSection) (entry, end *plan.Site) {
	entry, end = src.Plan.Site(section.Entry), src.Plan.Site(s.End.Site)
	if section.EntryCall != nil {
		entry = &plan.Site{File: section.File, Line: section.EntryCall.Line, Column: section.EntryCall.Column}
	}
	for _, e := range section.Ends {
		if e.Site == s.End.Site && e.EndCall != nil {
			end = &plan.Site{File: section.File, Line: e.EndCall.Line, Column: e.EndCall.Column}
		}
	}
	return entry, end
}

// repeats reports whether what the test of the section decides about may matter
// when it is done twice, besides the end itself.
func (src *Source) repeats(section *plan.Section, s *evidence.SplitSection) bool {
	entry, end := src.places(section, s)
	for _, p := range src.Packages {
		for _, f := range p.Files {
			if end.File != entry.File || !IsFile(p, f, end.File) {
				continue
			}
			r := &repeated{src: src, pkg: p, keys: src.Plan.Site(s.End.Site).Variable.Kind == plan.KindMap}
			for _, n := range decided(p, f, entry, end) {
				if r.counts(n) {
					return true
				}
			}
			return false
		}
	}
	return true
}

// decided lists the code that the test at the entry decides about, by which the end
// is reached: the outermost block around the end that begins behind the entry,
// or what stands behind the entry in the block that has both.
func decided(p *sites.Package, f *ast.File, entry, end *plan.Site) (code []ast.Node) {
	behind := func(n ast.Node) bool { return before(entry.Line, entry.Column, p.Fset.PositionFor(n.Pos(), false)) }
	done := false
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil || done || !covers(p.Fset, n, end) {
			return false
		}
		b, ok := n.(*ast.BlockStmt)
		if !ok {
			return true
		}
		code = nil
		for _, s := range b.List {
			if behind(s) {
				code = append(code, s)
			}
		}
		done = behind(b)
		return true
	})
	return code
}

// counts reports whether code does anything that is not the same when it is done twice, or may.
func (r *repeated) counts(code ast.Node) (found bool) {
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			found = found || r.keys && r.shared(n.X)
		case *ast.AssignStmt:
			found = found || r.assigns(n)
		case *ast.CallExpr:
			found = found || r.calls(n)
		case *ast.FuncLit:
			return false // looked at where it is called
		}
		return !found
	})
	return found
}

// shared reports whether e is more than a local variable.
func (r *repeated) shared(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return true
	}
	obj := r.pkg.Info.ObjectOf(id)
	return r.pkg.Types != nil && obj != nil && obj.Parent() == r.pkg.Types.Scope()
}

// assigns reports whether the assignment counts keys, or puts another object in the place of one that goroutines
// meet at.
func (r *repeated) assigns(n *ast.AssignStmt) bool {
	for i, e := range n.Lhs {
		if n.Tok == token.DEFINE || !r.shared(e) {
			continue
		}
		if n.Tok != token.ASSIGN || len(n.Lhs) != len(n.Rhs) {
			if r.keys {
				return true
			}
			continue
		}
		if t := r.pkg.Info.TypeOf(e); t != nil && !isConstant(r.pkg, n.Rhs[i]) && isMeetingPlace(t) {
			return true
		}
	}
	return false
}

// builtin returns the name of the builtin function that is called, or "".
func (r *repeated) builtin(call *ast.CallExpr) string {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := r.pkg.Info.Uses[id].(*types.Builtin); ok {
			return b.Name()
		}
	}
	return ""
}

// calls reports whether a call does, or may do, what counts.
func (r *repeated) calls(call *ast.CallExpr) bool {
	if b := r.builtin(call); b != "" {
		return b == "close"
	}
	if r.pkg.Info.Types[call.Fun].IsType() {
		return false
	}
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.FuncLit:
		return r.counts(fun.Body)
	case *ast.Ident:
		return r.callsFunc(r.pkg.Info.Uses[fun])
	case *ast.SelectorExpr:
		return r.callsFunc(r.pkg.Info.Uses[fun.Sel])
	}
	return false
}

// callsFunc is calls for the function that is called, or the variable that holds it.
func (r *repeated) callsFunc(obj types.Object) bool {
	fn, ok := obj.(*types.Func)
	if !ok || fn.Pkg() == nil {
		return false
	}
	if fn.Pkg().Path() == "sync/atomic" {
		return r.keys && strings.HasPrefix(fn.Name(), "Add")
	}
	// A function of the module is followed into its body.
	name := fn.Origin().FullName()
	for _, p := range r.src.Packages {
		for _, f := range p.Files {
			for _, d := range f.Decls {
				decl, ok := d.(*ast.FuncDecl)
				if !ok || decl.Body == nil || decl.Name.Name != fn.Name() {
					continue
				}
				if def, ok := p.Info.Defs[decl.Name].(*types.Func); !ok || def.FullName() != name {
					continue
				}
				if slices.Contains(r.within, decl) || len(r.within) == maxRepeated {
					return false
				}
				inner := &repeated{r.src, p, append(slices.Clone(r.within), decl), r.keys}
				return inner.counts(decl.Body)
			}
		}
	}
	return false
}

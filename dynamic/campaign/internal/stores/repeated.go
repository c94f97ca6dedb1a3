package stores

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/internal/library"
)

// Two goroutines that set the same flag, or remove the same key, leave the same
// behind. What is wrong then is what both of them do beside it: start a goroutine,
// count, send. A table that is filled anew with the same, or a Close that counts once, is
// none of that, as far as the module's own functions show.

// maxRepeated bounds how deep calls are followed.
const maxRepeated = 4

// repeated finds what is done twice with the end of a section.
type repeated struct {
	src    *Source
	pkg    *sites.Package
	within []*ast.FuncDecl // that are looked at
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
			r := &repeated{src: src, pkg: p}
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
	dropped := map[*ast.SendStmt]bool{}
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectStmt:
			r.findDropped(n, dropped)
		case *ast.GoStmt:
			found = true
		case *ast.SendStmt:
			found = !dropped[n]
		case *ast.IncDecStmt:
			found = found || r.shared(n.X)
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

// findDropped notes the sends of a select that are left out where there is no room, and say no more than that
// something has happened:
//
//	select { case wake <- struct{}{}: default: }
func (r *repeated) findDropped(s *ast.SelectStmt, dropped map[*ast.SendStmt]bool) {
	hasDefault := slices.ContainsFunc(s.Body.List, func(c ast.Stmt) bool { return c.(*ast.CommClause).Comm == nil })
	for _, c := range s.Body.List {
		if send, ok := c.(*ast.CommClause).Comm.(*ast.SendStmt); ok && hasDefault {
			lit, isLit := ast.Unparen(send.Value).(*ast.CompositeLit)
			dropped[send] = isConstant(r.pkg, send.Value) || isLit && len(lit.Elts) == 0
		}
	}
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

// assigns reports whether the assignment updates what others see, or puts another
// object that changes in its place.
func (r *repeated) assigns(n *ast.AssignStmt) bool {
	for i, e := range n.Lhs {
		if n.Tok == token.DEFINE || !r.shared(e) {
			continue
		}
		if n.Tok != token.ASSIGN || len(n.Lhs) != len(n.Rhs) {
			return true
		}
		call, isCall := ast.Unparen(n.Rhs[i]).(*ast.CallExpr)
		appended := isCall && r.builtin(call) == "append"
		if appended || !isConstant(r.pkg, n.Rhs[i]) && r.src.refersToChanging(r.pkg.Info.TypeOf(e)) {
			return true
		}
	}
	return false
}

// refersToChanging reports whether it matters which of two values of the type goes on to be used.
func (src *Source) refersToChanging(of types.Type) bool {
	switch of.Underlying().(type) {
	case *types.Map, *types.Chan, *types.Pointer:
		return src.unequal(of, []uint64{1}, []uint64{2})
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
	return true
}

// callsFunc is calls for the function that is called, or the variable that holds it.
func (r *repeated) callsFunc(obj types.Object) bool {
	fn, ok := obj.(*types.Func)
	if !ok || fn.Pkg() == nil {
		return true
	}
	if library.IsQuiet(fn.Pkg().Path()) {
		return !library.SameTwice(fn)
	}
	// A function of the module is followed into its body; any other may do anything.
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
					return true
				}
				inner := &repeated{r.src, p, append(slices.Clone(r.within), decl)}
				return inner.counts(decl.Body)
			}
		}
	}
	return true
}

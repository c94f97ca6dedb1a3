package lockfacts

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// Lasting returns what n does that lasts: beyond the locals of its function and what is made there, so that code which
// runs later may have to undo it, and a second time does more than the first. "" if there is nothing.
//
//	v := build(key)		nothing, if build only makes what it returns
//	s.pending++		changes s.pending
//	s.tokens <- true	sends on a channel
//	conn := dial(addr)	calls net.Dial, of which it is not known
func (facts *Facts) Lasting(file *source.File, n ast.Node) (why string) {
	if n == nil {
		return ""
	}
	check := func(targets ...ast.Expr) {
		for _, e := range targets {
			if e != nil && why == "" && !isOwn(file, e) {
				why = "changes " + file.Text(e)
			}
		}
	}
	ast.Inspect(n, func(x ast.Node) bool {
		if why != "" {
			return false
		}
		if why = waits(file, x); why != "" {
			return false
		}
		switch x := x.(type) {
		case *ast.FuncLit:
			return false // its body counts where it is called
		case *ast.GoStmt:
			why = "starts a goroutine"
		case *ast.DeferStmt:
			why = "defers a call"
		case *ast.AssignStmt:
			check(x.Lhs...)
		case *ast.IncDecStmt:
			check(x.X)
		case *ast.RangeStmt:
			check(x.Key, x.Value)
		case *ast.CallExpr:
			why = facts.lastingCall(file, x)
		}
		return why == ""
	})
	return why
}

// lastingCall judges a call, its operands apart.
func (facts *Facts) lastingCall(file *source.File, call *ast.CallExpr) string {
	info := file.Package.Info
	if tv := info.Types[call.Fun]; tv.IsType() {
		return ""
	} else if tv.IsBuiltin() {
		switch name := builtinName(call); name {
		case "close", "delete", "clear", "copy", "recover", "print", "println":
			return "calls " + name
		}
		return ""
	}
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		return facts.Lasting(file, lit.Body)
	}
	unknown := fmt.Sprintf("calls %s, which may do anything", file.Text(call.Fun))
	f := typeutil.StaticCallee(info, call)
	if f == nil || f.Pkg() == nil {
		return unknown
	}
	if own := file.Module.Declared[f.Origin().FullName()]; own != nil {
		return facts.lastingCallee(own)
	}
	return lastingLibrary(f, unknown)
}

func builtinName(call *ast.CallExpr) string {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr: // unsafe.Slice
		return f.Sel.Name
	}
	return ""
}

// lastingCallee returns the reason of the whole body of a declared function, kept.
func (facts *Facts) lastingCallee(f *source.Function) string {
	if why, known := facts.lasting[f]; known {
		return why
	}
	facts.lasting[f] = "" // recursion adds nothing
	why := facts.Lasting(f.File, f.Body)
	if why != "" && !strings.Contains(why, " through ") {
		why += " through " + f.Name()
	}
	facts.lasting[f] = why
	return why
}

// stateful are library packages with functions that change what they are not handed, or make what has to be ended.
var stateful = []string{"sync", "sync/atomic", "time", "context"}

// clock are functions of package time that do nothing else than to return a time.
var clock = []string{"Now", "Since", "Until", "Unix"}

// lastingLibrary judges a function outside of the module: it must be known to do no I/O, and to leave its arguments as
// they are.
func lastingLibrary(f *types.Func, unknown string) string {
	path := f.Pkg().Path()
	switch {
	case path == "time" && f.Signature().Recv() == nil && slices.Contains(clock, f.Name()):
		return ""
	case path == "time" && f.Signature().Recv() != nil:
		if t := types.TypeString(f.Signature().Recv().Type(), nil); t == "time.Time" || t == "time.Duration" {
			return ""
		}
		return unknown
	case path == "sync/atomic" && strings.HasPrefix(f.Name(), "Load"):
		return ""
	case slices.Contains(stateful, path) || !callgraph.NeverWaits(f):
		return unknown
	}
	args := f.Signature().Params().Len()
	if f.Signature().Recv() != nil {
		args++
	}
	for i := range args {
		if writes, known := callgraph.LibraryWrites(f, i); writes || !known {
			return unknown
		}
	}
	return ""
}

// isOwn reports whether an expression that is set is a local variable, a part of one that holds its parts itself, or a
// field or an element of what the declaration of one makes.
func isOwn(file *source.File, e ast.Expr) bool {
	info := file.Package.Info
	for parts := 0; ; parts++ {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			v, ok := info.ObjectOf(x).(*types.Var)
			switch {
			case x.Name == "_":
				return true
			case !ok || v.IsField() || source.IsGlobal(v):
				return false
			}
			return parts == 0 || isValue(v.Type()) || parts == 1 && isMadeFor(file, v)
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		default:
			return false
		}
	}
}

// isValue reports whether a variable of the type holds its parts itself, and no pointers to what others may reach.
func isValue(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Array:
		return isValue(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if !isValue(f.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

// isMadeFor reports whether a local is declared with what is made for it, such as &T{}, new(T) and make(…), and is
// not set again. What its fields or elements refer to may be anybody's.
func isMadeFor(file *source.File, v *types.Var) bool {
	made, sets := false, 0
	ast.Inspect(file.Syntax, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, lhs := range a.Lhs {
			id, ok := ast.Unparen(lhs).(*ast.Ident)
			if !ok || file.Package.Info.ObjectOf(id) != v {
				continue
			}
			sets++
			made = len(a.Lhs) == len(a.Rhs) && makes(file, a.Rhs[i])
		}
		return true
	})
	return made && sets == 1
}

// makes reports whether an expression makes the object that it stands for.
func makes(file *source.File, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		_, ok := ast.Unparen(e.X).(*ast.CompositeLit)
		return ok && e.Op == token.AND
	case *ast.CallExpr:
		name := builtinName(e)
		return file.Package.Info.Types[e.Fun].IsBuiltin() && (name == "new" || name == "make")
	}
	return false
}

package lockfacts

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// Blocks returns why n must not be evaluated under a new lock: it may wait, do
// I/O, or call code that is not known here. "" if nothing speaks against it.
// Function literals count only where they are run on the spot; what go and
// defer start counts with its operands alone. Lock operations count too: a
// new region ends where another begins.
func (facts *Facts) Blocks(file *source.File, n ast.Node) string {
	return facts.blocksIn(file, n, false)
}

// blocksIn is blocks; inside a callee deferred calls count, since they run
// before it ends.
func (facts *Facts) blocksIn(file *source.File, n ast.Node, callee bool) (why string) {
	if n == nil {
		return ""
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
		case *ast.ForStmt:
			if x.Cond == nil && !hasJump(x.Body) {
				why = "loops without end"
			}
		case *ast.GoStmt:
			why = facts.operands(file, x.Call, callee)
			return false
		case *ast.DeferStmt:
			if !callee {
				why = facts.operands(file, x.Call, callee)
				return false
			}
		case *ast.CallExpr:
			why = facts.CallReason(file, x)
		}
		return why == ""
	})
	return why
}

// waits returns what n itself, apart from its parts, waits for: a channel, or a
// function that yields values. It is empty for all else.
func waits(file *source.File, n ast.Node) string {
	switch n := n.(type) {
	case *ast.SendStmt:
		return "sends on a channel"
	case *ast.SelectStmt:
		return "selects on channels"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "receives from a channel"
		}
	case *ast.RangeStmt:
		if t := file.TypeOf(n.X); t != nil {
			switch t.Underlying().(type) {
			case *types.Chan:
				return "ranges over a channel"
			case *types.Signature:
				return "ranges over a function"
			}
		}
	}
	return ""
}

// hasJump reports whether a loop body has a way out.
func hasJump(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Tok == token.BREAK || n.Tok == token.GOTO
		}
		return true
	})
	return found
}

// operands of a call that go or defer evaluates on the spot.
func (facts *Facts) operands(file *source.File, call *ast.CallExpr, callee bool) string {
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		if why := facts.blocksIn(file, sel.X, callee); why != "" {
			return why
		}
	}
	for _, arg := range call.Args {
		if why := facts.blocksIn(file, arg, callee); why != "" {
			return why
		}
	}
	return ""
}

// CallReason returns why a call may not be made under a new lock, its operands
// apart.
func (facts *Facts) CallReason(file *source.File, call *ast.CallExpr) string {
	info := file.Package.Info
	if tv, ok := info.Types[call.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		return ""
	}
	if op, ok := file.LockOp(call); ok {
		return "uses the lock " + source.Short(op.Path.Class)
	}
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		return facts.blocksIn(file, lit.Body, true)
	}
	f := typeutil.StaticCallee(info, call)
	if f == nil {
		if known, ok := facts.implementations(file, call); ok {
			for _, own := range known {
				if why := facts.blocksCallee(own); why != "" {
					return why
				}
			}
			return ""
		}
		return fmt.Sprintf("calls %s, which may be any code", file.Text(call.Fun))
	}
	if own := file.Module.Declared[f.Origin().FullName()]; own != nil {
		return facts.blocksCallee(own)
	}
	return facts.libraryReason(file, f, call)
}

// implementations lists the methods that a call through an interface may run. Ok is false
// where the module may not hold all of them: the interface has a name that other
// modules can use, or none.
func (facts *Facts) implementations(file *source.File, call *ast.CallExpr) (known []*source.Function, ok bool) {
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !isSel || file.Package.Info.Selections[sel] == nil {
		return nil, false
	}
	named := source.Named(file.Package.Info.Selections[sel].Recv())
	if named == nil || ast.IsExported(named.Obj().Name()) || named.Obj().Pkg() == nil {
		return nil, false
	}
	iface, isInterface := named.Underlying().(*types.Interface)
	if !isInterface || iface.NumMethods() == 0 {
		return nil, false
	}
	for _, f := range file.Module.Declared {
		if f.Object == nil || f.Object.Name() != sel.Sel.Name || f.Object.Signature().Recv() == nil {
			continue
		}
		if types.Implements(f.Object.Signature().Recv().Type(), iface) {
			known = append(known, f)
		}
	}
	return known, len(known) > 0
}

// blocksCallee is the reason of the whole body of a declared function, kept.
func (facts *Facts) blocksCallee(f *source.Function) string {
	if why, known := facts.blocking[f]; known {
		return why
	}
	facts.blocking[f] = "" // recursion adds nothing
	why := facts.blocksIn(f.File, f.Body, true)
	if why != "" && !strings.Contains(why, " through ") {
		why += " through " + f.Name()
	}
	facts.blocking[f] = why
	return why
}

// libraryReason judges a call of a function outside the module.
func (facts *Facts) libraryReason(file *source.File, f *types.Func, call *ast.CallExpr) string {
	if f.Pkg() == nil {
		return ""
	}
	if f.FullName() == "(*sync.Pool).Get" {
		return facts.newReason(file.Package)
	}
	if !callgraph.NeverWaits(f) {
		return fmt.Sprintf("calls %s, which may wait or do I/O", file.Text(call.Fun))
	}
	for _, arg := range call.Args {
		if why := facts.callbackReason(file, arg, f.Pkg().Path()); why != "" {
			return why
		}
	}
	return ""
}

// newReason judges the functions that a package sets as New of a sync.Pool, all of which a Get may call.
func (facts *Facts) newReason(pkg *source.Package) (why string) {
	judge := func(file *source.File, name ast.Expr, value ast.Expr) {
		id, ok := name.(*ast.Ident)
		if !ok || why != "" {
			return
		}
		field, ok := file.Package.Info.ObjectOf(id).(*types.Var)
		if !ok || !field.IsField() || field.Name() != "New" || field.Pkg() == nil || field.Pkg().Path() != "sync" {
			return
		}
		why = facts.callbackReason(file, value, "sync")
	}
	for _, file := range pkg.Files {
		ast.Inspect(file.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt: // pool.New = func() any {…}
				for i, lhs := range n.Lhs {
					if sel, ok := lhs.(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) {
						judge(file, sel.Sel, n.Rhs[i])
					}
				}
			case *ast.KeyValueExpr: // sync.Pool{New: func() any {…}}
				judge(file, n.Key, n.Value)
			}
			return why == ""
		})
	}
	return why
}

// callbackReason judges an argument that the callee may call: a function, or an
// object with methods.
func (facts *Facts) callbackReason(file *source.File, arg ast.Expr, pkg string) string {
	t := file.TypeOf(arg)
	if t == nil {
		return ""
	}
	// f(func() {…}), f(less), f(v) with the methods of v
	if lit, ok := ast.Unparen(arg).(*ast.FuncLit); ok {
		return facts.blocksIn(file, lit.Body, true)
	}
	switch t.Underlying().(type) {
	case *types.Signature:
		if f, ok := typeutil.Callee(file.Package.Info, &ast.CallExpr{Fun: arg}).(*types.Func); ok {
			if own := file.Module.Declared[f.Origin().FullName()]; own != nil {
				return facts.blocksCallee(own)
			}
		}
		return fmt.Sprintf("hands on %s, which may be any code", file.Text(arg))
	case *types.Interface:
		if pkg == "fmt" || pkg == "sort" || pkg == "bytes" || pkg == "errors" || pkg == "container/heap" {
			return fmt.Sprintf("hands on %s, whose methods may be any code", file.Text(arg))
		}
		return ""
	}
	if pkg != "fmt" && pkg != "sort" && pkg != "container/heap" {
		return ""
	}
	for _, own := range facts.methodsOf(t, file.Module) {
		if why := facts.blocksCallee(own); why != "" {
			return why
		}
	}
	return ""
}

// methodsOf lists the methods of the module that library functions call on a value of type t.
func (facts *Facts) methodsOf(t types.Type, m *source.Module) (list []*source.Function) {
	set := types.NewMethodSet(t)
	for i := range set.Len() {
		f := set.At(i).Obj().(*types.Func)
		if own := m.Declared[f.Origin().FullName()]; own != nil && callgraph.CallsBack(f.Name()) {
			list = append(list, own)
		}
	}
	return list
}

// Runs lists the functions of the module that a call may run before it returns: the one that
// it names, those behind an interface, and those that a library function calls back.
func (facts *Facts) Runs(file *source.File, call *ast.CallExpr) []*source.Function {
	if own := file.Callee(call); own != nil {
		return []*source.Function{own}
	}
	if known, ok := facts.implementations(file, call); ok {
		return known
	}
	var list []*source.Function
	for _, arg := range call.Args {
		if t := file.TypeOf(arg); t != nil {
			list = append(list, facts.methodsOf(t, file.Module)...)
		}
		if f, ok := typeutil.Callee(file.Package.Info, &ast.CallExpr{Fun: arg}).(*types.Func); ok {
			if own := file.Module.Declared[f.Origin().FullName()]; own != nil {
				list = append(list, own)
			}
		}
	}
	return list
}

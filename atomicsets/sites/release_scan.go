package sites

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// releaseScan reads one package.
type releaseScan struct {
	*handovers
	*walker
	unseen bool // see unseenImporters
}

// scanFile reads the functions of a file, and those in its variables.
func (s *releaseScan) scanFile(f *ast.File) {
	hidden := importsC(f)
	names := linknames(f)
	for _, d := range f.Decls {
		fn, isFunc := d.(*ast.FuncDecl)
		s.addresses(d)
		if isFunc && fn.Body == nil {
			continue
		}
		var body ast.Node = d
		if isFunc {
			body = fn.Body
		}
		if hidden || isFunc && neverInstrument(fn, names) {
			s.markHidden(body)
			continue
		}
		if isFunc {
			s.markLoose(s.function(fn.Body))
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok {
				s.markLoose(s.function(lit.Body))
				return false
			}
			return true
		})
	}
}

// markHidden makes the locks loose that a function releases without being instrumented.
func (s *releaseScan) markHidden(body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		if e, ok := n.(*ast.SelectorExpr); ok {
			if m, ok := s.method(e); ok && m.releases() {
				s.markLoose([]lockMethod{m})
			}
		}
		return true
	})
}

// markLoose makes the locks of the releases loose.
func (s *releaseScan) markLoose(releases []lockMethod) {
	for _, m := range releases {
		switch {
		case m.ofCond:
			s.looseCond = true
		case m.lock == "":
			s.looseAlias = true
		default:
			s.loose[m.lock] = true
		}
	}
}

// lockMethod is a use of a method of a lock.
type lockMethod struct {
	name  string // Lock, TryRLock
	lock  string // in all instances; "" is not known
	cell  string // the operand as the function has it, and whether it is held to read
	parts []types.Object
	// ofCond: it is the lock of a Cond, by its field L.
	ofCond bool
}

func (m lockMethod) releases() bool { return strings.HasSuffix(m.name, "Unlock") }

// method returns the use of a method of a lock that e is: one of package sync, or of an interface that
// has such a method.
func (s *releaseScan) method(e *ast.SelectorExpr) (m lockMethod, ok bool) {
	sel := s.info.Selections[e]
	if sel == nil || !slices.Contains(lockMethods, e.Sel.Name) {
		return m, false
	}
	fn, ok := sel.Obj().(*types.Func)
	if !ok || fn.Signature().Params().Len() > 0 {
		return m, false
	}
	recv := fn.Signature().Recv().Type()
	byInterface := types.IsInterface(recv)
	if !byInterface && !isSyncLock(recv) {
		return m, false
	}
	m.name = e.Sel.Name
	if sel.Kind() == types.MethodExpr {
		return m, true // (*sync.Mutex).Unlock
	}
	m.cell, m.parts = s.cellOf(e.X, m.name)
	steady := s.isSteady(e.X) && s.leadsSteadily(sel)
	// Which lock it is, and whether something else may lead to it.
	v, last := s.lockVariable(e, sel)
	if m.ofCond = s.isCondLock(e.X); !m.ofCond && !byInterface && v != nil {
		m.lock = s.lockOf(e, sel)
	}
	if m.releases() && !steady {
		s.markLoose([]lockMethod{m})
	}
	switch {
	case m.ofCond:
	case byInterface:
		s.interfaces = true
		s.aliased[s.lockOf(e, sel)] = true
	case v == nil:
	case v.Pkg() == nil || !s.seen[v.Pkg().Path()] || s.unseen && v.Exported():
		s.loose[m.lock] = true
	case isPointer(last):
		s.aliased[m.lock] = true
	case len(sel.Index()) > 1:
		s.promoted[m.lock] = true
	}
	return m, true
}

// cellOf returns the operand x of a method as the function has it, with its variables.
func (s *releaseScan) cellOf(x ast.Expr, method string) (cell string, parts []types.Object) {
	cell = types.ExprString(x)
	if strings.HasPrefix(strings.TrimPrefix(method, "Try"), "R") {
		cell += " to read"
	}
	ast.Inspect(x, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := s.info.Uses[id].(*types.Var); ok {
				parts = append(parts, v)
				cell += fmt.Sprintf(" %p", v)
			}
		}
		return true
	})
	return cell, parts
}

// lockVariable returns the variable or field that a lock is, and the type that it has there; nil where it is neither.
func (s *releaseScan) lockVariable(e *ast.SelectorExpr, sel *types.Selection) (*types.Var, types.Type) {
	t := sel.Recv()
	if index := sel.Index(); len(index) > 1 {
		var f *types.Var
		for _, n := range index[:len(index)-1] {
			f = structOf(t).Field(n)
			t = f.Type()
		}
		return f, t
	}
	x := ast.Unparen(e.X)
	for {
		switch y := x.(type) {
		case *ast.IndexExpr:
			x = ast.Unparen(y.X)
			continue
		case *ast.Ident:
			v, _ := s.info.Uses[y].(*types.Var)
			return v, t
		case *ast.SelectorExpr:
			v, _ := s.info.Uses[y.Sel].(*types.Var)
			return v, t
		}
		return nil, t
	}
}

// isSyncLock reports whether t is a lock of package sync, or a pointer to one.
func isSyncLock(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "sync" {
		return false
	}
	return slices.Contains([]LockKind{Mutex, RWMutex, Locker}, LockKind(n.Obj().Name()))
}

// isCondLock reports whether x is the field L of a Cond.
func (s *releaseScan) isCondLock(x ast.Expr) bool {
	e, ok := ast.Unparen(x).(*ast.SelectorExpr)
	if !ok || e.Sel.Name != "L" {
		return false
	}
	v, ok := s.info.Uses[e.Sel].(*types.Var)
	return ok && v.IsField() && v.Pkg() != nil && v.Pkg().Path() == "sync"
}

// addresses notes the locks with their address taken in n. Code that is not seen may release them. A Cond,
// which acquires in Wait the lock that it has released, releases for others where a function waits that
// acquires nothing: see bodyScan.
func (s *releaseScan) addresses(n ast.Node) {
	forCond, used := map[ast.Expr]bool{}, map[ast.Expr]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			s.arguments(n, forCond)
		case *ast.CompositeLit:
			if isNamed(s.info.TypeOf(n), "sync", "Cond") {
				for _, elt := range n.Elts {
					if kv, ok := elt.(*ast.KeyValueExpr); ok {
						forCond[ast.Unparen(kv.Value)] = true
					}
				}
			}
		case *ast.UnaryExpr:
			if lock, ok := s.addressed(n); ok && forCond[n] {
				s.conds[lock] = true
			} else if ok {
				s.aliased[lock] = true
			}
		case *ast.SelectorExpr:
			used[ast.Unparen(n.X)] = true
			// the lock of a Cond is handed on
			s.looseCond = s.looseCond || s.isCondLock(n) && !used[n]
		}
		return true
	})
}

// addressed returns the lock that e is the address of.
func (s *releaseScan) addressed(e *ast.UnaryExpr) (lock string, ok bool) {
	if e.Op != token.AND || !isSyncLock(s.info.TypeOf(e.X)) {
		return "", false
	}
	return s.operandName(e.X), true
}

// arguments notes the locks that a call passes to functions that are not seen.
func (s *releaseScan) arguments(call *ast.CallExpr, forCond map[ast.Expr]bool) {
	fn := calleeOf(s.info, call)
	if fn == nil || fn.Pkg() == nil || s.seen[fn.Pkg().Path()] {
		return
	}
	switch fn.FullName() {
	case "(reflect.Value).Call", "(reflect.Value).CallSlice", "(reflect.Value).Method", "(reflect.Value).MethodByName":
		s.reflects = true
	case "sync.NewCond":
		arg := ast.Unparen(call.Args[0])
		forCond[arg] = true
		s.conds[s.operandName(arg)] = true // where it is a pointer
		return
	}
	for _, arg := range call.Args {
		arg = ast.Unparen(arg)
		if !isSyncLock(s.info.TypeOf(arg)) {
			continue
		}
		if e, ok := arg.(*ast.UnaryExpr); ok {
			if lock, ok := s.addressed(e); ok {
				s.loose[lock] = true
				continue
			}
		}
		s.looseAlias = true
	}
}

// calleeOf returns the function that a call names; nil where it is a value.
func calleeOf(info *types.Info, call *ast.CallExpr) *types.Func {
	var id *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	case *ast.IndexExpr:
		return calleeOf(info, &ast.CallExpr{Fun: f.X})
	default:
		return nil
	}
	fn, _ := info.Uses[id].(*types.Func)
	return fn
}

func isNamed(t types.Type, pkg, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg && n.Obj().Name() == name
}

package syncfix

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// relock keeps code that runs under a lock from taking it again. A call of a
// method that only returns a field becomes the field:
//
//	s.mu.Lock()
//	defer s.mu.Unlock()
//	return New(s.T())	->	return New(s.t)
//
// Of another method, what it does under the lock becomes a method of its own,
// which both call:
//
//	func (s *Suite) T() *testing.T {
//		s.mu.Lock()
//		defer s.mu.Unlock()
//		return s.tLocked()
//	}
//
// Where the holder has the read side and the callee needs the write side, the
// holder takes that. It applies where the callee takes the lock first and defers its
// release, and does nothing else with it. Obligation: [validate.LockedOnce].
func relock(p *Problem) (*strategy.Patch, error) {
	r := &relocking{Problem: p, edits: edit.New(), twins: map[*source.Function]string{},
		widened: map[*source.Function]bool{}}
	for _, f := range p.Findings {
		if p.isReachedByOther(f) {
			continue // the call that leads there is another finding
		}
		// The first place, and those that were added to it, where a lock is held too.
		for i, a := range f.Accesses {
			if i > 0 && len(a.Locks) == 0 {
				continue
			}
			if err := r.correct(f, a); err != nil {
				return nil, err
			}
		}
	}
	files, err := r.edits.Files()
	return &strategy.Patch{Files: files, Claim: validate.Claim{Kind: validate.LockedOnce, Lock: r.class}}, err
}

// relocking is the work on one group of findings.
type relocking struct {
	*Problem
	edits   *edit.Edits
	class   string                      // of the lock
	twins   map[*source.Function]string // names of the methods for those who hold the lock
	widened map[*source.Function]bool   // functions that take the write side now
}

// isReachedByOther reports whether a finding names the second Lock itself, and another one a call that leads to it.
func (p *Problem) isReachedByOther(f *finding.Finding) bool {
	at, err := p.at(f.Accesses[0].Position)
	if err != nil {
		return false
	}
	op, ok := innermost[*ast.CallExpr](at)
	if !ok || at.function() == nil {
		return false
	}
	if _, isOp := at.file.LockOp(op); !isOp {
		return false
	}
	for _, g := range p.Findings {
		from, err := p.at(g.Accesses[0].Position)
		if err != nil || g == f {
			continue
		}
		if call, ok := innermost[*ast.CallExpr](from); ok {
			callee := from.file.Callee(call)
			if callee != nil && p.Facts.LeadsTo(callee, at.function()) {
				return true
			}
		}
	}
	return false
}

// correct keeps the call at one access of f from taking the lock again.
func (r *relocking) correct(f *finding.Finding, again finding.Access) error {
	at, err := r.at(again.Position)
	if err != nil {
		return err
	}
	call, ok := innermost[*ast.CallExpr](at)
	if !ok {
		return fmt.Errorf("%s: no call stands there", again.Position)
	}
	if _, isOp := at.file.LockOp(call); isOp {
		return fmt.Errorf("%s: which of the two Locks is meant is not known", at.file.At(call))
	}
	held, err := r.lockHeldAt(f, again)
	if err != nil {
		return err
	}
	callee := at.file.Callee(call)
	if callee == nil {
		return fmt.Errorf("%s: what %s calls is not known", at.file.At(call), at.file.Text(call.Fun))
	}
	if err := isOwnCall(at.file, call); err != nil {
		return err
	}
	ops, err := locksFirst(callee)
	if err != nil {
		return err
	}
	if err := sameLock(at.file, call, callee, held, ops); err != nil {
		return err
	}
	r.class = held.Path.Class
	// A holder of the read side may not write.
	if holder := at.function(); held.Read && !ops.Read && !r.widened[holder] {
		r.widened[holder] = true
		if err := r.widen(holder, held); err != nil {
			return err
		}
	}
	if field := returnsField(callee); field != nil {
		text, err := inCaller(at.file, call, callee, field)
		if err != nil {
			return err
		}
		r.edits.Replace(at.file, call, text)
		return nil
	}
	name, err := r.twin(callee, ops)
	if err != nil {
		return err
	}
	fun := ast.Unparen(call.Fun)
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		fun = sel.Sel
	}
	r.edits.Replace(at.file, fun, name)
	return nil
}

// isOwnCall refuses calls that run later, or in another goroutine.
func isOwnCall(file *source.File, call *ast.CallExpr) error {
	switch file.Parents[call].(type) {
	case *ast.GoStmt, *ast.DeferStmt:
		return fmt.Errorf("%s: the call runs at another time", file.At(call))
	}
	return nil
}

// locksFirst returns the lock that a function takes by its first statement and
// releases by a deferred one, its second. It may do nothing else with locks.
func locksFirst(f *source.Function) (op source.LockOp, err error) {
	list := f.Body.List
	if len(list) < 3 {
		return op, fmt.Errorf("%s does not take the lock by itself", f.Name())
	}
	op, ok := lockOpOf(f.File, list[0])
	if !ok || !op.Acquire {
		return op, fmt.Errorf("%s does not begin with the Lock", f.Name())
	}
	d, ok := list[1].(*ast.DeferStmt)
	if !ok {
		return op, fmt.Errorf("%s does not defer the Unlock", f.Name())
	}
	if un, ok := f.File.LockOp(d.Call); !ok || un.Acquire || un.Path.Key != op.Path.Key || un.Read != op.Read {
		return op, fmt.Errorf("%s does not defer the Unlock", f.Name())
	}
	n := 0
	ast.Inspect(f.Body, func(x ast.Node) bool {
		if call, ok := x.(*ast.CallExpr); ok {
			if other, ok := f.File.LockOp(call); ok && other.Path.Class == op.Path.Class {
				n++
			}
		}
		return true
	})
	if n != 2 {
		return op, fmt.Errorf("%s releases the lock in between", f.Name())
	}
	return op, nil
}

// sameLock refuses where the lock of the callee is not that which the caller holds, in other words.
func sameLock(file *source.File, call *ast.CallExpr, callee *source.Function, held, again source.LockOp) error {
	differ := fmt.Errorf("%s: the lock of %s may be that of another object", file.At(call), callee.Name())
	if held.Path.Class != again.Path.Class {
		return differ
	}
	recv := callee.Receiver()
	if recv == nil {
		if held.Path.Key != again.Path.Key { // a package variable
			return differ
		}
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return differ
	}
	object, ok := file.PathOf(sel.X)
	root := source.ObjectKey(file.Module, recv)
	rest, isField := strings.CutPrefix(again.Path.Key, root)
	if !ok || !isField || object.Key+rest != held.Path.Key {
		return differ
	}
	return nil
}

// returnsField returns the field or variable that is all that a function returns under its lock.
func returnsField(f *source.Function) ast.Expr {
	if len(f.Body.List) != 3 {
		return nil
	}
	ret, ok := f.Body.List[2].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return nil
	}
	// A copy of a result with another static type would change what callers do with it.
	e := ret.Results[0]
	result := f.Object.Signature().Results().At(0).Type()
	if _, isPath := f.File.PathOf(e); !isPath || !types.Identical(f.File.TypeOf(e), result) {
		return nil
	}
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok && f.File.Package.Info.ObjectOf(id) == f.Receiver() {
			return e
		}
	}
	return nil
}

// inCaller writes what a method returns in the terms of a call.
func inCaller(file *source.File, call *ast.CallExpr, callee *source.Function, e ast.Expr) (string, error) {
	if file.Package.Path != callee.File.Package.Path {
		return "", fmt.Errorf("%s: %s is of another package", file.At(call), callee.Name())
	}
	field, ok := e.(*ast.SelectorExpr)
	if !ok {
		return callee.File.Text(e), nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return "", fmt.Errorf("%s: the object is not named", file.At(call))
	}
	return file.Text(sel.X) + "." + field.Sel.Name, nil
}

// twin makes the method that does what f does under its lock, once, and returns its name.
func (r *relocking) twin(f *source.Function, op source.LockOp) (string, error) {
	if name := r.twins[f]; name != "" {
		return name, nil
	}
	decl, ok := f.Node.(*ast.FuncDecl)
	if !ok {
		return "", fmt.Errorf("%s is no declared function", f.Name())
	}
	name := source.LowerFirst(decl.Name.Name) + "Locked"
	if isTaken(f, name) {
		return "", fmt.Errorf("%s has another %s already", f.File.Package.Path, name)
	}
	args, err := forwarded(f)
	if err != nil {
		return "", err
	}
	r.twins[f] = name
	file := f.File
	// The body behind its first two statements moves into the new method.
	list := f.Body.List
	from, to := file.EndOfLine(list[1].End()), file.Offset(f.Body.Rbrace)
	body := "\n" + strings.TrimLeft(string(file.Source[from:to]), "\r\n")
	forward := name + "(" + args + ")"
	head := "func "
	if decl.Recv != nil {
		head += "(" + file.Text(decl.Recv.List[0]) + ") "
		forward = decl.Recv.List[0].Names[0].Name + "." + forward
	}
	if decl.Type.Results != nil {
		forward = "return " + forward
	}
	signature := string(file.Source[file.Offset(decl.Name.End()):file.Offset(f.Body.Lbrace)])
	r.edits.Add(file, from, to, func() string { return "\n\t" + forward + "\n" })
	end := file.Offset(decl.End())
	r.edits.Add(file, end, end, func() string {
		return fmt.Sprintf("\n\n// %s is %s for callers that hold %s.\n%s%s%s{%s}", name, decl.Name.Name,
			file.Text(op.Expr), head, name, signature, body)
	})
	return name, nil
}

// isTaken reports whether a method of f's type, or a name of its package, is called so already.
func isTaken(f *source.Function, name string) bool {
	pkg := f.File.Package.Types
	if f.Recv == nil {
		return pkg.Scope().Lookup(name) != nil
	}
	obj, _, _ := types.LookupFieldOrMethod(f.Object.Signature().Recv().Type(), true, pkg, name)
	return obj != nil
}

// forwarded writes the parameters of f as arguments.
func forwarded(f *source.Function) (string, error) {
	decl := f.Node.(*ast.FuncDecl)
	if decl.Type.TypeParams != nil {
		return "", fmt.Errorf("%s has type parameters", f.Name())
	}
	if decl.Recv != nil && (len(decl.Recv.List[0].Names) != 1 || decl.Recv.List[0].Names[0].Name == "_") {
		return "", fmt.Errorf("%s has no name for its receiver", f.Name())
	}
	var args []string
	for _, field := range decl.Type.Params.List {
		if len(field.Names) == 0 {
			return "", fmt.Errorf("%s has parameters without names", f.Name())
		}
		for _, id := range field.Names {
			if id.Name == "_" {
				return "", fmt.Errorf("%s has parameters without names", f.Name())
			}
			text := id.Name
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				text += "..."
			}
			args = append(args, text)
		}
	}
	return strings.Join(args, ", "), nil
}

// widen turns the read lock that a function takes into the write lock. It may do nothing
// that waits under it.
func (r *relocking) widen(f *source.Function, held source.LockOp) error {
	if f == nil {
		return fmt.Errorf("%s: the read lock is taken outside of a function", r.Findings[0].Accesses[1].Position)
	}
	var err error
	f.EachCall(func(call *ast.CallExpr) {
		op, ok := f.File.LockOp(call)
		switch {
		case !ok || op.Path.Class != held.Path.Class:
		case op.Path.Key != held.Path.Key || !op.Read || op.Try:
			err = fmt.Errorf("%s uses the lock in other ways too", f.Name())
		default:
			name := call.Fun.(*ast.SelectorExpr).Sel
			r.edits.Replace(f.File, name, strings.TrimPrefix(name.Name, "R"))
		}
	})
	return err
}

package syncfix

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// accessor is a call of a short function of the package that reads or sets shared state. Its caller may do the same by
// itself, in one step with more:
//
//	func (c *cache) get(k string) *entry { c.mu.RLock(); defer c.mu.RUnlock(); return c.entries[k] }
//	func (c *cache) put(k string, e *entry) { c.mu.Lock(); c.entries[k] = e; c.mu.Unlock() }
type accessor struct {
	file   *source.File // of the call
	call   *ast.CallExpr
	callee *source.Function
	lock   *source.LockOp // that is held over all of it; nil if there is none
	body   []ast.Stmt     // the operations on the lock and the return apart
	ret    *ast.ReturnStmt
	words  map[types.Object]ast.Expr // the caller's words for the receiver and the parameters
	copied map[types.Object]string   // locals of the caller that hold arguments instead: see copyArguments
}

// accessorOf returns the accessor that a call is, or why it is none.
func accessorOf(file *source.File, call *ast.CallExpr) (*accessor, error) {
	callee := file.Callee(call)
	if callee == nil || callee.File.Package.Path != file.Package.Path {
		return nil, fmt.Errorf("%s: %s is no function of the package", file.At(call), file.Text(call.Fun))
	}
	// A method of an embedded struct names fields that may have other names here.
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if s := file.Package.Info.Selections[sel]; s != nil && len(s.Index()) > 1 {
			return nil, fmt.Errorf("%s: %s is a method of an embedded struct", file.At(call), file.Text(call.Fun))
		}
	}
	a := &accessor{file: file, call: call, callee: callee, words: map[types.Object]ast.Expr{},
		copied: map[types.Object]string{}}
	if err := a.bind(); err != nil {
		return nil, err
	}
	return a, a.parse()
}

// bind finds the caller's words for the receiver and the parameters.
func (a *accessor) bind() error {
	params, args := a.callee.Params(), a.callee.Arguments(a.call)
	if len(args) != len(params) {
		return fmt.Errorf("%s: arguments and parameters do not correspond", a.file.At(a.call))
	}
	set := map[types.Object]bool{}
	for i, param := range params {
		if param != nil {
			a.words[param], set[param] = ast.Unparen(args[i]), true
		}
	}
	if v := a.callee.File.Sets(a.callee.Body, set); v != nil {
		return fmt.Errorf("%s: %s sets its parameter %s", a.file.At(a.call), a.callee.Name(), v.Name())
	}
	return nil
}

// parse takes the function apart: the lock, the statements under it, the return.
func (a *accessor) parse() error {
	from, list := a.callee.File, a.callee.Body.List
	if n := len(list); n > 0 {
		if ret, ok := list[n-1].(*ast.ReturnStmt); ok {
			a.ret, list = ret, list[:n-1]
		}
	}
	if len(list) > 0 {
		if op, ok := lockOpOf(from, list[0]); ok && op.Acquire {
			a.lock, list = &op, list[1:]
		}
	}
	// The release is deferred, or the last that is done.
	if a.lock != nil && len(list) > 0 {
		last, isOp := lockOpOf(from, list[len(list)-1])
		switch {
		case releasesDeferred(from, list[0], *a.lock):
			list = list[1:]
		case isOp && !last.Acquire && last.Path.Key == a.lock.Path.Key:
			list = list[:len(list)-1]
		default:
			return fmt.Errorf("%s: %s does not hold the lock to its end", a.file.At(a.call), a.callee.Name())
		}
	}
	a.body = list
	for _, stmt := range list {
		if n := leavesList(from, stmt); n != nil {
			return fmt.Errorf("%s: %s does more than reading or setting a variable (%s)", a.file.At(a.call), a.callee.Name(),
				from.At(n))
		}
	}
	return nil
}

// leavesList returns a node that leads out of a statement, runs at another time or works on a lock; nil if none does.
func leavesList(file *source.File, stmt ast.Stmt) (leaves ast.Node) {
	ast.Inspect(stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt, *ast.LabeledStmt, *ast.DeferStmt, *ast.GoStmt, *ast.FuncLit:
			leaves = n
		case *ast.ExprStmt:
			if _, ok := lockOpOf(file, n); ok {
				leaves = n
			}
		}
		return leaves == nil
	})
	return leaves
}

// spell writes a part of the function in the words of the caller.
func (a *accessor) spell(part ast.Node) (string, error) {
	from := a.callee.File
	text, start := from.Text(part), from.Offset(part.Pos())
	type swap struct {
		id   *ast.Ident
		text string
	}
	// Each name is a field's, an argument's, or means the same in the caller.
	var swaps []swap
	var err error
	ast.Inspect(part, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || err != nil {
			return err == nil
		}
		obj := from.Package.Info.ObjectOf(id)
		arg := a.words[obj]
		switch {
		case obj == nil || isMember(from, id, obj):
		case arg == nil:
			err = a.meansTheSame(id, obj)
		case a.copied[obj] != "":
			swaps = append(swaps, swap{id, a.copied[obj]})
		case !a.isPlain(obj, arg):
			err = fmt.Errorf("%s: the argument %s may differ the second time", a.file.At(arg), a.file.Text(arg))
		default:
			swaps = append(swaps, swap{id, a.file.Text(arg)})
		}
		return true
	})
	if err != nil {
		return "", err
	}
	for _, s := range slices.Backward(swaps) {
		at := from.Offset(s.id.Pos()) - start
		text = text[:at] + s.text + text[at+len(s.id.Name):]
	}
	return strings.ReplaceAll(text, "\n"+from.Indent(part.Pos()), "\n"), nil
}

// isMember reports whether an identifier stands for a field or a method, which the same words name anywhere.
func isMember(file *source.File, id *ast.Ident, obj types.Object) bool {
	if v, ok := obj.(*types.Var); ok && v.IsField() {
		return true
	}
	sel, ok := file.Parents[id].(*ast.SelectorExpr)
	return ok && sel.Sel == id
}

// isPlain reports whether an argument is a constant or a path, which may be written where the parameter stood.
func (a *accessor) isPlain(param types.Object, arg ast.Expr) bool {
	tv := a.file.Package.Info.Types[arg]
	if tv.Value != nil || tv.IsNil() {
		return true
	}
	switch arg.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		_, ok := a.file.PathOf(arg)
		return ok && (a.isReceiver(param) || a.isOfType(param, tv.Type))
	}
	return false
}

func (a *accessor) isReceiver(param types.Object) bool { return param == a.callee.Receiver() }

// isOfType reports whether an argument has the type of its parameter, in the words of the file.
func (a *accessor) isOfType(param types.Object, arg types.Type) bool {
	return types.TypeString(param.Type(), nil) == types.TypeString(arg, nil)
}

// copyArguments has locals hold the arguments that are not plain, and returns the lines that set them, in the order of
// the call.
func (a *accessor) copyArguments() (lines []string, err error) {
	names := source.NewNames(a.file.FunctionOf(a.call))
	for _, param := range a.callee.Params() {
		arg := a.words[param]
		if param == nil || arg == nil || a.isPlain(param, arg) {
			continue
		}
		if a.isReceiver(param) {
			return nil, fmt.Errorf("%s: %s is no plain path", a.file.At(arg), a.file.Text(arg))
		}
		name := names.Fresh(param.Name())
		a.copied[param] = name
		if a.isOfType(param, a.file.TypeOf(arg)) {
			lines = append(lines, name+" := "+a.file.Text(arg))
		} else {
			lines = append(lines, "var "+name+" "+names.TypeText(param.Type())+" = "+a.file.Text(arg))
		}
	}
	return lines, nil
}

// meansTheSame returns an error where a name of the function, no parameter, means something else at the call, or
// nothing.
func (a *accessor) meansTheSame(id *ast.Ident, obj types.Object) error {
	scope := a.file.Package.Types.Scope().Innermost(a.call.Pos())
	if scope == nil {
		return fmt.Errorf("%s: the call is in no function", a.file.At(a.call))
	}
	_, here := scope.LookupParent(id.Name, a.call.Pos())
	inPackage := func(o types.Object) bool {
		return o != nil && (o.Parent() == types.Universe || o.Pkg() != nil && o.Parent() == o.Pkg().Scope())
	}
	pkg, isPackage := obj.(*types.PkgName)
	switch {
	case isPackage: // which another file may have under another name
		if known, ok := here.(*types.PkgName); ok && known.Imported().Path() == pkg.Imported().Path() {
			return nil
		}
	case inPackage(obj):
		if inPackage(here) {
			return nil
		}
	case a.callee.Body.Pos() <= obj.Pos() && obj.Pos() < a.callee.Body.End():
		if !source.UsedNames(a.file.FunctionOf(a.call))[id.Name] {
			return nil // a local that is new to the caller
		}
	}
	return fmt.Errorf("%s: %s names %s, which is another thing here, or none", a.file.At(a.call), a.callee.Name(), id.Name)
}

// value is the expression that a getter reads under the lock, with one value or two, some of which are its results.
type value struct {
	text  string
	count int
	which []int // of the values, in the order of the results
}

// value returns the expression that a getter reads, in the words of the caller:
//
//	return c.entries[k]		e, ok := c.entries[k]; return e, ok
func (a *accessor) value() (v value, err error) {
	notPlain := fmt.Errorf("%s: %s is no plain getter", a.file.At(a.call), a.callee.Name())
	switch {
	case a.ret == nil || len(a.body) > 1:
		return v, notPlain
	case len(a.body) == 0:
		if len(a.ret.Results) != 1 {
			return v, notPlain
		}
		v.text, err = a.spell(a.ret.Results[0])
		v.count, v.which = 1, []int{0}
		return v, err
	}
	// Which of the values the results are.
	read, ok := a.body[0].(*ast.AssignStmt)
	if !ok || read.Tok != token.DEFINE || len(read.Rhs) != 1 {
		return v, notPlain
	}
	info := a.callee.File.Package.Info
	for _, r := range a.ret.Results {
		result, isName := r.(*ast.Ident)
		i := slices.IndexFunc(read.Lhs, func(e ast.Expr) bool {
			id, ok := e.(*ast.Ident)
			return ok && isName && id.Name != "_" && info.ObjectOf(id) == info.ObjectOf(result)
		})
		if i < 0 {
			return v, notPlain
		}
		v.which = append(v.which, i)
	}
	v.text, err = a.spell(read.Rhs[0])
	v.count = len(read.Lhs)
	return v, err
}

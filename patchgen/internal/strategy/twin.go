package strategy

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// Twin makes the function for those callers of f that hold a lock already, and returns its name. The source of f from
// an offset on becomes the body of the new function, and f calls it behind first, which takes the lock:
//
//	func (c *cache) Get(k string) int {
//		c.mu.Lock()
//		defer c.mu.Unlock()
//		return c.getLocked(k)
//	}
//
//	// getLocked is Get for callers that hold c.mu.
//	func (c *cache) getLocked(k string) int {
func Twin(edits *edit.Edits, f *source.Function, from int, first, lock string) (name string, err error) {
	t, err := TwinOf(f, lock)
	if err != nil {
		return "", err
	}
	// Blank lines at the cut would begin the new body.
	file, to, end := f.File, from, "{"
	for file.Source[to] == '\n' || file.Source[to] == '\r' {
		to, end = to+1, "{\n"
	}
	edits.Add(file, from, to, func() string {
		return first + "\n\t" + t.Call + "\n}\n\n" + t.Head + end
	})
	return t.Name, nil
}

// TwinText is the source of a twin, except its body.
type TwinText struct {
	Name string
	Call string // by the function itself, as a statement
	Head string // up to the brace
}

// TwinOf writes the twin of f for callers that hold a lock.
func TwinOf(f *source.Function, lock string) (t TwinText, err error) {
	decl, ok := f.Node.(*ast.FuncDecl)
	if !ok {
		return t, fmt.Errorf("%s is no declared function", f.Name())
	}
	t.Name = source.LowerFirst(decl.Name.Name) + "Locked"
	if hasMethod(f, t.Name) {
		return t, fmt.Errorf("%s has another %s already", f.File.Package.Path, t.Name)
	}
	args, err := forwarded(f)
	if err != nil {
		return t, err
	}
	file := f.File
	head := "func "
	t.Call = t.Name + "(" + args + ")"
	if decl.Recv != nil {
		head += "(" + file.Text(decl.Recv.List[0]) + ") "
		t.Call = decl.Recv.List[0].Names[0].Name + "." + t.Call
	}
	if decl.Type.Results != nil {
		t.Call = "return " + t.Call
	}
	signature := string(file.Source[file.Offset(decl.Name.End()):file.Offset(f.Body.Lbrace)])
	t.Head = fmt.Sprintf("// %s is %s for callers that hold %s.\n%s%s%s", t.Name, decl.Name.Name, lock, head, t.Name,
		signature)
	return t, nil
}

// hasMethod reports whether a method of f's type, or a name of its package, is called so already.
func hasMethod(f *source.Function, name string) bool {
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

// CallTwin has a call run the twin of its function.
func CallTwin(edits *edit.Edits, file *source.File, call *ast.CallExpr, name string) {
	fun := ast.Unparen(call.Fun)
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		fun = sel.Sel
	}
	edits.Replace(file, fun, name)
}

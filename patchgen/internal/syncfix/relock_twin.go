package syncfix

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// twin makes the method that does what f does under its lock, once, and returns its name.
func (r *relocking) twin(f *source.Function, b lockedBody) (string, error) {
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
	// What it does under the lock moves into the new method.
	from, to, err := b.span(f)
	if err != nil {
		return "", err
	}
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
	indent := "\n"
	if !b.deferred {
		indent = ""
	}
	signature := string(file.Source[file.Offset(decl.Name.End()):file.Offset(f.Body.Lbrace)])
	r.edits.Add(file, from, to, func() string { return indent + "\t" + forward + "\n" })
	end := file.Offset(decl.End())
	r.edits.Add(file, end, end, func() string {
		return fmt.Sprintf("\n\n// %s is %s for callers that hold %s.\n%s%s%s{%s}", name, decl.Name.Name,
			file.Text(b.lock.Expr), head, name, signature, body)
	})
	return name, nil
}

// span returns the part of the source that a function does under its lock.
func (b lockedBody) span(f *source.Function) (from, to int, err error) {
	list := f.Body.List
	if b.deferred {
		return f.File.EndOfLine(list[1].End()), f.File.Offset(f.Body.Rbrace), nil
	}
	if f.Type.Results != nil && len(f.Type.Results.List) > 0 {
		return 0, 0, fmt.Errorf("%s releases the lock before it returns its results", f.Name())
	}
	release := list[1+len(b.work)]
	from = f.File.EndOfLine(list[0].End()) + 1
	return from, f.File.Offset(release.Pos()) - len(f.File.Indent(release.Pos())), nil
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

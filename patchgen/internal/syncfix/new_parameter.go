package syncfix

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// newParameter hands a value down to a function: as a parameter of it, and of those that call it, up to the callers
// that have the value.
type newParameter struct {
	*Problem
	edits *edit.Edits
	name  string
	first bool // before the other parameters, as contexts are
	// typeIn writes the type of the parameter in a file.
	typeIn func(*source.File) string
	// valueAt writes the value at a call; not ok where it is not known there.
	valueAt func(source.Call) (text string, ok bool)
	has     map[*source.Function]bool
}

// mostHanded is how many functions may get the parameter.
const mostHanded = 3

// add adds the parameter to a function, and the argument to each call of it.
func (n *newParameter) add(f *source.Function) error {
	if n.has[f] {
		return nil
	}
	n.has[f] = true
	if len(n.has) > mostHanded {
		return fmt.Errorf("%s would have to be handed through more than %d functions", n.name, mostHanded)
	}
	calls, err := n.callsOf(f)
	if err != nil {
		return err
	}
	n.declare(f)
	// A caller that has not the value gets it as a parameter, too.
	for _, c := range calls {
		text, known := n.valueAt(c)
		if !known {
			if c.In == nil || c.In.File.Test {
				return fmt.Errorf("%s: %s is not known there", f.File.At(c.Expr), n.name)
			}
			text = n.name
			if err := n.add(c.In.Declaration()); err != nil {
				return err
			}
		}
		n.pass(c, text)
	}
	return nil
}

// callsOf lists the calls of a function that nothing else than these may call.
func (n *newParameter) callsOf(f *source.Function) ([]source.Call, error) {
	if f.Object == nil || f.Object.Exported() {
		return nil, fmt.Errorf("%s is exported or a literal, and has no parameter for %s", f.Name(), n.name)
	}
	calls, asValue := n.Module.References(f)
	switch {
	case asValue || f.Recv != nil && n.isOfInterface(f.Object):
		return nil, fmt.Errorf("%s is used as a value, so that it cannot have one more parameter", f.Name())
	case source.UsedNames(f)[n.name]:
		return nil, fmt.Errorf("%s has another %s", f.Name(), n.name)
	case f.Object.Signature().Variadic() && !n.first:
		return nil, fmt.Errorf("%s is variadic", f.Name())
	}
	for _, c := range calls {
		if len(c.Expr.Args) != f.Object.Signature().Params().Len() {
			return nil, fmt.Errorf("%s: arguments and parameters do not correspond", c.In.File.At(c.Expr))
		}
	}
	return calls, nil
}

// isOfInterface reports whether an interface of the module has a method of the name.
func (n *newParameter) isOfInterface(method *types.Func) (found bool) {
	for _, p := range n.Module.Packages {
		for _, file := range p.Files {
			ast.Inspect(file.Syntax, func(x ast.Node) bool {
				if t, ok := x.(*ast.InterfaceType); ok {
					for _, m := range t.Methods.List {
						found = found || len(m.Names) == 1 && m.Names[0].Name == method.Name()
					}
				}
				return !found
			})
		}
	}
	return found
}

// declare writes the parameter.
func (n *newParameter) declare(f *source.Function) {
	params := f.Type.Params
	text := n.name + " " + n.typeIn(f.File)
	at := f.File.Offset(params.Closing)
	switch {
	case n.first && len(params.List) > 0:
		at, text = f.File.Offset(params.Opening)+1, text+", "
	case len(params.List) > 0:
		text = ", " + text
	}
	n.edits.Add(f.File, at, at, func() string { return text })
}

// pass writes the argument of a call.
func (n *newParameter) pass(c source.Call, text string) {
	file := c.In.File
	at := file.Offset(c.Expr.Rparen)
	switch {
	case n.first && len(c.Expr.Args) > 0:
		at, text = file.Offset(c.Expr.Lparen)+1, text+", "
	case len(c.Expr.Args) > 0:
		at, text = file.Offset(c.Expr.Args[len(c.Expr.Args)-1].End()), ", "+text
	}
	n.edits.Add(file, at, at, func() string { return text })
}

package callgraph

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// signatures returns keys for functions, of which those have one in common that may be called as each other: the types
// of parameters and results as text, as types have no identity that both a patched package and those that import
// it know; and where one is generic, how many there are.
func signatures(sig *types.Signature) []string {
	var b strings.Builder
	generic := false
	for _, list := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range list.Variables() {
			generic = generic || isGeneric(v.Type())
			b.WriteString(text(v.Type()) + ",")
		}
		b.WriteString(";")
	}
	shape := fmt.Sprintf("%d;%d", sig.Params().Len(), sig.Results().Len())
	if generic {
		return []string{"generic " + shape, "as generic " + shape}
	}
	return []string{b.String(), "as generic " + shape}
}

// text writes a type the same way however its source does: without the names of parameters, and without aliases.
func text(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Signature:
		return fmt.Sprintf("func(%s)(%s)%t", texts(t.Params()), texts(t.Results()), t.Variadic())
	case *types.Interface:
		return textOfInterface(t)
	case *types.Named:
		s := types.TypeString(t.Origin(), nil)
		for arg := range t.TypeArgs().Types() {
			s += "[" + text(arg) + "]"
		}
		return s
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), text(t.Elem()))
	case *types.Map:
		return "map[" + text(t.Key()) + "]" + text(t.Elem())
	case *types.Chan:
		return fmt.Sprintf("chan %d %s", t.Dir(), text(t.Elem()))
	case interface{ Elem() types.Type }: // a pointer or slice
		return fmt.Sprintf("%T %s", t, text(t.Elem()))
	default:
		return types.TypeString(t, nil)
	}
}

func texts(list *types.Tuple) (s string) {
	for v := range list.Variables() {
		s += text(v.Type()) + ","
	}
	return s
}

func textOfInterface(t *types.Interface) string {
	if t.NumMethods() == 0 && t.NumEmbeddeds() == 0 {
		return "any"
	}
	s := "interface{"
	for m := range t.Methods() {
		s += m.Id() + text(m.Signature()) + ";"
	}
	return s + "}"
}

// isGenericKey reports whether keys are those of a generic function.
func isGenericKey(keys []string) bool { return strings.HasPrefix(keys[0], "generic ") }

// lookUp returns the functions of an index by signatures that a call of sig may run.
func lookUp(index map[string][]*ssa.Function, name string, sig *types.Signature) []*ssa.Function {
	keys := signatures(sig)
	if isGenericKey(keys) {
		return index[name+keys[1]]
	}
	return slices.Concat(index[name+keys[0]], index[name+strings.TrimPrefix(keys[1], "as ")])
}

// isGeneric reports whether a type parameter is part of the type.
func isGeneric(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Map:
		return isGeneric(t.Key()) || isGeneric(t.Elem())
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			if isGeneric(arg) {
				return true
			}
		}
	case *types.Signature:
		for _, list := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range list.Variables() {
				if isGeneric(v.Type()) {
					return true
				}
			}
		}
	case interface{ Elem() types.Type }: // of a pointer, slice, array or channel
		return isGeneric(t.Elem())
	}
	return false
}

// ofLibrary returns the call of a library that returned the function v, if that is the library's own code.
//
//	ctx, cancel := context.WithCancel(ctx)
func (c *Conservative) ofLibrary(v ssa.Value) *ssa.CallCommon {
	if result, ok := v.(*ssa.Extract); ok {
		v = result.Tuple
	}
	call, ok := v.(*ssa.Call)
	if !ok {
		return nil
	}
	fn, _ := Target(call.Common())
	if fn == nil || c.Declared(fn) != nil {
		return nil
	}
	if obj, ok := fn.Object().(*types.Func); !ok || obj.Pkg() == nil || !ReturnsOwnCode(obj) {
		return nil
	}
	return call.Common()
}

// reachedMethods lists the methods that a function of a library may look for in its argument v: package json,
// for one, follows exported fields, elements and pointers. The value of an interface may be of any type.
func (c *Conservative) reachedMethods(fn *ssa.Function, v ssa.Value) []*ssa.Function {
	obj, _ := fn.Object().(*types.Func)
	byName := callsByName(fn)
	known, unknown := c.asked, c.asked
	switch {
	// A list keeps values of any type as they are.
	case obj != nil && knowledge.CallsNoMethod(obj):
		return nil
	// A template, or reflect, calls any exported method; a library of another module may, by interfaces of its own.
	case byName:
		known, unknown = c.exported, c.exported
	case obj != nil && obj.Pkg() != nil && isForeign(obj.Pkg().Path()):
		known = c.exported
	}
	t, ok := foundIn(v, byName)
	if !ok {
		return nil
	}
	var list []*ssa.Function
	seen := map[types.Type]bool{}
	var visit func(types.Type)
	visit = func(t types.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		if named, ok := types.Unalias(t).(*types.Named); ok {
			for _, m := range known {
				if !isReceiver(m, named.Obj()) {
					continue
				}
				list = append(list, m)
				for result := range m.Signature.Results().Variables() {
					visit(result.Type())
				}
			}
		}
		// Fields that are not exported are passed by, unless they are embedded: libraries call no methods of theirs.
		switch t := t.Underlying().(type) {
		case *types.Interface:
			if t.NumMethods() == 0 {
				list = append(list, unknown...)
			} else {
				list = append(list, c.asked...)
			}
		case *types.Map:
			visit(t.Key())
			visit(t.Elem())
		case *types.Struct:
			for f := range t.Fields() {
				if f.Exported() || f.Embedded() {
					visit(f.Type())
				}
			}
		case *types.Pointer:
			visit(t.Elem())
		case *types.Slice:
			visit(t.Elem())
		case *types.Array:
			visit(t.Elem())
		}
	}
	visit(t)
	return list
}

// callsByName reports whether a library function calls exported methods by their names.
func callsByName(fn *ssa.Function) bool {
	obj, ok := fn.Object().(*types.Func)
	return ok && obj.Pkg() != nil && CallsByName(obj)
}

// foundIn returns the type that a library finds in an argument, if it looks at all: an argument that is no
// interface is handed over by callbacks, or has no methods to look for, and one that was an interface before
// is, except by functions that call methods by name, left to the function that made it one.
func foundIn(v ssa.Value, byName bool) (types.Type, bool) {
	switch x := v.(type) {
	case *ssa.MakeInterface:
		return x.X.Type(), true
	case *ssa.ChangeInterface:
		return x.Type(), true
	}
	if v.Type().String() == "reflect.Value" { // may hold any type
		return types.NewInterfaceType(nil, nil), byName
	}
	_, isInterface := v.Type().Underlying().(*types.Interface)
	return v.Type(), isInterface && byName
}

// isForeign reports whether a package is of another module, and not of the standard library.
func isForeign(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

// isReceiver reports whether fn is a method of the type.
func isReceiver(fn *ssa.Function, of *types.TypeName) bool {
	named, ok := ir.Named(fn.Signature.Recv().Type())
	return ok && named.Obj().Name() == of.Name() && named.Obj().Pkg() != nil && of.Pkg() != nil &&
		named.Obj().Pkg().Path() == of.Pkg().Path()
}

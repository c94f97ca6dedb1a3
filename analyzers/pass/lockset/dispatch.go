package lockset

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/scope"
)

// A call through an interface may take the locks of any implementation, and
// which there are only the whole program knows. Such a call is carried to callers as
// a lock of a class of its own, [Dispatch], which the join over all packages
// puts locks in the place of: it knows which types flow to the field or
// parameter that the receiver comes from. Only interfaces of the modules at
// work are carried, and only receivers that come from such a place.
//
// A call of a function that a field or package variable holds is one of the method [Called] on it. A function that is
// passed as a parameter is followed from its callers instead, each by itself.

// dispatchPrefix begins the classes that stand for calls.
const dispatchPrefix = "call "

// Called is the name of the method that a function has: to be called.
const Called = "()"

// Dispatch returns the class that stands for a call of the method on the value that node holds.
func Dispatch(node, method string) string { return dispatchPrefix + node + "." + method }

// IsDispatch reports whether the class stands for a call through an interface.
func IsDispatch(class string) bool { return strings.HasPrefix(class, dispatchPrefix) }

// dispatched returns the class of a call through an interface, or of a function that is kept, of which nothing
// else is known; empty for other calls.
func (r *Result) dispatched(call ssa.CallInstruction) string {
	common := call.Common()
	if _, isBuiltin := common.Value.(*ssa.Builtin); isBuiltin || !Carried(common.Value.Type()) ||
		prints(common.Signature()) || r.prog.InTest(call.Parent()) {
		return ""
	}
	node, method := NodeOf(common.Value), Called
	if common.IsInvoke() {
		method = common.Method.Name()
	} else if strings.Contains(node, paramMark) {
		return ""
	}
	if node == "" {
		return ""
	}
	return Dispatch(node, method)
}

// prints reports whether a method or function takes any arguments and returns
// nothing, as those of loggers do: they are called everywhere, and lead nowhere.
func prints(sig *types.Signature) bool { return sig.Variadic() && sig.Results().Len() == 0 }

// Carried reports whether t is a function, or an interface that a module at work declares.
func Carried(t types.Type) bool {
	if _, isFunc := t.Underlying().(*types.Signature); isFunc {
		return true
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return false
	}
	iface, ok := n.Underlying().(*types.Interface)
	return ok && iface.NumMethods() > 0 && scope.Unit{Path: n.Obj().Pkg().Path()}.In()
}

// NodeOf names the field, package variable or parameter that v comes from, or
// the one that holds the map or slice which v is an element of; empty for others.
func NodeOf(v ssa.Value) string {
	for range knowledge.FieldsOfPath {
		// One step from the value towards the variable that it comes from.
		if from := ir.Back(v, ir.Retyped|ir.Element); from != nil {
			v = from
			continue
		}
		switch x := v.(type) {
		case *ssa.ChangeInterface:
			v = x.X
		case *ssa.FreeVar:
			bound := accesspath.Binding(x)
			if bound == nil {
				return ""
			}
			v = bound
		case *ssa.Parameter:
			return ParamNode(x.Parent(), slices.Index(x.Parent().Params, x))
		case *ssa.Lookup:
			v = x.X
		case *ssa.Extract:
			v = x.Tuple
		case *ssa.UnOp:
			if held, ok := accesspath.Cell(x.X); ok && x.Op == token.MUL {
				v = held
				continue
			}
			if name, ok := accesspath.NameOf(x.X); ok && x.Op == token.MUL {
				return name.String()
			}
			v = x.X
		default:
			return ""
		}
	}
	return ""
}

// paramMark stands in the names of parameters alone.
const paramMark = "#"

// ParamNode names parameter i, receiver first, of a declared function.
func ParamNode(fn *ssa.Function, i int) string {
	obj, ok := fn.Object().(*types.Func)
	if !ok || i < 0 {
		return ""
	}
	return fmt.Sprintf("%s%s%d", obj.Origin().FullName(), paramMark, i)
}

// MethodTakes lists the locks that the method may block on, by class.
func (r *Result) MethodTakes(method *ssa.Function) []Acquire {
	return slices.DeleteFunc(slices.Clone(r.takenBy(method)), func(a Acquire) bool { return a.Class == "" || a.Depends })
}

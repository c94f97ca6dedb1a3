package lockset

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/syncapi"
)

// kind of an operation on a lock.
type kind int

const (
	lock kind = iota + 1
	unlock
	rlock
	runlock
	trylock
	tryrlock
)

var kinds = map[string]kind{
	"Lock": lock, "Unlock": unlock, "RLock": rlock, "RUnlock": runlock,
	"TryLock": trylock, "TryRLock": tryrlock,
}

// op is one operation on a lock.
type op struct {
	kind  kind
	path  accesspath.Path
	class string
}

// lockOp recognises a call as an operation on a lock: a method by one of the
// names above, without parameters, of a type that has both Lock and Unlock.
func (r *Result) lockOp(common *ssa.CallCommon) (op, bool) {
	name, recv := "", ssa.Value(nil)
	if common.IsInvoke() {
		name, recv = common.Method.Name(), common.Value
	} else if fn := ir.Origin(common.StaticCallee()); fn != nil && fn.Signature.Recv() != nil && len(common.Args) > 0 {
		name, recv = fn.Name(), common.Args[0]
	}
	k := kinds[name]
	if k == 0 || len(common.Args) > 1 || !isLock(recv.Type()) {
		return op{}, false
	}
	return r.operationOn(k, recv), true
}

func (r *Result) operationOn(k kind, recv ssa.Value) op {
	if path, class, ok := r.condLock(recv); ok {
		return op{k, path, class}
	}
	return op{k, accesspath.Of(recv), classOf(recv)}
}

// isLock reports whether t has methods Lock and Unlock without parameters. It looks for these two, as the whole
// method set of a type takes much longer to make.
func isLock(t types.Type) bool { return hasPlainMethod(t, "Lock") && hasPlainMethod(t, "Unlock") }

func hasPlainMethod(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
	fn, ok := obj.(*types.Func)
	return ok && fn.Signature().Params().Len() == 0 && fn.Signature().Results().Len() == 0
}

// IsLock reports whether a variable of type t is, or points to, a lock.
func IsLock(t types.Type) bool {
	if _, ok := t.Underlying().(*types.Pointer); !ok {
		t = types.NewPointer(t)
	}
	return isLock(t)
}

// HoldsLock reports whether a value of type t must not be copied: it is a lock
// or anything else of packages sync and sync/atomic, or has one in it.
func HoldsLock(t types.Type) bool { return holdsLock(t, 0) }

func holdsLock(t types.Type, depth int) bool {
	if depth > knowledge.NestedStructs {
		return false
	}
	if syncapi.Type(t) != "" {
		return true
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for field := range st.Fields() {
		_, isPointer := field.Type().Underlying().(*types.Pointer)
		_, isInterface := field.Type().Underlying().(*types.Interface)
		if !isPointer && !isInterface && (IsLock(field.Type()) || holdsLock(field.Type(), depth+1)) {
			return true
		}
	}
	return false
}

// classOf names the lock at address v by its declaration: pkg.Type.field or
// pkg.var; a lock type of the package's own by pkg.Type; "" for others, such
// as a *sync.Mutex that came as a parameter.
func classOf(v ssa.Value) string {
	v = ir.Root(v, ir.Boxed)
	if name, ok := accesspath.NameOf(v); ok {
		return name.String()
	}
	if n, ok := ir.Named(v.Type()); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() != "sync" {
		return n.Obj().Pkg().Path() + "." + finding.TypeName(n.Obj())
	}
	return ""
}

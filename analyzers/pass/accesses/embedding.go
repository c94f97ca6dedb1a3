package accesses

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// inDifferentStructs reports whether a reaches its object by a pointer, b as a struct
// within another one, and no such pointer leads to that struct.
func (l *List) inDifferentStructs(a, b *Access) bool {
	base, depth := selected(a.Addr)
	depth += strings.Count(a.Part, ".")
	if depth == 0 {
		return false
	}
	within, ok := embedding(b.Addr, depth-strings.Count(b.Part, "."))
	return ok && !l.mayPointTo(base, within, map[ssa.Value]bool{})
}

// selected returns the value from which addr selects fields without following a
// pointer, and how many.
func selected(addr ssa.Value) (base ssa.Value, depth int) {
	for {
		fa, ok := addr.(*ssa.FieldAddr)
		if !ok {
			return addr, depth
		}
		addr, depth = fa.X, depth+1
	}
}

// embedding returns the field that holds the struct of which addr selects a
// field, depth steps deep.
func embedding(addr ssa.Value, depth int) (*types.Var, bool) {
	if depth < 0 {
		return nil, false
	}
	for range depth {
		fa, ok := addr.(*ssa.FieldAddr)
		if !ok {
			return nil, false
		}
		addr = fa.X
	}
	fa, ok := addr.(*ssa.FieldAddr)
	if !ok {
		return nil, false
	}
	return accesspath.FieldOf(fa), true
}

// mayPointTo reports whether pointer v may be the address of the field in some object.
func (l *List) mayPointTo(v ssa.Value, field *types.Var, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return false // the other ways decide
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Const:
		return false
	case *ssa.Alloc: // a variable holds the values that are assigned to it
		_, isPointer := v.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Pointer)
		return isPointer && l.kept[field]
	case *ssa.FieldAddr:
		return accesspath.FieldOf(v) == field
	case *ssa.Phi:
		return slices.ContainsFunc(v.Edges, func(e ssa.Value) bool { return l.mayPointTo(e, field, seen) })
	case *ssa.FreeVar:
		bound := accesspath.Binding(v)
		return bound == nil || l.mayPointTo(bound, field, seen)
	case *ssa.Parameter:
		return l.mayPass(v, field, seen)
	case *ssa.UnOp:
		if held, ok := accesspath.Cell(v.X); ok && v.Op == token.MUL {
			return l.mayPointTo(held, field, seen)
		}
		return l.kept[field]
	case *ssa.Lookup:
		return l.kept[field]
	case *ssa.Extract:
		if _, isCall := v.Tuple.(*ssa.Call); !isCall {
			return l.kept[field]
		}
	}
	return true
}

// mayPass reports whether some caller may pass the address of the field as p.
// One of another package can only if it may name the field, or was given the
// address.
func (l *List) mayPass(p *ssa.Parameter, field *types.Var, seen map[ssa.Value]bool) bool {
	fn := p.Parent()
	i := slices.Index(fn.Params, p)
	if l.Graph.Escapes(fn) || l.Graph.Open(fn) && (field.Exported() || l.kept[field]) {
		return true
	}
	return slices.ContainsFunc(l.Graph.Sites(fn), func(s callgraph.Site) bool {
		return i >= len(s.Args) || l.mayPointTo(s.Args[i], field, seen)
	})
}

// findKept finds the struct fields with an address that is put into a variable, so
// that a pointer which was loaded from somewhere may lead to them.
func (l *List) findKept() {
	l.kept = map[*types.Var]bool{}
	k := keeper{none: map[ssa.Value]bool{}}
	for _, fn := range l.Prog.Funcs {
		for instr := range ir.Instructions(fn) {
			fa, ok := instr.(*ssa.FieldAddr)
			if !ok {
				continue
			}
			field := types.Unalias(fa.Type()).Underlying().(*types.Pointer).Elem()
			if _, isStruct := field.Underlying().(*types.Struct); !isStruct {
				continue
			}
			if f := accesspath.FieldOf(fa); !l.kept[f] && k.mayKeep(fa) {
				l.kept[f] = true
			}
		}
	}
}

// keeper finds the addresses that may end in a variable of the heap.
type keeper struct {
	none  map[ssa.Value]bool // values that do not, for all that was seen
	trail []ssa.Value        // put there by the search at hand
}

// mayKeep reports whether address v may end in a variable of the heap. A value that
// a failed search has reached is not searched again.
func (k *keeper) mayKeep(v ssa.Value) bool {
	k.trail = k.trail[:0]
	if !k.keepsPointer(v) {
		return false
	}
	for _, v := range k.trail {
		delete(k.none, v)
	}
	return true
}

func (k *keeper) keepsPointer(v ssa.Value) bool {
	if k.none[v] || v.Referrers() == nil {
		return false
	}
	k.none[v] = true
	k.trail = append(k.trail, v)
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Val == v {
				return true
			}
		case *ssa.Phi, *ssa.ChangeType, *ssa.Convert:
			if k.keepsPointer(ref.(ssa.Value)) {
				return true
			}
		case *ssa.Return, *ssa.Send, *ssa.MapUpdate, *ssa.MakeInterface, *ssa.MakeClosure:
			if !onlyForeign(ref) {
				return true
			}
		case ssa.CallInstruction:
			if k.passedOn(v, ref) {
				return true
			}
		}
	}
	return false
}

// onlyForeign reports whether instr makes an interface to call a function of
// another package, which cannot assign our fields.
func onlyForeign(instr ssa.Instruction) bool {
	mk, ok := instr.(*ssa.MakeInterface)
	if !ok {
		return false
	}
	for _, ref := range *mk.Referrers() {
		call, ok := ref.(ssa.CallInstruction)
		if !ok {
			return false
		}
		if fn := call.Common().StaticCallee(); fn == nil || len(fn.Blocks) > 0 {
			return false
		}
	}
	return true
}

// passedOn reports whether a callee of this package keeps argument v.
func (k *keeper) passedOn(v ssa.Value, call ssa.CallInstruction) bool {
	common := call.Common()
	fn := ir.Origin(common.StaticCallee())
	if fn == nil {
		return true
	}
	for i, a := range common.Args {
		if a == v && i < len(fn.Params) && k.keepsPointer(fn.Params[i]) {
			return true
		}
	}
	return false
}

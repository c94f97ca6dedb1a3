package validate

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/analyzers/syncapi"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// copied demands that values of a struct to which the patch adds a lock, a sync.Once or an atomic are nowhere copied.
// The copy has a lock of its own, and is made without the one that it copies.
//
//	type Cell struct { mu sync.Mutex; hits int }	// mu is new
//	return append([]Cell(nil), g.cells...)
func (j *judge) copied() {
	home := j.now.claim.home()
	if home.name == "" || !keepsStill(j.now.typeOf(home), 0) || keepsStill(j.old.typeOf(home), 0) {
		return
	}
	for _, p := range j.now.Packages {
		each(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			how, weight := home.copiedBy(p, instr)
			switch {
			case how == "":
			case weight == "":
				j.add("copied", "%s is copied by %s (%s), with what the patch adds to it", home.name, how, at(p, instr))
			default:
				j.doubt(place{p, instr}, weight, "copied", "a copy is made without what the patch adds, and has one of its own",
					"%s may be copied by %s (%s)", home.name, how, at(p, instr))
			}
		})
	}
}

// home is the struct type that holds what a patch adds.
type home struct{ pkg, name string }

// home returns the struct type of the claim's lock, or of its atomic variable.
func (c Claim) home() home {
	switch c.Kind {
	case Guarded, Once, ClosedOnce:
		pkg, typ := c.lockOwner()
		return home{pkg, typ}
	case Atomic:
		return home{c.Variable.Package, c.Variable.Type}
	}
	return home{}
}

// typeOf returns a named type of the module; nil if there is none.
func (s *side) typeOf(h home) types.Type {
	p := s.Package(h.pkg)
	if p == nil {
		return nil
	}
	if name, ok := p.Types.Scope().Lookup(h.name).(*types.TypeName); ok {
		return name.Type()
	}
	return nil
}

// keepsStill reports whether values of a type must not be copied, as they hold in place what package sync or
// sync/atomic declares.
func keepsStill(t types.Type, depth int) bool {
	if t == nil || depth > maxLevel {
		return false
	}
	if syncapi.Type(t) != "" {
		return !types.IsInterface(t)
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return keepsStill(u.Elem(), depth+1)
	case *types.Struct:
		for f := range u.Fields() {
			if keepsStill(f.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}

// isIn reports whether a value of a type holds the struct in place.
func (h home) isIn(t types.Type) bool { return holdsInPlace(t, h.pkg, h.name, 0) }

// isElement reports whether a list or map of a type has elements that hold the struct in place.
func (h home) isElement(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return h.isIn(u.Elem())
	case *types.Map:
		return h.isIn(u.Elem())
	case *types.Chan:
		return h.isIn(u.Elem())
	}
	return false
}

// copiedBy returns how an instruction copies the struct, and the weight of the doubt if it only may; "" for others. An
// object that nobody else can reach yet may be copied.
func (h home) copiedBy(p *session.Package, instr ssa.Instruction) (how string, weight finding.Weight) {
	switch x := instr.(type) {
	case *ssa.UnOp:
		switch {
		case !h.isIn(x.Type()):
		case x.Op == token.ARROW:
			return "a receive", ""
		case x.Op == token.MUL && !isOwn(p, x.X, instr):
			return "value", ""
		}
	// m[key], also with ok
	case *ssa.Lookup:
		if h.isIn(x.Type()) || isTupleOf(x.Type(), h.isIn) {
			return "an access of a map", ""
		}
	case *ssa.Next:
		if isTupleOf(x.Type(), h.isIn) {
			return "a range over a map", ""
		}
	case *ssa.TypeAssert:
		if h.isIn(x.AssertedType) {
			return "a type assertion", ""
		}
	case *ssa.MakeInterface:
		if h.isElement(x.X.Type()) {
			return "what takes a list of it as an interface", finding.Heavy
		}
	case ssa.CallInstruction:
		return h.copiedByCall(p, x)
	}
	return "", ""
}

// copiedByCall is copiedBy for calls of builtins and of generic functions.
func (h home) copiedByCall(p *session.Package, call ssa.CallInstruction) (how string, weight finding.Weight) {
	common := call.Common()
	if b, ok := common.Value.(*ssa.Builtin); ok {
		if b.Name() != "append" && b.Name() != "copy" || !h.isElement(common.Args[0].Type()) {
			return "", ""
		}
		if b.Name() == "copy" || !isListed(common.Args[1]) && !isOwn(p, common.Args[1], call) {
			return b.Name(), ""
		}
		// append(list, element) moves those that are there, where it has to grow.
		if list, isConst := common.Args[0].(*ssa.Const); isConst && list.IsNil() || isOwn(p, common.Args[0], call) {
			return "", ""
		}
		return "append", finding.Heavy
	}
	fn := common.StaticCallee()
	if fn == nil || !slices.ContainsFunc(fn.TypeArgs(), func(t types.Type) bool { return h.isIn(t) || h.isElement(t) }) {
		return "", ""
	}
	if origin := fn.Origin(); origin != nil && origin.Pkg != nil {
		name := fmt.Sprintf("%s.%s", origin.Pkg.Pkg.Name(), origin.Name())
		if path := origin.Pkg.Pkg.Path(); path == "slices" || path == "maps" {
			return name, ""
		}
		return name, finding.Heavy
	}
	return fn.Name(), finding.Heavy
}

// isOwn reports whether only this function can reach what an address or a list refers to.
func isOwn(p *session.Package, v ssa.Value, at ssa.Instruction) bool {
	if alloc, ok := v.(*ssa.Alloc); ok && !alloc.Heap {
		return true
	}
	return p.Owners.Proven().Of(v, at) == ownership.Fresh
}

// isListed reports whether the elements of a variadic call stand in it.
func isListed(v ssa.Value) bool {
	list, ok := v.(*ssa.Slice)
	if !ok {
		return false
	}
	_, isArray := list.X.(*ssa.Alloc)
	return isArray
}

// isTupleOf reports whether a type is a tuple with an element of a kind.
func isTupleOf(t types.Type, is func(types.Type) bool) bool {
	tuple, ok := t.(*types.Tuple)
	if !ok {
		return false
	}
	for v := range tuple.Variables() {
		if is(v.Type()) {
			return true
		}
	}
	return false
}

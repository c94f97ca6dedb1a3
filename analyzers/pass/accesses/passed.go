package accesses

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
)

// use is the access of a function to the contents of a map that it is handed.
type use int

const (
	unused use = iota
	reads
	writes
)

// passedMaps lists the accesses of a callee to the contents of maps that fields and
// package variables hold, and that it has as its receiver or another parameter:
//
//	l.hooks.fire(level)
func (im *implied) passedMaps(call *ssa.Call) []*Access {
	fn, args := callgraph.Target(call.Common())
	if fn == nil || len(fn.Blocks) == 0 {
		return nil
	}
	var list []*Access
	for i, arg := range args {
		if _, isMap := arg.Type().Underlying().(*types.Map); !isMap {
			continue
		}
		mode := finding.Read
		switch im.useOfParam(fn, i, 0) {
		case unused:
			continue
		case writes:
			mode = finding.Write
		}
		if a := im.contents(sliced(arg), call.Pos(), mode); a != nil {
			list = append(list, a)
		}
	}
	return list
}

// useOfParam returns how fn uses the map that is its parameter i.
func (im *implied) useOfParam(fn *ssa.Function, i, depth int) use {
	if i >= len(fn.Params) || depth > knowledge.CallsToTouches {
		return unused
	}
	key := parameter{fn, i}
	if u, ok := im.uses[key]; ok {
		return u
	}
	im.uses[key] = unused // a recursive call adds nothing
	most := unused
	for _, ref := range *fn.Params[i].Referrers() {
		most = max(most, im.usedBy(ref, fn.Params[i], depth))
	}
	im.uses[key] = most
	return most
}

// parameter is one of a function.
type parameter struct {
	fn *ssa.Function
	i  int
}

func (im *implied) usedBy(ref ssa.Instruction, m ssa.Value, depth int) use {
	switch ref := ref.(type) {
	case *ssa.MapUpdate:
		if ref.Map == m {
			return writes
		}
	case *ssa.Lookup:
		if ref.X == m {
			return reads
		}
	case *ssa.Range:
		return reads
	case *ssa.Call:
		if removesFromMap(ref) {
			return writes
		}
		if fn, args := callgraph.Target(ref.Common()); fn != nil {
			if i := slices.Index(args, m); i >= 0 {
				return im.useOfParam(fn, i, depth+1)
			}
		}
	case *ssa.ChangeType:
		most := unused
		for _, next := range *ref.Referrers() {
			most = max(most, im.usedBy(next, ref, depth))
		}
		return most
	case *ssa.Store: // kept in a variable that closures capture
		return im.capturedUse(ref, m, depth)
	}
	return unused
}

// capturedUse returns the use of a map that st puts into a local variable.
func (im *implied) capturedUse(st *ssa.Store, m ssa.Value, depth int) use {
	cell, ok := st.Addr.(*ssa.Alloc)
	if !ok || st.Val != m || depth > knowledge.CallsToTouches {
		return unused
	}
	most := unused
	for _, ref := range *cell.Referrers() {
		if load, ok := ref.(*ssa.UnOp); ok && load.Op == token.MUL {
			for _, next := range *load.Referrers() {
				most = max(most, im.usedBy(next, load, depth+1))
			}
		}
	}
	return most
}

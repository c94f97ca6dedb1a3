package lostunlock

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// result of a call, as its last returned value shows.
type result int

const (
	unclear result = iota
	success
	failure
)

// outcome reads a return: an error, a bool, or something that may be nil.
func outcome(ret *ssa.Return) result {
	if len(ret.Results) == 0 {
		return unclear
	}
	last := ret.Results[len(ret.Results)-1]
	c, isConst := last.(*ssa.Const)
	switch t := last.Type().Underlying().(type) {
	case *types.Interface:
		if types.Identical(last.Type(), types.Universe.Lookup("error").Type()) {
			return resultWhen(isConst && c.IsNil())
		}
		return resultWhen(!isConst || !c.IsNil())
	case *types.Pointer, *types.Slice, *types.Map, *types.Signature, *types.Chan:
		return resultWhen(!isConst || !c.IsNil())
	case *types.Basic:
		if isConst && t.Info()&types.IsBoolean != 0 {
			return resultWhen(constant.BoolVal(c.Value))
		}
	}
	return unclear
}

// returnSame reports whether two returns hand the same to their caller, which cannot tell then which it was:
//
//	if p.pool == nil {
//		return nil // with the lock
//	}
//	p.mu.Unlock()
//	return nil
func returnSame(a, b *ssa.Return) bool {
	return len(a.Results) > 0 && slices.EqualFunc(a.Results, b.Results, func(v, w ssa.Value) bool {
		c, isConst := v.(*ssa.Const)
		d, alsoConst := w.(*ssa.Const)
		return isConst && alsoConst && (c.Value == nil) == (d.Value == nil) &&
			(c.Value == nil || constant.Compare(c.Value, token.EQL, d.Value))
	})
}

func resultWhen(ok bool) result {
	if ok {
		return success
	}
	return failure
}

package lostunlock

import (
	"go/constant"
	"go/types"

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
			return when(isConst && c.IsNil())
		}
		return when(!isConst || !c.IsNil())
	case *types.Pointer, *types.Slice, *types.Map, *types.Signature, *types.Chan:
		return when(!isConst || !c.IsNil())
	case *types.Basic:
		if isConst && t.Info()&types.IsBoolean != 0 {
			return when(constant.BoolVal(c.Value))
		}
	}
	return unclear
}

func when(ok bool) result {
	if ok {
		return success
	}
	return failure
}

package pointsto

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// looks are the methods of reflect.Value that return nothing by which the object
// could be written, kept or called; steps return a Value of a part of it.
var (
	looks = []string{
		"Bool", "Bytes", "CanAddr", "CanConvert", "CanInt", "CanInterface", "CanSet", "CanUint", "Comparable", "Complex",
		"Float", "Int", "IsNil",
		"IsValid", "IsZero", "Kind", "Len", "Cap", "NumField", "NumMethod", "Pointer", "String", "Type", "Uint",
	}
	steps = []string{"Elem", "Field", "FieldByIndex", "FieldByName", "Index", "MapIndex"}
)

// looksOnly reports whether call makes a reflect.Value of an object to look at
// it, and for nothing else.
func looksOnly(call ssa.CallInstruction) bool {
	fn := call.Common().StaticCallee()
	v, ok := call.(*ssa.Call)
	return ok && fn != nil && fn.String() == "reflect.ValueOf" && lookedAt(v)
}

// lookedAt reports whether nothing is done with Value v but to look at it.
func lookedAt(v ssa.Value) bool {
	return !slices.ContainsFunc(*v.Referrers(), func(use ssa.Instruction) bool {
		if _, ok := use.(*ssa.DebugRef); ok {
			return false
		}
		call, ok := use.(*ssa.Call)
		if !ok || call.Call.StaticCallee() == nil || call.Call.Args[0] != v {
			return true
		}
		fn := call.Call.StaticCallee()
		recv := fn.Signature.Recv()
		if recv == nil || recv.Type().String() != "reflect.Value" || slices.Contains(call.Call.Args[1:], v) {
			return true
		}
		return !slices.Contains(looks, fn.Name()) && !(slices.Contains(steps, fn.Name()) && lookedAt(call))
	})
}

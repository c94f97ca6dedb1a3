package endpoints

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// syncMapOp returns the method of sync.Map that call calls, or "".
func syncMapOp(call *ssa.Call) string {
	fn := ir.Origin(call.Call.StaticCallee())
	if fn == nil || fn.Signature.Recv() == nil || fn.Signature.Recv().Type().String() != "*sync.Map" {
		return ""
	}
	return fn.Name()
}

var syncMapOps = map[string]op{
	"Load": read, "Store": insert, "Delete": remove, "LoadOrStore": swap, "LoadAndDelete": swap,
	"Swap": swap, "CompareAndSwap": swap, "CompareAndDelete": swap,
}

// syncMap returns the access that a method of sync.Map makes to its entries.
func (c *checker) syncMap(fn *ssa.Function, call *ssa.Call, s *lockset.State) *event {
	how, ok := syncMapOps[syncMapOp(call)]
	if !ok {
		return nil
	}
	args := call.Call.Args
	name, ok := accesspath.NameOf(args[0])
	node := c.callExpr(call)
	if !ok || node == nil {
		return nil
	}
	// The access, as accesses would list that of a plain map.
	a := &accesses.Access{
		Name: name, Map: true, Mode: finding.AtomicRead, Instr: call, Fn: fn, Value: call, Index: args[1], Addr: args[0],
		Expr: node.Fun, Path: accesspath.Of(args[0]), Locks: s,
		Sharing: accesses.Sharing{Owner: c.owner.Of(args[0], call)},
	}
	if how.writes() {
		a.Mode = finding.AtomicWrite
	}
	e := &event{
		name: name, inMap: true, path: a.Path, key: keyOfMapEntry(args[1]), op: how, at: call, own: a,
		held: s.Held(), turns: s.Turns(), unknown: s.Unknown, atomic: true, owner: a.Owner, side: c.list.Side(a),
	}
	// A value without contents of its own is a mark.
	if how == insert {
		e.value = args[2]
		v := ir.Root(e.value, ir.Retyped|ir.Boxed)
		if _, constant := v.(*ssa.Const); constant || emptyStruct(v.Type()) {
			e.op = mark
		}
	}
	return e
}

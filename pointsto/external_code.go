package pointsto

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// External code is code that the analysis does not see: assembly, the runtime, and
// all that goes through reflection or unsafe.Pointer. A value that reaches it has escaped. It can call
// functions that have escaped, and return values that have escaped or objects of its own. A call of a
// function or method that it has returned goes to those that have escaped.

// boundary connects such calls with such functions: all calls of one type, or of
// methods of one name and type.
type boundary struct {
	params, results []node
	by              context // of the callers
	to              []*ssa.Function
}

type boundaryKey struct {
	method string // "" for function values
	sig    int    // of typeIDs
}

// boundaryOf returns the boundary for functions of a type.
func (a *program) boundaryOf(method string, sig *types.Signature) *boundary {
	key := boundaryKey{method, a.typeNumber(sig)}
	d := a.boundaries[key]
	if d == nil {
		d = new(boundary)
		for v := range sig.Params().Variables() {
			d.params = append(d.params, a.nodeOfType(v.Type()))
		}
		for v := range sig.Results().Variables() {
			d.results = append(d.results, a.nodeOfType(v.Type()))
		}
		a.boundaries[key] = d
	}
	return d
}

func (a *program) nodeOfType(t types.Type) node {
	if !holdsPointers(t, 0) {
		return none
	}
	return a.addNode(t)
}

// callExternal adds the flow of a call with a function, or an object with the method, that
// comes from external code.
func (a *program) callExternal(call ssa.CallInstruction) {
	if a.externalCalls[call] {
		return
	}
	a.externalCalls[call] = true
	common, method := call.Common(), ""
	if common.IsInvoke() {
		method = common.Method.Id()
	}
	d := a.boundaryOf(method, common.Signature())
	for i, arg := range common.Args {
		if i < len(d.params) {
			a.connect(a.nodeOf(arg), d.params[i], flow)
		}
	}
	a.resultsFrom(call, func(i int, n node) {
		a.addMarks(n, unknown)
		a.connect(d.results[i], n, flow)
	})
	a.boundaryCalls = append(a.boundaryCalls, boundaryCall{call, d})
	a.changed = true
	if a.makesFuncs() {
		a.argumentsEscape(call)
	}
}

// makesFuncs reports whether external code has functions that are not part of the
// program.
func (a *program) makesFuncs() bool { return a.opts.Open || a.byName }

func (a *program) argumentsEscape(call ssa.CallInstruction) {
	for _, arg := range call.Common().Args {
		a.addMarks(a.nodeOf(arg), escapesExternal)
	}
}

// boundaryCall is a call that goes through a boundary.
type boundaryCall struct {
	call     ssa.CallInstruction
	boundary *boundary
}

// spreadBoundaries carries the contexts of calls through boundaries.
func (a *program) spreadBoundaries() {
	for _, c := range a.boundaryCalls {
		by := a.ctx.inCall(c.call, a.ctx.of[c.call.Parent()])
		c.boundary.by |= by
		for _, fn := range c.boundary.to {
			a.ctx.addContext(fn, c.boundary.by)
		}
	}
}

// escapeFunc puts fn behind its boundary. The receiver of a method comes from external code
// too.
func (a *program) escapeFunc(fn *ssa.Function) {
	if a.escapedFuncs[fn] {
		return
	}
	a.escapedFuncs[fn] = true
	params, method := fn.Params, ""
	if fn.Signature.Recv() != nil && len(params) > 0 {
		method = methodID(fn)
		params = params[1:]
	}
	d := a.boundaryOf(method, fn.Signature)
	d.to = append(d.to, fn)
	a.changed = true
	if method != "" {
		a.addMarks(a.nodeOf(fn.Params[0]), unknown)
	}
	for i, p := range params {
		if i < len(d.params) {
			a.connect(d.params[i], a.nodeOf(p), flow)
		}
	}
	for i, r := range d.results {
		a.connect(a.result(fn, fn.Signature, i), r, flow)
	}
}

func methodID(fn *ssa.Function) string {
	if o := fn.Object(); o != nil {
		return o.(*types.Func).Id()
	}
	return fn.Name()
}

// escapeType records that external code has an object of type t, or several.
func (a *program) escapeType(t types.Type) {
	if a.escaped[a.receiver(t)] {
		return
	}
	a.escaped[a.receiver(t)] = true
	for _, fn := range a.methodsOf(t) {
		a.escapeMethod(fn)
	}
}

func (a *program) escapeMethod(fn *ssa.Function) {
	a.escapeFunc(fn)
	if a.byName && token.IsExported(fn.Name()) {
		a.enterFromOutside(fn)
	}
}

// reflectMethods are the functions by which reflection comes to methods, and
// makes functions.
var reflectMethods = map[string]bool{
	"(reflect.Value).Method": true, "(reflect.Value).MethodByName": true,
	"(*reflect.rtype).Method": true, "(*reflect.rtype).MethodByName": true,
	"reflect.MakeFunc": true,
}

// findByName notes whether the program calls methods by reflection. If it does not,
// methods of escaped values are called through interfaces only.
func (a *program) findByName(fn *ssa.Function) {
	if a.byName || !reflectMethods[fn.String()] {
		return
	}
	a.byName = true
	for _, c := range a.boundaryCalls {
		a.argumentsEscape(c.call)
	}
	for id := range a.escaped {
		for _, fn := range a.methods[id] {
			a.escapeMethod(fn)
		}
	}
}

// enterFromOutside records that external code calls fn, at any time, with arguments of its own.
func (a *program) enterFromOutside(fn *ssa.Function) {
	if a.entered[fn] {
		return
	}
	a.entered[fn], a.changed = true, true
	for _, p := range fn.Params {
		a.addMarks(a.nodeOf(p), unknown)
	}
	for i := range fn.Signature.Results().Len() {
		a.addMarks(a.result(fn, fn.Signature, i), escapesExternal)
	}
}

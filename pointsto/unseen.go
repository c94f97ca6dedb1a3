package pointsto

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Code that we do not see is assembly, what the runtime does, and whatever
// goes through reflection or unsafe.Pointer. What has come to it, has left. It
// can call functions that have left, and give back what has left or objects of
// its own. A call of a function or method that it has given goes to those that
// have left.

// door is where such calls meet such functions: all calls of one type, or of
// methods of one name and type.
type door struct {
	params, results []node
	by              context // who calls
	to              []*ssa.Function
}

type doorKey struct {
	method string // "" for function values
	sig    int    // of typeIDs
}

// doorOf returns the door for functions of a type.
func (a *program) doorOf(method string, sig *types.Signature) *door {
	key := doorKey{method, a.id(sig)}
	d := a.doors[key]
	if d == nil {
		d = new(door)
		for v := range sig.Params().Variables() {
			d.params = append(d.params, a.nodeOfType(v.Type()))
		}
		for v := range sig.Results().Variables() {
			d.results = append(d.results, a.nodeOfType(v.Type()))
		}
		a.doors[key] = d
	}
	return d
}

func (a *program) nodeOfType(t types.Type) node {
	if !holdsPointers(t, 0) {
		return none
	}
	return a.add(t)
}

// callUnseen: the function or the object with the method that call calls comes
// from unseen code.
func (a *program) callUnseen(call ssa.CallInstruction) {
	if a.unseenCalls[call] {
		return
	}
	a.unseenCalls[call] = true
	common, method := call.Common(), ""
	if common.IsInvoke() {
		method = common.Method.Id()
	}
	d := a.doorOf(method, common.Signature())
	for i, arg := range common.Args {
		if i < len(d.params) {
			a.connect(a.node(arg), d.params[i], flow)
		}
	}
	a.resultsFrom(call, func(i int, n node) {
		a.mark(n, unknown)
		a.connect(d.results[i], n, flow)
	})
	a.throughDoors = append(a.throughDoors, doorCall{call, d})
	a.changed = true
	if a.makesFuncs() {
		a.argumentsLeave(call)
	}
}

// makesFuncs reports whether unseen code has functions that none of the
// program is.
func (a *program) makesFuncs() bool { return a.opts.Open || a.byName }

func (a *program) argumentsLeave(call ssa.CallInstruction) {
	for _, arg := range call.Common().Args {
		a.mark(a.node(arg), leaves)
	}
}

// doorCall is a call that goes through a door.
type doorCall struct {
	call ssa.CallInstruction
	door *door
}

// spreadDoors carries the contexts of calls through doors.
func (a *program) spreadDoors() {
	for _, c := range a.throughDoors {
		by := a.ctx.inCall(c.call, a.ctx.of[c.call.Parent()])
		c.door.by |= by
		for _, fn := range c.door.to {
			a.ctx.add(fn, c.door.by)
		}
	}
}

// offer puts fn behind its door. Of a method the object comes from unseen code
// too.
func (a *program) offer(fn *ssa.Function) {
	if a.offered[fn] {
		return
	}
	a.offered[fn] = true
	params, method := fn.Params, ""
	if fn.Signature.Recv() != nil && len(params) > 0 {
		method = methodID(fn)
		params = params[1:]
	}
	d := a.doorOf(method, fn.Signature)
	d.to = append(d.to, fn)
	a.changed = true
	if method != "" {
		a.mark(a.node(fn.Params[0]), unknown)
	}
	for i, p := range params {
		if i < len(d.params) {
			a.connect(d.params[i], a.node(p), flow)
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

// leave: unseen code has an object of type t, or several.
func (a *program) leave(t types.Type) {
	if a.left[a.receiver(t)] {
		return
	}
	a.left[a.receiver(t)] = true
	for _, fn := range a.methodsOf(t) {
		a.leaveMethod(fn)
	}
}

func (a *program) leaveMethod(fn *ssa.Function) {
	a.offer(fn)
	if a.byName && token.IsExported(fn.Name()) {
		a.enterOnce(fn)
	}
}

// reflectMethods are the functions by which reflection comes to methods, and
// makes functions.
var reflectMethods = map[string]bool{
	"(reflect.Value).Method": true, "(reflect.Value).MethodByName": true,
	"(*reflect.rtype).Method": true, "(*reflect.rtype).MethodByName": true,
	"reflect.MakeFunc": true,
}

// findByName notes whether the program calls methods by reflection. Else
// methods of what has left are called through interfaces only.
func (a *program) findByName(fn *ssa.Function) {
	if a.byName || !reflectMethods[fn.String()] {
		return
	}
	a.byName = true
	for _, c := range a.throughDoors {
		a.argumentsLeave(c.call)
	}
	for id := range a.left {
		for _, fn := range a.methods[id] {
			a.leaveMethod(fn)
		}
	}
}

// enterOnce: unseen code calls fn, whenever it likes, with arguments of its own.
func (a *program) enterOnce(fn *ssa.Function) {
	if a.entered[fn] {
		return
	}
	a.entered[fn], a.changed = true, true
	for _, p := range fn.Params {
		a.mark(a.node(p), unknown)
	}
	for i := range fn.Signature.Results().Len() {
		a.mark(a.result(fn, fn.Signature, i), leaves)
	}
}

package pointsto

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// part is one value of a tuple, or one result of a function.
type part struct {
	of    ssa.Value
	index int
}

// flows makes the graph of a program from its instructions.
type flows struct {
	*graph
	*locations
	*interfaceValues
	lists   *interfaceSlices
	nodes   map[ssa.Value]node
	parts   map[part]node
	bound   map[*ssa.FreeVar]ssa.Value // captured by closures; nil where there are several
	dynamic map[node][]ssa.CallInstruction
	// functions by the nodes of their values.
	functions map[node]*ssa.Function
	// beside are tests that run in parallel to others.
	beside map[*ssa.Function]bool
	// runs is called for functions that the runtime calls.
	runs func(*ssa.Function)
	// calledExternal is called for calls of functions that external code has returned.
	calledExternal func(ssa.CallInstruction)
}

func newFlows() *flows {
	g := new(graph)
	ps := newLocations(g)
	return &flows{
		graph: g, locations: ps, interfaceValues: newInterfaceValues(g), lists: newInterfaceSlices(ps),
		nodes: map[ssa.Value]node{}, parts: map[part]node{},
		bound: map[*ssa.FreeVar]ssa.Value{}, functions: map[node]*ssa.Function{},
		dynamic: map[node][]ssa.CallInstruction{},
	}
}

// nodeOf returns the node of v, or none if v holds no pointers.
func (f *flows) nodeOf(v ssa.Value) node {
	if n, ok := f.nodes[v]; ok {
		return n
	}
	n := none
	if _, isConst := v.(*ssa.Const); !isConst && holdsPointers(v.Type(), 0) {
		n = f.addNode(v.Type())
	}
	f.nodes[v] = n
	switch v := v.(type) {
	case *ssa.Global:
		f.setObject(n)
		f.cellOf(n, v)
	case *ssa.Function:
		f.setObject(n)
		f.functions[n] = v
	}
	return n
}

// cellOf records that n is the address of variable v, if v has a location of its own.
func (f *flows) cellOf(n node, v ssa.Value) {
	if p := f.variable(v); p != nil {
		f.setCell(n, p.contents)
	}
}

// variable returns the location of the variable with the address v, or nil for
// structs and arrays, as their fields and elements have locations.
func (f *flows) variable(v ssa.Value) *location {
	switch pointedType(v.Type()).Underlying().(type) {
	case *types.Struct, *types.Array:
		return nil
	}
	return f.locations.variableLocation(v)
}

func (f *flows) partOf(v ssa.Value, i int, t types.Type) node {
	key := part{v, i}
	n, ok := f.parts[key]
	if !ok {
		n = none
		if holdsPointers(t, 0) {
			n = f.addNode(t)
		}
		f.parts[key] = n
	}
	return n
}

// result returns the node of result i of a function or call.
func (f *flows) result(v ssa.Value, sig *types.Signature, i int) node {
	if _, isCall := v.(*ssa.Call); isCall && sig.Results().Len() == 1 {
		return f.nodeOf(v)
	}
	return f.partOf(v, i, sig.Results().At(i).Type())
}

// locationAt returns the location that the address addr belongs to.
func (f *flows) locationAt(addr ssa.Value) *location {
	switch addr := addr.(type) {
	case *ssa.FieldAddr:
		return f.fieldLocation(pointedType(addr.X.Type()), addr.Field)
	case *ssa.IndexAddr:
		return f.elemOf(addr.X)
	case *ssa.Global, *ssa.Alloc:
		if p := f.variable(addr); p != nil {
			return p
		}
	case *ssa.FreeVar:
		if v := f.captured(addr); v != nil {
			return f.locationAt(v)
		}
	}
	return f.pointeeLocation(pointedType(addr.Type()))
}

// captured returns the variable that fv is the address of, or nil.
func (f *flows) captured(fv *ssa.FreeVar) ssa.Value {
	for {
		switch v := f.bound[fv].(type) {
		case *ssa.Alloc:
			return v
		case *ssa.FreeVar:
			fv = v
		default:
			return nil
		}
	}
}

// capture notes the variables that the closures of a function capture.
func (f *flows) capture(mk *ssa.MakeClosure) {
	fn := mk.Fn.(*ssa.Function)
	for i, fv := range fn.FreeVars {
		if _, seen := f.bound[fv]; seen && f.bound[fv] != mk.Bindings[i] {
			f.bound[fv] = nil
		} else {
			f.bound[fv] = mk.Bindings[i]
		}
	}
}

func (f *flows) function(fn *ssa.Function) {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			f.keptPointers(instr)
			f.instruction(fn, instr)
		}
	}
}

// keptPointers notes which variables, fields and elements have pointers to
// them that are values of their own, so that other locations may mean them too.
func (f *flows) keptPointers(instr ssa.Instruction) {
	switch v := instr.(type) {
	case *ssa.FieldAddr:
		f.connect(f.nodeOf(v.X), f.nodeOf(v), derived)
		isKept := isKept(v)
		if isKept {
			f.keepPointer(v, f.locationAt(v))
		}
		f.subObject(f.locationAt(v), f.nodeOf(v), isKept)
	case *ssa.IndexAddr:
		f.connect(f.nodeOf(v.X), f.nodeOf(v), flow)
		if isKept(v) {
			f.keepPointer(v, f.locationAt(v))
		}
	case *ssa.Alloc:
		n := f.nodeOf(v)
		f.setObject(n)
		f.cellOf(n, v)
		if isKept(v) && f.variable(v) != nil {
			f.keepPointer(v, f.locationAt(v))
		}
	}
	for _, op := range instr.Operands(nil) {
		if g, ok := (*op).(*ssa.Global); ok && f.variable(g) != nil && !isDirect(g, instr) {
			f.keepPointer(g, f.locationAt(g))
		}
	}
}

// keepPointer records that a pointer to p is a value of its own.
func (f *flows) keepPointer(addr ssa.Value, p *location) {
	t := pointedType(addr.Type())
	switch t.Underlying().(type) {
	case *types.Struct:
		return // reached by its fields
	case *types.Array:
		return
	}
	f.mergeLocations(p, f.pointeeLocation(t))
}

// subObject records that n is the address of field p. If it is kept, the field is an
// object by itself, which a pointer leads to without its struct, and all
// accesses to the field may meet it.
func (f *flows) subObject(p *location, n node, kept bool) {
	p = p.representative()
	if p.sub == none {
		p.sub = f.addNode(nil)
	}
	for _, t := range f.types[n] {
		f.addType(p.sub, t)
	}
	if kept {
		f.setObject(p.sub)
		f.connect(p.sub, n, flow)
	} else {
		f.connect(p.sub, n, derived)
	}
}

// isKept reports whether the pointer v is used for more than to load, to store,
// to select within its object, and to be captured.
func isKept(v ssa.Value) bool {
	for _, ref := range *v.Referrers() {
		if !isDirect(v, ref) {
			return true
		}
	}
	return false
}

func isDirect(v ssa.Value, use ssa.Instruction) bool {
	switch use := use.(type) {
	case *ssa.UnOp, *ssa.FieldAddr, *ssa.DebugRef:
		return true
	case *ssa.Convert:
		return isUnsafe(use.Type().Underlying()) && addressOnly(use)
	case *ssa.IndexAddr:
		return !isKept(use) // else a pointer into the array is kept
	case *ssa.Store:
		return use.Val != v
	case *ssa.MakeClosure:
		return use.Fn.(*ssa.Function).Parent() != nil
	}
	return false
}

// instruction adds the flow of one instruction that is not a call.
func (f *flows) instruction(fn *ssa.Function, instr ssa.Instruction) {
	// Values that are made of values; memory has the rest.
	switch v := instr.(type) {
	case *ssa.Phi:
		for _, e := range v.Edges {
			f.connect(f.nodeOf(e), f.nodeOf(v), flow)
		}
	case *ssa.ChangeType:
		f.connect(f.nodeOf(v.X), f.nodeOf(v), flow)
		f.mergeTypes(v.X.Type(), v.Type(), 0)
	case *ssa.Convert:
		f.convert(v, v.X)
	case *ssa.MultiConvert:
		f.convert(v, v.X)
	case *ssa.ChangeInterface:
		f.connect(f.nodeOf(v.X), f.nodeOf(v), flow)
	case *ssa.SliceToArrayPointer:
		f.connect(f.nodeOf(v.X), f.nodeOf(v), flow)
		f.mergeLocations(f.elemOf(v.X), f.elemOf(v))
	case *ssa.Slice:
		f.addSlice(v)
	case *ssa.MakeInterface:
		f.connect(f.nodeOf(v.X), f.valuesOf(f.typeNumber(v.X.Type()), v.X.Type()), flow)
		f.connect(f.nodeOf(v.X), f.nodeOf(v), flow)
	case *ssa.TypeAssert:
		f.assert(v)
	case *ssa.MakeMap, *ssa.MakeChan, *ssa.MakeSlice:
		f.setObject(f.nodeOf(v.(ssa.Value)))
	case *ssa.MakeClosure:
		f.closure(v)
	case *ssa.Extract:
		f.connect(f.partOf(v.Tuple, v.Index, v.Type()), f.nodeOf(v), flow)
	case *ssa.Return:
		for i, r := range v.Results {
			f.connect(f.nodeOf(r), f.result(fn, fn.Signature, i), flow)
		}
	case *ssa.Panic:
		f.connect(f.nodeOf(v.X), f.panics, flow)
	default:
		f.memory(instr)
	}
}

// memory adds the flow of an instruction that reads or writes memory, channels
// included.
func (f *flows) memory(instr ssa.Instruction) {
	switch v := instr.(type) {
	case *ssa.UnOp:
		f.addLoad(v)
	case *ssa.Store:
		f.connect(f.nodeOf(v.Val), f.locationAt(v.Addr).contents, flow)
	case *ssa.Field:
		f.connect(f.fieldLocation(v.X.Type(), v.Field).contents, f.nodeOf(v), flow)
	case *ssa.Index:
		f.connect(f.elementLocation(v.Type()).contents, f.nodeOf(v), flow)
	case *ssa.Lookup:
		f.lookup(v)
	case *ssa.MapUpdate:
		m := v.Map.Type().Underlying().(*types.Map)
		f.connect(f.nodeOf(v.Key), f.mapKey(m).contents, flow)
		f.connect(f.nodeOf(v.Value), f.mapVal(m).contents, flow)
	case *ssa.Next:
		f.addNext(v)
	case *ssa.Send:
		f.connect(f.nodeOf(v.X), f.messages(v.Chan.Type().Underlying().(*types.Chan)).contents, flow)
	case *ssa.Select:
		f.selects(v)
	}
}

func (f *flows) closure(mk *ssa.MakeClosure) {
	n := f.nodeOf(mk)
	f.setObject(n)
	fn := mk.Fn.(*ssa.Function)
	for i, b := range mk.Bindings {
		f.connect(f.nodeOf(b), f.nodeOf(fn.FreeVars[i]), flow)
		f.connect(f.nodeOf(b), n, holds)
	}
	for i, fv := range fn.FreeVars { // those that cannot be resolved to one variable
		if _, isPointer := fv.Type().Underlying().(*types.Pointer); isPointer && f.captured(fv) == nil && fn.Parent() != nil {
			f.keepBound(mk.Bindings[i])
		}
	}
	// A closure leads to its function; a test that runs beside others has all
	// that it captures there.
	f.connect(f.nodeOf(fn), n, flow)
	if f.beside[fn] {
		f.addMarks(n, escapes)
	}
}

func (f *flows) keepBound(v ssa.Value) {
	switch v := v.(type) {
	case *ssa.Alloc:
		if f.variable(v) != nil {
			f.keepPointer(v, f.locationAt(v))
		}
	case *ssa.FreeVar:
		if bound := f.captured(v); bound != nil {
			f.keepBound(bound)
		}
	}
}

func (f *flows) addLoad(v *ssa.UnOp) {
	switch v.Op {
	case token.MUL:
		f.connect(f.locationAt(v.X).contents, f.nodeOf(v), flow)
	case token.ARROW:
		to := f.nodeOf(v)
		if v.CommaOk {
			to = f.partOf(v, 0, v.Type().(*types.Tuple).At(0).Type())
		}
		f.connect(f.messages(v.X.Type().Underlying().(*types.Chan)).contents, to, flow)
	}
}

func (f *flows) assert(v *ssa.TypeAssert) {
	to := f.nodeOf(v)
	if v.CommaOk {
		to = f.partOf(v, 0, v.AssertedType)
	}
	from := f.valuesOf(f.typeNumber(v.AssertedType), v.AssertedType)
	if i, ok := v.AssertedType.Underlying().(*types.Interface); ok {
		if i.NumMethods() == 0 {
			f.connect(f.nodeOf(v.X), to, flow)
			return
		}
		from = f.implementersOf(f.typeNumber(v.AssertedType), i)
	}
	// Of all that the interface may hold only that comes out which has the
	// type.
	f.connect(from, to, flow)
	f.connect(f.nodeOf(v.X), to, foreign)
}

func (f *flows) lookup(v *ssa.Lookup) {
	m, ok := v.X.Type().Underlying().(*types.Map)
	if !ok {
		return
	}
	to := f.nodeOf(v)
	if v.CommaOk {
		to = f.partOf(v, 0, m.Elem())
	}
	f.connect(f.mapVal(m).contents, to, flow)
}

func (f *flows) addNext(v *ssa.Next) {
	if v.IsString {
		return
	}
	m := v.Iter.(*ssa.Range).X.Type().Underlying().(*types.Map)
	f.connect(f.mapKey(m).contents, f.partOf(v, 1, m.Key()), flow)
	f.connect(f.mapVal(m).contents, f.partOf(v, 2, m.Elem()), flow)
}

func (f *flows) selects(v *ssa.Select) {
	received := 2
	for _, s := range v.States {
		c := s.Chan.Type().Underlying().(*types.Chan)
		if s.Dir == types.SendOnly {
			f.connect(f.nodeOf(s.Send), f.messages(c).contents, flow)
			continue
		}
		f.connect(f.messages(c).contents, f.partOf(v, received, c.Elem()), flow)
		received++
	}
}

// convert adds the flow of a conversion: through unsafe.Pointer anything can become anything.
func (f *flows) convert(v, x ssa.Value) {
	from, to := x.Type().Underlying(), v.Type().Underlying()
	switch {
	case isUnsafe(to):
		if !addressOnly(v.(ssa.Instruction)) {
			f.addMarks(f.nodeOf(x), escapesExternal)
		}
		f.addMarks(f.nodeOf(v), unknown)
	case isUnsafe(from):
		f.addMarks(f.nodeOf(x), escapesExternal)
		f.addMarks(f.nodeOf(v), unknown)
	default:
		if _, isSlice := to.(*types.Slice); isSlice {
			if b, ok := from.(*types.Basic); ok && b.Info()&types.IsString != 0 {
				f.setObject(f.nodeOf(v)) // []byte(string)
			}
		}
		f.connect(f.nodeOf(x), f.nodeOf(v), flow)
		f.mergeTypes(x.Type(), v.Type(), 0)
	}
}

func isUnsafe(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}

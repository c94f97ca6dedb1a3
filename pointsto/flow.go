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

// node returns the node of v, or none if v holds no pointers.
func (f *flows) node(v ssa.Value) node {
	if n, ok := f.nodes[v]; ok {
		return n
	}
	n := none
	if _, isConst := v.(*ssa.Const); !isConst && holdsPointers(v.Type(), 0) {
		n = f.add(v.Type())
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
	switch deref(v.Type()).Underlying().(type) {
	case *types.Struct, *types.Array:
		return nil
	}
	return f.locations.cell(v)
}

func (f *flows) part(v ssa.Value, i int, t types.Type) node {
	key := part{v, i}
	n, ok := f.parts[key]
	if !ok {
		n = none
		if holdsPointers(t, 0) {
			n = f.add(t)
		}
		f.parts[key] = n
	}
	return n
}

// result returns the node of result i of a function or call.
func (f *flows) result(v ssa.Value, sig *types.Signature, i int) node {
	if _, isCall := v.(*ssa.Call); isCall && sig.Results().Len() == 1 {
		return f.node(v)
	}
	return f.part(v, i, sig.Results().At(i).Type())
}

// at returns the location that the address addr belongs to.
func (f *flows) at(addr ssa.Value) *location {
	switch addr := addr.(type) {
	case *ssa.FieldAddr:
		return f.field(deref(addr.X.Type()), addr.Field)
	case *ssa.IndexAddr:
		return f.elemOf(addr.X)
	case *ssa.Global, *ssa.Alloc:
		if p := f.variable(addr); p != nil {
			return p
		}
	case *ssa.FreeVar:
		if v := f.captured(addr); v != nil {
			return f.at(v)
		}
	}
	return f.deref(deref(addr.Type()))
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
		f.connect(f.node(v.X), f.node(v), derived)
		isKept := isKept(v)
		if isKept {
			f.keepPointer(v, f.at(v))
		}
		f.subObject(f.at(v), f.node(v), isKept)
	case *ssa.IndexAddr:
		f.connect(f.node(v.X), f.node(v), flow)
		if isKept(v) {
			f.keepPointer(v, f.at(v))
		}
	case *ssa.Alloc:
		n := f.node(v)
		f.setObject(n)
		f.cellOf(n, v)
		if isKept(v) && f.variable(v) != nil {
			f.keepPointer(v, f.at(v))
		}
	}
	for _, op := range instr.Operands(nil) {
		if g, ok := (*op).(*ssa.Global); ok && f.variable(g) != nil && !isDirect(g, instr) {
			f.keepPointer(g, f.at(g))
		}
	}
}

// keepPointer records that a pointer to p is a value of its own.
func (f *flows) keepPointer(addr ssa.Value, p *location) {
	t := deref(addr.Type())
	switch t.Underlying().(type) {
	case *types.Struct:
		return // reached by its fields
	case *types.Array:
		return
	}
	f.merge(p, f.deref(t))
}

// subObject records that n is the address of field p. If it is kept, the field is an
// object by itself, which a pointer leads to without its struct, and all
// accesses to the field may meet it.
func (f *flows) subObject(p *location, n node, kept bool) {
	p = p.find()
	if p.sub == none {
		p.sub = f.add(nil)
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
			f.connect(f.node(e), f.node(v), flow)
		}
	case *ssa.ChangeType:
		f.connect(f.node(v.X), f.node(v), flow)
		f.mergeTypes(v.X.Type(), v.Type(), 0)
	case *ssa.Convert:
		f.convert(v, v.X)
	case *ssa.MultiConvert:
		f.convert(v, v.X)
	case *ssa.ChangeInterface:
		f.connect(f.node(v.X), f.node(v), flow)
	case *ssa.SliceToArrayPointer:
		f.connect(f.node(v.X), f.node(v), flow)
		f.merge(f.elemOf(v.X), f.elemOf(v))
	case *ssa.Slice:
		f.slice(v)
	case *ssa.MakeInterface:
		f.connect(f.node(v.X), f.valuesOf(f.id(v.X.Type()), v.X.Type()), flow)
		f.connect(f.node(v.X), f.node(v), flow)
	case *ssa.TypeAssert:
		f.assert(v)
	case *ssa.MakeMap, *ssa.MakeChan, *ssa.MakeSlice:
		f.setObject(f.node(v.(ssa.Value)))
	case *ssa.MakeClosure:
		f.closure(v)
	case *ssa.Extract:
		f.connect(f.part(v.Tuple, v.Index, v.Type()), f.node(v), flow)
	case *ssa.Return:
		for i, r := range v.Results {
			f.connect(f.node(r), f.result(fn, fn.Signature, i), flow)
		}
	case *ssa.Panic:
		f.connect(f.node(v.X), f.panics, flow)
	default:
		f.memory(instr)
	}
}

// memory adds the flow of an instruction that reads or writes memory, channels
// included.
func (f *flows) memory(instr ssa.Instruction) {
	switch v := instr.(type) {
	case *ssa.UnOp:
		f.load(v)
	case *ssa.Store:
		f.connect(f.node(v.Val), f.at(v.Addr).contents, flow)
	case *ssa.Field:
		f.connect(f.field(v.X.Type(), v.Field).contents, f.node(v), flow)
	case *ssa.Index:
		f.connect(f.elem(v.Type()).contents, f.node(v), flow)
	case *ssa.Lookup:
		f.lookup(v)
	case *ssa.MapUpdate:
		m := v.Map.Type().Underlying().(*types.Map)
		f.connect(f.node(v.Key), f.mapKey(m).contents, flow)
		f.connect(f.node(v.Value), f.mapVal(m).contents, flow)
	case *ssa.Next:
		f.next(v)
	case *ssa.Send:
		f.connect(f.node(v.X), f.messages(v.Chan.Type().Underlying().(*types.Chan)).contents, flow)
	case *ssa.Select:
		f.selects(v)
	}
}

func (f *flows) closure(mk *ssa.MakeClosure) {
	n := f.node(mk)
	f.setObject(n)
	fn := mk.Fn.(*ssa.Function)
	for i, b := range mk.Bindings {
		f.connect(f.node(b), f.node(fn.FreeVars[i]), flow)
		f.connect(f.node(b), n, holds)
	}
	for i, fv := range fn.FreeVars { // those that cannot be resolved to one variable
		if _, isPointer := fv.Type().Underlying().(*types.Pointer); isPointer && f.captured(fv) == nil && fn.Parent() != nil {
			f.keepBound(mk.Bindings[i])
		}
	}
	// A closure leads to its function; a test that runs beside others has all
	// that it captures there.
	f.connect(f.node(fn), n, flow)
	if f.beside[fn] {
		f.mark(n, escapes)
	}
}

func (f *flows) keepBound(v ssa.Value) {
	switch v := v.(type) {
	case *ssa.Alloc:
		if f.variable(v) != nil {
			f.keepPointer(v, f.at(v))
		}
	case *ssa.FreeVar:
		if bound := f.captured(v); bound != nil {
			f.keepBound(bound)
		}
	}
}

func (f *flows) load(v *ssa.UnOp) {
	switch v.Op {
	case token.MUL:
		f.connect(f.at(v.X).contents, f.node(v), flow)
	case token.ARROW:
		to := f.node(v)
		if v.CommaOk {
			to = f.part(v, 0, v.Type().(*types.Tuple).At(0).Type())
		}
		f.connect(f.messages(v.X.Type().Underlying().(*types.Chan)).contents, to, flow)
	}
}

func (f *flows) assert(v *ssa.TypeAssert) {
	to := f.node(v)
	if v.CommaOk {
		to = f.part(v, 0, v.AssertedType)
	}
	from := f.valuesOf(f.id(v.AssertedType), v.AssertedType)
	if i, ok := v.AssertedType.Underlying().(*types.Interface); ok {
		if i.NumMethods() == 0 {
			f.connect(f.node(v.X), to, flow)
			return
		}
		from = f.implementersOf(f.id(v.AssertedType), i)
	}
	// Of all that the interface may hold only that comes out which has the
	// type.
	f.connect(from, to, flow)
	f.connect(f.node(v.X), to, foreign)
}

func (f *flows) lookup(v *ssa.Lookup) {
	m, ok := v.X.Type().Underlying().(*types.Map)
	if !ok {
		return
	}
	to := f.node(v)
	if v.CommaOk {
		to = f.part(v, 0, m.Elem())
	}
	f.connect(f.mapVal(m).contents, to, flow)
}

func (f *flows) next(v *ssa.Next) {
	if v.IsString {
		return
	}
	m := v.Iter.(*ssa.Range).X.Type().Underlying().(*types.Map)
	f.connect(f.mapKey(m).contents, f.part(v, 1, m.Key()), flow)
	f.connect(f.mapVal(m).contents, f.part(v, 2, m.Elem()), flow)
}

func (f *flows) selects(v *ssa.Select) {
	received := 2
	for _, s := range v.States {
		c := s.Chan.Type().Underlying().(*types.Chan)
		if s.Dir == types.SendOnly {
			f.connect(f.node(s.Send), f.messages(c).contents, flow)
			continue
		}
		f.connect(f.messages(c).contents, f.part(v, received, c.Elem()), flow)
		received++
	}
}

// convert adds the flow of a conversion: through unsafe.Pointer anything can become anything.
func (f *flows) convert(v, x ssa.Value) {
	from, to := x.Type().Underlying(), v.Type().Underlying()
	switch {
	case isUnsafe(to):
		if !addressOnly(v.(ssa.Instruction)) {
			f.mark(f.node(x), escapesExternal)
		}
		f.mark(f.node(v), unknown)
	case isUnsafe(from):
		f.mark(f.node(x), escapesExternal)
		f.mark(f.node(v), unknown)
	default:
		if _, isSlice := to.(*types.Slice); isSlice {
			if b, ok := from.(*types.Basic); ok && b.Info()&types.IsString != 0 {
				f.setObject(f.node(v)) // []byte(string)
			}
		}
		f.connect(f.node(x), f.node(v), flow)
		f.mergeTypes(x.Type(), v.Type(), 0)
	}
}

func isUnsafe(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}

package validate

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// making judges the values that the module puts in a field: whether each is made for the object that gets it.
type making struct {
	*side
	link  link
	found []shared
}

// shared is a place where a field gets a value that another object may have too.
type shared struct {
	place
	what    string
	isKnown bool // another object surely has it
}

// shared lists the places, each once.
func (m *making) shared() []shared {
	m.eachValue(m.check)
	m.each(func(p *session.Package, instr ssa.Instruction) {
		// o = q, with the field in both
		st, ok := instr.(*ssa.Store)
		if ok && m.holds(st.Val.Type()) && !isOfFunction(st.Addr) && (&source{making: m, pkg: p}).isCopy(st.Val, 0) {
			m.note(p, st, fmt.Sprintf("%s comes with a copy of its struct at %s", m.link.field.Short(), at(p, st)), false)
		}
	})
	return m.found
}

// isOfFunction reports whether an address is that of a local variable which nothing keeps: accesses by it are judged
// like those of the struct that was copied to there.
func isOfFunction(addr ssa.Value) bool {
	local, ok := addr.(*ssa.Alloc)
	return ok && !local.Heap
}

// each visits the instructions of the module, tests left out.
func (m *making) each(visit func(*session.Package, ssa.Instruction)) {
	for _, p := range m.Packages {
		for _, fn := range functionsOf(p) {
			if p.IR.InTest(fn) {
				continue
			}
			for instr := range ir.Instructions(fn) {
				visit(p, instr)
			}
		}
	}
}

// eachValue visits the values that come to the field, or to the elements of its list or map, with the path of that.
func (m *making) eachValue(visit func(*session.Package, ssa.Instruction, ssa.Value, accesspath.Path)) {
	m.each(func(p *session.Package, instr ssa.Instruction) {
		switch x := instr.(type) {
		case *ssa.Store:
			slot, isSlot := x.Addr.(*ssa.IndexAddr)
			switch {
			// o.f[i] = v
			case isSlot && m.isOfField(slot.X):
				if m.link.elements {
					visit(p, x, x.Val, accesspath.Of(slot.X))
				}
			// o.f = v
			case m.link.isAt(x.Addr):
				for _, v := range m.valuesIn(x.Val) {
					visit(p, x, v, accesspath.Of(x.Addr))
				}
			}
		// o.f[k] = v
		case *ssa.MapUpdate:
			if m.link.elements && m.isOfField(x.Map) {
				visit(p, x, x.Value, accesspath.Of(x.Map))
			}
		}
	})
}

// isOfField reports whether a list or map was loaded from the field.
func (m *making) isOfField(v ssa.Value) bool {
	load, ok := v.(*ssa.UnOp)
	if !ok {
		return false
	}
	name, ok := accesspath.NameOf(load.X)
	return ok && name == m.link.field
}

// holds reports whether values of a type have the field in place.
func (m *making) holds(t types.Type) bool {
	return m.link.field.Type != "" && holdsInPlace(t, m.link.field.Package, m.link.field.Type, 0)
}

// valuesIn returns the values to judge where one is stored in the field: that one, or the elements that come with it.
func (m *making) valuesIn(v ssa.Value) (list []ssa.Value) {
	if !m.link.elements {
		return []ssa.Value{v}
	}
	if call, ok := v.(*ssa.Call); ok && builtinOf(call) == "append" {
		return append(m.valuesIn(call.Call.Args[0]), m.elementsOf(call.Call.Args[1])...)
	}
	return m.elementsOf(v)
}

// builtinOf names the builtin that a call runs; "" for other calls.
func builtinOf(call *ssa.Call) string {
	if b, ok := call.Call.Value.(*ssa.Builtin); ok {
		return b.Name()
	}
	return ""
}

// elementsOf lists the elements that a function puts in a list or map that it has made. Another one stands for its own.
func (m *making) elementsOf(v ssa.Value) (list []ssa.Value) {
	object := rootOf(v)
	switch object.(type) {
	case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice, *ssa.MakeChan:
	case *ssa.Const:
		return nil
	default:
		return []ssa.Value{v}
	}
	for _, ref := range *object.Referrers() {
		switch ref := ref.(type) {
		case *ssa.MapUpdate:
			list = append(list, ref.Value)
		case *ssa.IndexAddr:
			for _, use := range *ref.Referrers() {
				if st, ok := use.(*ssa.Store); ok && st.Addr == ssa.Value(ref) {
					list = append(list, st.Val)
				}
			}
		}
	}
	return list
}

// check judges one value of the field.
func (m *making) check(p *session.Package, instr ssa.Instruction, v ssa.Value, self accesspath.Path) {
	if m.sharesLock(instr) {
		return
	}
	w := &source{making: m, pkg: p, self: self, seen: map[ssa.Value]bool{}}
	if why := w.foreign(v, instr, 0); why != "" {
		where := fmt.Sprintf("a %s", m.link.field.Type)
		if st, ok := instr.(*ssa.Store); ok && isNewObject(baseOf(st.Addr)) {
			where = fmt.Sprintf("the %s made", m.link.field.Type)
		}
		subject := fmt.Sprintf("%s of %s at %s", m.link.field.Field, where, at(p, instr))
		if m.link.elements {
			subject = fmt.Sprintf("what %s of a %s gets at %s", m.link.field.Field, m.link.field.Type, at(p, instr))
		}
		m.note(p, instr, subject+" "+why, w.isKnown)
	}
}

func isNewObject(v ssa.Value) bool {
	_, ok := v.(*ssa.Alloc)
	return ok
}

func (m *making) note(p *session.Package, instr ssa.Instruction, what string, isKnown bool) {
	if !slices.ContainsFunc(m.found, func(x shared) bool { return x.what == what }) {
		m.found = append(m.found, shared{place{p, instr}, what, isKnown})
	}
}

// sharesLock reports whether an object gets the lock of another one as well, by a pointer: then both are under it.
//
//	return &Set{mu: s.mu, m: s.m}
func (m *making) sharesLock(instr ssa.Instruction) bool {
	st, ok := instr.(*ssa.Store)
	if !ok || baseOf(st.Addr) == nil {
		return false
	}
	object := accesspath.Of(baseOf(st.Addr))
	for other := range ir.Instructions(st.Parent()) {
		lock, ok := other.(*ssa.Store)
		if !ok || baseOf(lock.Addr) == nil || accesspath.Of(baseOf(lock.Addr)) != object {
			continue
		}
		if name, ok := accesspath.NameOf(lock.Addr); ok && name.String() == m.claim.Lock && isAlias(lock.Val) {
			return true
		}
	}
	return false
}

// source follows a value that a field gets back to where it was made.
type source struct {
	*making
	pkg     *session.Package
	self    accesspath.Path // the field
	seen    map[ssa.Value]bool
	appends bool // v was appended to
	isKnown bool // another object surely has it
}

// foreign returns why another object may have v too, which is put in the field, or handed on to there, by an
// instruction; "" if it is made for this one.
func (w *source) foreign(v ssa.Value, instr ssa.Instruction, depth int) string {
	if v == nil || w.seen[v] {
		return "" // a loop: the other ways decide
	}
	w.seen[v] = true
	for _, x := range alternatives(v) {
		if why := w.foreign(x, instr, depth); why != "" {
			return why
		}
	}
	switch v := v.(type) {
	case *ssa.Const, *ssa.Phi, *ssa.FreeVar:
		return ""
	case *ssa.UnOp:
		return w.loaded(v)
	case *ssa.Parameter:
		return w.passed(v, depth)
	case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice, *ssa.MakeChan:
		return w.twice(v, instr)
	case *ssa.Call:
		if builtinOf(v) != "append" {
			break
		}
		w.appends = true
		if !isAppend(v) {
			return "" // it has an array of its own
		}
		return w.foreign(v.Call.Args[0], instr, depth)
	}
	if call, _ := resultOf(v); call != nil {
		return w.returned(call, v, instr)
	}
	if ir.Back(v, sameObject) != nil || isOfText(v) {
		return ""
	}
	return "comes from elsewhere"
}

// isOfText reports whether a list is made of a string: []byte(text).
func isOfText(v ssa.Value) bool {
	from := ir.Back(v, ir.Converted)
	if from == nil {
		return false
	}
	basic, ok := from.Type().Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

// sameObject are the steps from a value to another one of the same object.
const sameObject = ir.Piece | ir.Retyped | ir.Boxed | ir.Asserted

// alternatives lists the values of which v is one, by another name.
func alternatives(v ssa.Value) []ssa.Value {
	switch v := v.(type) {
	case *ssa.Phi:
		return v.Edges
	case *ssa.FreeVar:
		return []ssa.Value{accesspath.Binding(v)}
	case *ssa.UnOp:
		if cell := facts.CellOf(v.X); cell != nil {
			return accesspath.Stored(cell)
		}
	}
	if from := ir.Back(v, sameObject); from != nil {
		return []ssa.Value{from}
	}
	return nil
}

// returned is foreign for a result of a call.
func (w *source) returned(call *ssa.Call, result ssa.Value, instr ssa.Instruction) string {
	if w.returnsNew(call, result, instr) {
		return w.twice(result, instr)
	}
	return fmt.Sprintf("is what %s returns, which others may have too", callee(call))
}

// loaded is foreign for a value that was found in memory: in the field itself, of the same object or another one, or in
// another variable.
func (w *source) loaded(load *ssa.UnOp) string {
	name, ok := accesspath.NameOf(load.X)
	switch {
	case facts.CellOf(load.X) != nil:
		return ""
	case load.Op != token.MUL || !ok:
		return "comes from elsewhere"
	case name == w.link.field && accesspath.Of(load.X) == w.self:
		return ""
	case name == w.link.field && w.appends:
		return fmt.Sprintf("begins in the array of %s of another %s", name.Field, name.Type)
	case name == w.link.field:
		return fmt.Sprintf("is %s of another %s", name.Field, name.Type)
	}
	return fmt.Sprintf("is %s too", name.Short())
}

// passed is foreign for a parameter: each call may hand over a new object.
func (w *source) passed(v *ssa.Parameter, depth int) string {
	fn := v.Parent()
	sites, all := callsOf(w.pkg, w.pkg.Calls, fn)
	if i := slices.Index(fn.Params, v); all && depth <= maxLevel {
		for _, s := range sites {
			if i >= len(s.Args) {
				return "comes from elsewhere"
			}
			if why := w.foreign(s.Args[i], s.Instr, depth+1); why != "" {
				return why
			}
		}
		return ""
	}
	return fmt.Sprintf("comes from the caller of %s, who may give it to another one", fn.Name())
}

// returnsNew reports whether the result of a call is new. That of a function outside of the module is, if the function
// gets nothing that the result could be a part of, or copies that.
func (w *source) returnsNew(call *ssa.Call, result ssa.Value, instr ssa.Instruction) bool {
	fn := ir.Origin(call.Call.StaticCallee())
	if fn == nil {
		return false
	}
	switch ir.PackagePath(fn) {
	case "maps", "slices", "bytes":
		switch fn.Name() {
		case "Clone", "Concat", "Collect", "Sorted", "Repeat":
			return true
		}
	}
	if w.Calls.Body(fn) != nil {
		return w.pkg.Owners.Proven().Of(result, instr) == ownership.Fresh
	}
	return !slices.ContainsFunc(call.Call.Args, func(a ssa.Value) bool { return refers(a.Type()) })
}

// twice is foreign for an object that the module makes: it may be put in a second one as well, or again in a loop.
func (w *source) twice(object ssa.Value, instr ssa.Instruction) string {
	for _, k := range keepersOf(w.side, object, w.link) {
		switch {
		case k.instr == instr && !w.isRepeated(instr, object), k.instr != instr && isSameStore(k.instr, instr):
		case w.link.contents && k.instr != instr && !w.link.isSetBy(k.instr):
			return "is handed on at " + at(w.pkg, k.instr)
		case k.instr == instr || w.isBeforeOrBehind(k.instr, instr):
			w.isKnown = true
			return fmt.Sprintf("is made once (%s) for several", atValue(w.pkg, object))
		}
	}
	return ""
}

// isSameStore reports whether two instructions store in one place.
func isSameStore(a, b ssa.Instruction) bool {
	x, ok := a.(*ssa.Store)
	y, also := b.(*ssa.Store)
	return ok && also && accesspath.Of(x.Addr) == accesspath.Of(y.Addr)
}

// isBeforeOrBehind reports whether both of two instructions may run, one behind the other.
func (w *source) isBeforeOrBehind(a, b ssa.Instruction) bool {
	if a.Parent() != b.Parent() {
		return true
	}
	flow := w.pkg.IR.Flow(a.Parent())
	return flow.Leads(a, b) || flow.Leads(b, a)
}

// isCopy reports whether a struct with the field, which is stored as a whole, is no new one.
func (w *source) isCopy(v ssa.Value, depth int) bool {
	isNew := false
	switch v := v.(type) {
	case *ssa.Const:
		isNew = true
	case *ssa.UnOp: // T{f: v} is made in a variable of its own
		made, ok := v.X.(*ssa.Alloc)
		isNew = ok && depth <= maxLevel && !slices.ContainsFunc(*made.Referrers(), func(ref ssa.Instruction) bool {
			st, ok := ref.(*ssa.Store)
			return ok && st.Addr == ssa.Value(made) && w.isCopy(st.Val, depth+1)
		})
	case *ssa.Call:
		body := w.Calls.Body(v.Call.StaticCallee())
		isNew = body != nil && depth <= maxLevel
		for _, b := range blocksOf(body) {
			ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
			isNew = isNew && !(ok && w.isCopy(ret.Results[0], depth+1))
		}
	}
	return !isNew
}

func blocksOf(fn *ssa.Function) []*ssa.BasicBlock {
	if fn == nil {
		return nil
	}
	return fn.Blocks
}

// atValue returns file:line of the instruction that makes a value.
func atValue(p *session.Package, v ssa.Value) string {
	if instr, ok := v.(ssa.Instruction); ok {
		return at(p, instr)
	}
	return placeOf(p, v.Pos())
}

package aliasescape

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// origin is where the elements that a value leads to live: in the field, of
// the object at Path.
type origin struct {
	Field accesspath.Name
	Path  accesspath.Path
	Base  ssa.Value       // pointer to the object, in the function at hand
	Birth ssa.Instruction // that took the alias out of the field
}

// behaviours works out the behaviour of the functions of a package, and asks facts about others.
type behaviours struct {
	pass *analysis.Pass
	prog *ir.Program
	own  map[*ssa.Function]*Behaviour

	origins map[ssa.Value]origin // that were found
	// none are the values that lead to no field, for all that own says so far.
	none  map[ssa.Value]bool
	trail []ssa.Value // values that the search at hand has put into none
}

// newBehaviours sums up all functions, again until nothing is added: calls among them hand their behaviour on.
func newBehaviours(pass *analysis.Pass, prog *ir.Program, graph *callgraph.Graph) *behaviours {
	b := &behaviours{pass: pass, prog: prog, own: map[*ssa.Function]*Behaviour{}, origins: map[ssa.Value]origin{}}
	for _, fn := range prog.Funcs {
		b.own[fn] = &Behaviour{Results: map[int]Memory{}}
	}
	for changed := true; changed; {
		changed = false
		b.none = map[ssa.Value]bool{}
		for _, fn := range graph.CalleesFirst() {
			changed = b.sumUp(fn) || changed
		}
	}
	return b
}

// export makes facts of the behaviour of exported functions.
func (b *behaviours) export() {
	for fn, does := range b.own {
		obj, ok := fn.Object().(*types.Func)
		if ok && obj.Exported() && !b.prog.InTest(fn) && len(does.Results)+len(does.Changes) > 0 {
			b.pass.ExportObjectFact(obj, does)
		}
	}
}

// behaviourOf returns the behaviour of fn; nil if nothing is known.
func (b *behaviours) behaviourOf(fn *ssa.Function) *Behaviour {
	if fn == nil {
		return nil
	}
	if does := b.own[fn]; does != nil {
		return does
	}
	does := new(Behaviour)
	if obj, ok := fn.Object().(*types.Func); ok && b.pass.ImportObjectFact(obj, does) {
		return does
	}
	return nil
}

// sumUp adds the behaviour that fn shows, and reports whether that was news.
func (b *behaviours) sumUp(fn *ssa.Function) bool {
	does, news := b.own[fn], false
	for instr := range ir.Instructions(fn) {
		for _, o := range b.changedBy(instr) {
			if m, ok := relative(o, fn); ok {
				news = does.changes(m) || news
			}
		}
		if ret, ok := instr.(*ssa.Return); ok {
			news = b.returned(does, fn, ret) || news
		}
	}
	return news
}

func (b *behaviours) returned(does *Behaviour, fn *ssa.Function, ret *ssa.Return) bool {
	news := false
	for i, v := range ret.Results {
		if _, known := does.Results[i]; known {
			continue
		}
		o, ok := b.originOf(v)
		if !ok {
			continue
		}
		if m, ok := relative(o, fn); ok {
			does.Results[i], news = m, true
		}
	}
	return news
}

func relative(o origin, fn *ssa.Function) (Memory, bool) {
	i := o.Path.Param(fn)
	return Memory{i, o.Field}, i >= 0
}

// originOf follows a slice or map back to the field that it was taken from.
func (b *behaviours) originOf(v ssa.Value) (origin, bool) {
	b.trail = b.trail[:0]
	o, ok := b.follow(v)
	if ok { // the search ended early: values that it has left behind may lead on
		for _, v := range b.trail {
			delete(b.none, v)
		}
	}
	return o, ok
}

// follow is the search of originOf. It comes to a value once: a search that failed has shown that none of the
// values it came to leads to a field, and another one keeps its result for each value on the way there.
func (b *behaviours) follow(v ssa.Value) (origin, bool) {
	if o, ok := b.origins[v]; ok {
		return o, true
	}
	if b.none[v] {
		return origin{}, false
	}
	b.none[v] = true
	b.trail = append(b.trail, v)
	o, ok := b.stepBack(v)
	if ok {
		b.origins[v] = o
	}
	return o, ok
}

func (b *behaviours) stepBack(v ssa.Value) (origin, bool) {
	switch v := v.(type) {
	case *ssa.Slice:
		if _, array := v.X.(*ssa.Alloc); !array {
			return b.follow(v.X)
		}
	case *ssa.ChangeType:
		return b.follow(v.X)
	case *ssa.Alloc:
		return b.followCell(v)
	case *ssa.UnOp:
		if cell, ok := v.X.(*ssa.Alloc); ok && hasElements(v.Type()) {
			return b.follow(cell)
		}
		return loaded(v)
	case *ssa.Extract:
		if call, ok := v.Tuple.(*ssa.Call); ok {
			return b.resultOf(call, v.Index)
		}
	case *ssa.Call:
		return b.resultOf(v, 0)
	}
	return origin{}, false
}

// followCell looks into a variable in memory, such as the result of a
// function that defers: the first alias that is stored there stands for all.
func (b *behaviours) followCell(cell *ssa.Alloc) (origin, bool) {
	for _, ref := range *cell.Referrers() {
		if st, ok := ref.(*ssa.Store); ok && st.Addr == cell {
			if o, ok := b.follow(st.Val); ok {
				return o, true
			}
		}
	}
	return origin{}, false
}

func loaded(load *ssa.UnOp) (origin, bool) {
	fa, ok := load.X.(*ssa.FieldAddr)
	if !ok || load.Op != token.MUL || !hasElements(load.Type()) {
		return origin{}, false
	}
	name, ok := accesspath.NameOf(fa)
	return origin{name, accesspath.Of(fa.X), fa.X, load}, ok
}

func hasElements(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map:
		return true
	}
	return false
}

func (b *behaviours) resultOf(call *ssa.Call, i int) (origin, bool) {
	fn, args := callgraph.Target(&call.Call)
	does := b.behaviourOf(fn)
	if does == nil {
		return origin{}, false
	}
	m, ok := does.Results[i]
	if !ok || m.Param >= len(args) {
		return origin{}, false
	}
	return origin{m.Field, accesspath.Of(args[m.Param]), args[m.Param], call}, true
}

// changedBy lists the memory that instr changes in place.
func (b *behaviours) changedBy(instr ssa.Instruction) []origin {
	switch instr := instr.(type) {
	case *ssa.Store:
		// a field of an element: s.list[i].f = v
		if at, ok := ir.Root(instr.Addr, ir.Field).(*ssa.IndexAddr); ok {
			return b.originsOf(at.X)
		}
	case *ssa.MapUpdate:
		return b.originsOf(instr.Map)
	case ssa.CallInstruction:
		return b.changedByCall(instr.Common())
	}
	return nil
}

func (b *behaviours) originsOf(v ssa.Value) []origin {
	if o, ok := b.originOf(v); ok {
		return []origin{o}
	}
	return nil
}

func (b *behaviours) changedByCall(call *ssa.CallCommon) []origin {
	if builtin, ok := call.Value.(*ssa.Builtin); ok {
		switch builtin.Name() {
		case "copy", "delete", "clear":
			return b.originsOf(call.Args[0])
		case "append": // to a shorter piece: over the elements behind it
			if piece, ok := call.Args[0].(*ssa.Slice); ok && piece.High != nil {
				return b.originsOf(piece.X)
			}
		}
		return nil
	}
	fn, args := callgraph.Target(call)
	does := b.behaviourOf(fn)
	if does == nil {
		return writesArgument(b, fn, args)
	}
	var all []origin
	for _, m := range does.Changes {
		if m.Param < len(args) {
			all = append(all, origin{Field: m.Field, Path: accesspath.Of(args[m.Param]), Base: args[m.Param]})
		}
	}
	return all
}

// writesArgument returns the argument that a function of package sort or slices changes: to sort a slice
// changes its elements.
func writesArgument(b *behaviours, fn *ssa.Function, args []ssa.Value) []origin {
	if len(args) == 0 {
		return nil
	}
	if writes, _ := knowledge.WritesArgument(ir.Declared(fn), 0); writes {
		return b.originsOf(ir.Root(args[0], ir.Boxed))
	}
	return nil
}

package alias

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/accesspath"
	"github.com/interlock-go/interlock/analyzers/callers"
	"github.com/interlock-go/interlock/analyzers/ssair"
)

// origin is where the elements that a value leads to live: in the field, of
// the object at Path.
type origin struct {
	Field accesspath.Name
	Path  accesspath.Path
	Base  ssa.Value       // pointer to the object, in the function at hand
	Birth ssa.Instruction // that took the alias out of the field
}

// behaviours works out what the functions of a package do, and asks facts
// about others.
type behaviours struct {
	pass *analysis.Pass
	prog *ssair.Program
	own  map[*ssa.Function]*Behaviour
}

// newBehaviours sums up all functions, again until nothing is added: calls
// among them hand on what they do.
func newBehaviours(pass *analysis.Pass, prog *ssair.Program) *behaviours {
	b := &behaviours{pass, prog, map[*ssa.Function]*Behaviour{}}
	for _, fn := range prog.Funcs {
		b.own[fn] = &Behaviour{Results: map[int]Memory{}}
	}
	for changed := true; changed; {
		changed = false
		for _, fn := range prog.Funcs {
			changed = b.sum(fn) || changed
		}
	}
	return b
}

// export makes facts of what exported functions do.
func (b *behaviours) export() {
	for fn, does := range b.own {
		obj, ok := fn.Object().(*types.Func)
		if ok && obj.Exported() && !b.prog.InTest(fn) && len(does.Results)+len(does.Changes) > 0 {
			b.pass.ExportObjectFact(obj, does)
		}
	}
}

// of gives what fn does; nil if nothing is known.
func (b *behaviours) of(fn *ssa.Function) *Behaviour {
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

// sum adds what fn is seen to do, and reports whether that was news.
func (b *behaviours) sum(fn *ssa.Function) bool {
	does, news := b.own[fn], false
	for _, block := range fn.Blocks {
		for _, instr := range block.Instrs {
			for _, o := range b.changedBy(instr) {
				if m, ok := relative(o, fn); ok {
					news = does.changes(m) || news
				}
			}
			if ret, ok := instr.(*ssa.Return); ok {
				news = b.returned(does, fn, ret) || news
			}
		}
	}
	return news
}

func (b *behaviours) returned(does *Behaviour, fn *ssa.Function, ret *ssa.Return) bool {
	news := false
	for i, v := range ret.Results {
		o, ok := b.originOf(v)
		if !ok {
			continue
		}
		if _, known := does.Results[i]; known {
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
	return b.follow(v, maxSteps)
}

// maxSteps bounds the way back: variables may hold pieces of themselves.
const maxSteps = 16

func (b *behaviours) follow(v ssa.Value, steps int) (origin, bool) {
	if steps == 0 {
		return origin{}, false
	}
	switch v := v.(type) {
	case *ssa.Slice:
		return b.follow(v.X, steps-1)
	case *ssa.ChangeType:
		return b.follow(v.X, steps-1)
	case *ssa.UnOp:
		if cell, ok := v.X.(*ssa.Alloc); ok && hasElements(v.Type()) {
			return b.followCell(cell, steps-1)
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
func (b *behaviours) followCell(cell *ssa.Alloc, steps int) (origin, bool) {
	for _, ref := range *cell.Referrers() {
		if st, ok := ref.(*ssa.Store); ok && st.Addr == cell {
			if o, ok := b.follow(st.Val, steps); ok {
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
	fn, args := callers.Target(&call.Call)
	does := b.of(fn)
	if does == nil {
		return origin{}, false
	}
	m, ok := does.Results[i]
	if !ok || m.Param >= len(args) {
		return origin{}, false
	}
	return origin{m.Field, accesspath.Of(args[m.Param]), args[m.Param], call}, true
}

// changedBy lists what instr changes in place.
func (b *behaviours) changedBy(instr ssa.Instruction) []origin {
	switch instr := instr.(type) {
	case *ssa.Store:
		if at, ok := instr.Addr.(*ssa.IndexAddr); ok {
			return b.one(at.X)
		}
	case *ssa.MapUpdate:
		return b.one(instr.Map)
	case ssa.CallInstruction:
		return b.changedByCall(instr.Common())
	}
	return nil
}

func (b *behaviours) one(v ssa.Value) []origin {
	if o, ok := b.originOf(v); ok {
		return []origin{o}
	}
	return nil
}

func (b *behaviours) changedByCall(call *ssa.CallCommon) []origin {
	if builtin, ok := call.Value.(*ssa.Builtin); ok {
		switch builtin.Name() {
		case "copy", "delete", "clear":
			return b.one(call.Args[0])
		case "append": // to a shorter piece: over the elements behind it
			if piece, ok := call.Args[0].(*ssa.Slice); ok && piece.High != nil {
				return b.one(piece.X)
			}
		}
		return nil
	}
	fn, args := callers.Target(call)
	does := b.of(fn)
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

// writesArgument: what sorts a slice changes it.
func writesArgument(b *behaviours, fn *ssa.Function, args []ssa.Value) []origin {
	if fn == nil || fn.Object() == nil || fn.Object().Pkg() == nil || len(args) == 0 {
		return nil
	}
	path := fn.Object().Pkg().Path()
	sorts := []string{"Slice", "SliceStable", "Ints", "Strings", "Sort", "SortFunc", "SortStableFunc", "Reverse", "Delete", "DeleteFunc"}
	if (path == "sort" || path == "slices") && slices.Contains(sorts, fn.Name()) {
		v := args[0]
		if mk, ok := v.(*ssa.MakeInterface); ok {
			v = mk.X
		}
		return b.one(v)
	}
	return nil
}

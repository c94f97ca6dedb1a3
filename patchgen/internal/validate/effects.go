package validate

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
)

// effect is what a call does to the memory that one of its arguments refers to,
// level references deep.
type effect struct {
	param int
	level int
	write bool
	// unknown names the code that cannot be followed; then write is assumed.
	unknown string
}

// touch is an access of one instruction to what a root leads to.
type touch struct {
	origin
	write   bool
	unknown string
}

// touches lists what instr does to memory that the tracer's roots lead to.
func (s *state) touches(t tracer, instr ssa.Instruction) []touch {
	var list []touch
	add := func(v ssa.Value, write bool) {
		for _, o := range t.origins(v) {
			list = append(list, touch{o, write, ""})
		}
	}
	switch instr := instr.(type) {
	case *ssa.UnOp:
		if instr.Op.String() == "*" {
			add(instr.X, false)
		}
	case *ssa.Store:
		add(instr.Addr, true)
	case *ssa.MapUpdate:
		add(instr.Map, true)
	case *ssa.Lookup:
		if isMap(instr.X.Type()) {
			add(instr.X, false)
		}
	case *ssa.Next:
		if !instr.IsString {
			add(instr.Iter, false)
		}
	case ssa.CallInstruction:
		return s.touchesOfCall(t, instr)
	}
	return list
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// touchesOfCall translates what the callee does with its parameters.
func (s *state) touchesOfCall(t tracer, call ssa.CallInstruction) []touch {
	var list []touch
	effects, args := s.effectsOfCall(call)
	for _, e := range effects {
		if e.param >= len(args) || !refers(args[e.param].Type()) {
			continue
		}
		for _, o := range t.origins(args[e.param]) {
			o.level += e.level
			if o.level <= maxLevel {
				list = append(list, touch{o, e.write, e.unknown})
			}
		}
	}
	return list
}

// effectsOfCall returns what a call does to its arguments, and these.
func (s *state) effectsOfCall(call ssa.CallInstruction) ([]effect, []ssa.Value) {
	common := call.Common()
	if b, ok := common.Value.(*ssa.Builtin); ok {
		if b.Name() == "append" && (isShortened(common.Args[0]) || isBranched(call)) {
			return builtinEffects["copy"], common.Args
		}
		return builtinEffects[b.Name()], common.Args
	}
	fn, args := callgraph.Target(common)
	switch {
	case fn == nil && common.IsInvoke():
		args = append([]ssa.Value{common.Value}, common.Args...)
		return unknownEffects(common.Method.Name(), args), args
	case fn == nil:
		return unknownEffects("a function value", common.Args), common.Args
	case s.Calls.Body(fn) != nil: // of a literal: what it captures is traced in its own body
		return s.effectsOf(s.Calls.Body(fn)), args
	}
	args = callgraph.Spread(args)
	return libraryEffects(fn, args), args
}

// isShortened reports whether a slice is the first part of another one, so that append writes to elements of that.
//
//	append(x[:i], x[i+1:]...)
func isShortened(v ssa.Value) bool {
	part, ok := v.(*ssa.Slice)
	return ok && part.High != nil && part.Max == nil
}

// isBranched reports whether a call appends to a slice that it loads and does not put the result back: it writes to the
// spare room of the array, which all such calls share.
//
//	lines := append(c.headers, id)
func isBranched(call ssa.CallInstruction) bool {
	load, ok := call.Common().Args[0].(*ssa.UnOp)
	result := call.Value()
	if !ok || result == nil || facts.CellOf(load.X) != nil {
		return false
	}
	return !slices.ContainsFunc(*result.Referrers(), func(ref ssa.Instruction) bool {
		st, ok := ref.(*ssa.Store)
		return ok && accesspath.Of(st.Addr) == accesspath.Of(load.X)
	})
}

// hasNoRoom reports whether a slice is empty and without room, so that append makes an array of its own.
//
//	events := append(s.events[:0:0], s.events...)
func hasNoRoom(v ssa.Value) bool {
	part, ok := v.(*ssa.Slice)
	if !ok {
		return false
	}
	most, ok := part.Max.(*ssa.Const)
	return ok && part.Low == nil && most.Int64() == 0
}

var builtinEffects = map[string][]effect{
	"append": {{param: 0}, {param: 1}},
	"copy":   {{param: 0, write: true}, {param: 1}},
	"delete": {{param: 0, write: true}},
	"clear":  {{param: 0, write: true}},
	"len":    {{param: 0}},
}

func unknownEffects(name string, args []ssa.Value) []effect {
	var list []effect
	for i := range args {
		list = append(list, effect{param: i, write: true, unknown: name})
	}
	return list
}

// effectsOf returns what a function of the module does to what its parameters
// refer to, callees and its own literals included. What it does under a lock
// that it takes for writing itself is its own matter and left out. Recursive
// calls add nothing.
func (s *state) effectsOf(fn *ssa.Function) []effect {
	if list, known := s.effects[fn]; known {
		return list
	}
	s.effects[fn] = nil
	// A literal is called under the locks of the function around it.
	var locks *lockset.Result
	if fn.Parent() == nil {
		locks = s.Of(fn).Locks
	}
	s.effects[fn] = s.sum(locks, fn)
	return s.effects[fn]
}

func (s *state) sum(locks *lockset.Result, fn *ssa.Function) []effect {
	params := map[ssa.Value]int{}
	for i, p := range fn.Params {
		if refers(p.Type()) {
			params[p] = i
		}
	}
	if len(params) == 0 {
		return nil
	}
	t := tracer{func(v ssa.Value) bool { _, ok := params[v]; return ok }}
	var list []effect
	// A literal reaches the parameters of the function around it.
	var visit func(f *ssa.Function)
	visit = func(f *ssa.Function) {
		own := ownWriteLocks(locks, f)
		for instr := range ir.Instructions(f) {
			if own[instr] {
				continue
			}
			for _, x := range s.touches(t, instr) {
				e := effect{params[x.root], x.level, x.write, x.unknown}
				if !slices.Contains(list, e) {
					list = append(list, e)
				}
			}
		}
		for _, anon := range f.AnonFuncs {
			visit(anon)
		}
	}
	visit(fn)
	return list
}

// ownWriteLocks are the instructions of fn at which it holds a lock for writing
// that it has taken itself.
func ownWriteLocks(locks *lockset.Result, fn *ssa.Function) map[ssa.Instruction]bool {
	own := map[ssa.Instruction]bool{}
	if locks == nil {
		return own
	}
	locks.WalkOwn(fn, func(instr ssa.Instruction, st *lockset.State) {
		own[instr] = slices.ContainsFunc(st.Held(), func(h lockset.Held) bool { return !h.Read && h.Since != nil })
	})
	return own
}

// libraryEffects judges a function outside of the module by tables; one that
// they do not hold may write.
func libraryEffects(fn *ssa.Function, args []ssa.Value) []effect {
	obj, ok := fn.Object().(*types.Func)
	if !ok || obj.Pkg() == nil {
		return unknownEffects(fn.Name(), args)
	}
	switch obj.Pkg().Path() {
	case "sync/atomic": // synchronises by itself
		return nil
	case "sync":
		if obj.Signature().Recv() != nil {
			return nil
		}
	case "container/heap": // the container, and the elements that its methods move
		return []effect{{param: 0, write: true}, {param: 0, level: 1, write: true}}
	}
	var list []effect
	for i := range args {
		writes, known := callgraph.LibraryWrites(obj, i)
		if !known {
			return unknownEffects(short(obj.FullName()), args)
		}
		list = append(list, effect{param: i, write: writes})
	}
	return list
}

// callee names what a call runs, for reasons and for comparing both sides.
func callee(call ssa.CallInstruction) string {
	common := call.Common()
	if b, ok := common.Value.(*ssa.Builtin); ok {
		return b.Name()
	}
	if common.IsInvoke() {
		named := types.TypeString(common.Value.Type(), func(p *types.Package) string { return p.Name() })
		return common.Method.Name() + " of " + named
	}
	if fn := ir.Origin(common.StaticCallee()); fn != nil {
		return short(fn.RelString(nil))
	}
	return "a function value"
}

// origin is where a value leads back to.
type origin struct {
	root ssa.Value // the address of the variable, or a parameter
	// level counts the references between root and the memory that the value
	// refers to: 0 is the variable itself (or what the parameter points to), 1
	// the entries of its map or the elements of its slice, and so on.
	level int
}

// tracer follows values back to roots.
type tracer struct {
	isRoot func(ssa.Value) bool
}

// Bounds of a trace: references followed, and values on the way.
const (
	maxLevel  = 3
	maxTraced = 200
)

// origins lists the roots that v leads back to, each with its lowest level.
func (t tracer) origins(v ssa.Value) []origin {
	var found []origin
	seen := map[ssa.Value]bool{}
	var visit func(v ssa.Value, level int)
	visit = func(v ssa.Value, level int) {
		if v == nil || level > maxLevel || seen[v] || len(seen) > maxTraced {
			return
		}
		seen[v] = true
		if t.isRoot(v) {
			i := slices.IndexFunc(found, func(o origin) bool { return o.root == v })
			if i < 0 {
				found = append(found, origin{v, level})
			} else {
				found[i].level = min(found[i].level, level)
			}
			return
		}
		next, deeper := back(v)
		if deeper {
			level++
		}
		for _, w := range next {
			visit(w, level)
		}
	}
	visit(v, 0)
	return found
}

// back lists the values that v is derived from, and reports whether there is a
// reference in between.
func back(v ssa.Value) (from []ssa.Value, deeper bool) {
	if from := ir.Back(v, ^ir.Loaded); from != nil {
		return []ssa.Value{from}, false
	}
	switch v := v.(type) {
	case *ssa.Range:
		return []ssa.Value{v.X}, false
	case *ssa.Phi:
		return v.Edges, false
	case *ssa.FreeVar:
		return []ssa.Value{accesspath.Binding(v)}, false
	case *ssa.Lookup:
		return []ssa.Value{v.X}, true
	case *ssa.Next:
		return []ssa.Value{v.Iter}, true
	case *ssa.Extract:
		return []ssa.Value{v.Tuple}, false
	case *ssa.Call:
		// append(s, …) is s, perhaps with its elements in another place.
		if b, ok := v.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" && !hasNoRoom(v.Call.Args[0]) {
			return v.Call.Args[:1], false
		}
	case *ssa.UnOp:
		if v.Op != token.MUL || !refers(v.Type()) {
			return nil, false
		}
		if cell := facts.CellOf(v.X); cell != nil {
			return accesspath.Stored(cell), false
		}
		return []ssa.Value{v.X}, true
	}
	return nil, false
}

// refers reports whether a value of type t may lead to other memory. Strings,
// functions and channels are left out: nothing is written through the first,
// and the others are used by calling and sending.
func refers(t types.Type) bool { return refersWithin(t, 0) }

func refersWithin(t types.Type, depth int) bool {
	if depth > maxLevel {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface:
		return true
	case *types.Array:
		return refersWithin(u.Elem(), depth+1)
	case *types.Struct:
		for f := range u.Fields() {
			if refersWithin(f.Type(), depth+1) {
				return true
			}
		}
	case *types.Tuple:
		for v := range u.Variables() {
			if refersWithin(v.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}

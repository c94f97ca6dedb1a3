package validate

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// lockGraph is the order of the lock classes of a module: an edge where a lock
// is waited for, by a function or by what it calls, while another may be held.
// A call that is not static stands for every function that it may run by its
// signature: that finds the ways through interfaces and stored callbacks, and
// some that do not exist. As only what is new counts, those do little harm.
type lockGraph struct {
	edges map[[2]string]bool
	sites map[edgeSite]int
	where map[edgeSite]madeBy
}

// madeBy is the call that makes an edge.
type madeBy struct {
	pkg  *session.Package
	call ssa.CallInstruction
}

func (m madeBy) String() string { return at(m.pkg, m.call) }

// edgeSite is an edge that a declared function makes. Two readers at once do not wait for each other, unless a writer
// waits between them: shared says that only read sides are taken, so that a write side in place of one is new.
type edgeSite struct {
	from, to, function string
	shared             bool
	by                 string // see acquisition
}

// acquisition is one side of a lock of a class. Where only a guess leads to it, by is the function that was guessed: it
// is new, be the class taken through another guess already.
type acquisition struct {
	class string
	read  bool
	by    string
}

type classSet map[acquisition]bool

// has reports whether either side of a lock of the class is taken.
func (c classSet) has(class string) bool {
	for a := range c {
		if a.class == class {
			return true
		}
	}
	return false
}

// lockOrder demands that the patch adds no edge to a cycle of the graph. An
// edge from a class to itself is one: a second lock of the same object, or of
// two in an order that somebody else may have the other way round.
func (j *judge) lockOrder() {
	j.knownHolders()
	old, now := j.old.lockGraph(), j.now.lockGraph()
	var added []edgeSite
	for site, n := range now.sites {
		if n > old.sites[site] {
			added = append(added, site)
		}
	}
	slices.SortFunc(added, func(a, b edgeSite) int {
		return cmp.Or(strings.Compare(a.from, b.from), strings.Compare(a.to, b.to), strings.Compare(a.function, b.function),
			strings.Compare(a.by, b.by))
	})
	for _, e := range added {
		switch {
		case e.from == e.to:
			j.add("order", "%s could be locked again while it is held (%s)", short(e.to), now.where[e])
		default:
			if cycle := now.way(e.to, e.from); cycle != nil {
				j.add("order", "%s would be locked while %s is held (%s), which closes the cycle %s", short(e.to), short(e.from),
					now.where[e], strings.Join(append([]string{short(e.from)}, cycle...), " -> "))
			}
		}
	}
}

// knownHolders demands that a lock which is taken at more places than before is only ever locked by its own name: where
// it is handed on as a value, code may hold it of which the analyses do not know that it does.
//
//	with(&b.mu, func() { b.draw() })	with locks a sync.Locker
//	defer acquire(&b.mu)()
func (j *judge) knownHolders() {
	old, now := j.takings(j.old), j.takings(j.now)
	for _, k := range now.more(old) {
		if place := j.now.handedOn(k.what); place != "" {
			j.add("order", "%s is handed on as a value (%s): who holds it when %s takes it is not known",
				short(k.what), place, short(k.function))
		}
	}
}

// takings counts, in touched functions, where locks of each class are taken.
func (j *judge) takings(s *side) tally {
	count := tally{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
		if call, ok := instr.(ssa.CallInstruction); ok {
			if class := acquired(p, call); class != "" {
				count[tallyKey{declared(p, fn), class}]++
			}
		}
	})
	return count
}

// handedOn returns where a lock of the class is used as a value: handed to a function other than sync.NewCond, its own
// methods and those that only access its plain fields, stored or returned; "" if it never is.
func (s *facts) handedOn(class string) (place string) {
	isLock := func(v ssa.Value) bool {
		if mk, ok := v.(*ssa.MakeInterface); ok {
			v = mk.X
		}
		if v == nil || !canLock(v.Type()) {
			return false
		}
		name, ok := accesspath.NameOf(v)
		return ok && name.String() == class
	}
	for _, p := range s.snap.Packages {
		each(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			var values []ssa.Value
			switch instr := instr.(type) {
			case ssa.CallInstruction:
				fn, args := callgraph.Target(instr.Common())
				if p.Locks.Receiver(instr) != nil || fn != nil && fn.String() == "sync.NewCond" {
					return
				}
				for i, arg := range args {
					if !leavesUnlocked(fn, i) {
						values = append(values, arg)
					}
				}
			case *ssa.Store:
				values = []ssa.Value{instr.Val}
				// &part{lock: &whole.mu}
				if name, ok := accesspath.NameOf(instr.Addr); ok && name.String() == class && isAlias(instr.Val) {
					place = cmp.Or(place, at(p, instr))
				}
			case *ssa.Return:
				values = instr.Results
			case *ssa.Send:
				values = []ssa.Value{instr.X}
			case *ssa.MakeClosure: // b.mu.Lock as a value
				values = instr.Bindings
			}
			if place == "" && slices.ContainsFunc(values, isLock) {
				place = at(p, instr)
			}
		})
	}
	return place
}

// isAlias reports whether v may be the address of a lock that has a name of its own.
func isAlias(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.MakeInterface:
		return isAlias(v.X)
	case *ssa.Alloc, *ssa.Const:
		return false
	}
	return canLock(v.Type())
}

// leavesUnlocked reports whether a function uses its i-th parameter for nothing but fields of basic types.
//
//	func (m *maybeMutex) Disable() { m.disabled = true }
func leavesUnlocked(fn *ssa.Function, i int) bool {
	if fn == nil || len(fn.Blocks) == 0 || i >= len(fn.Params) {
		return false
	}
	for _, use := range *fn.Params[i].Referrers() {
		switch use := use.(type) {
		case *ssa.DebugRef:
		case *ssa.FieldAddr:
			if _, basic := use.Type().(*types.Pointer).Elem().Underlying().(*types.Basic); !basic {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// canLock reports whether values of the type have a method Lock.
func canLock(t types.Type) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, "Lock")
	_, isMethod := obj.(*types.Func)
	return isMethod
}

// way returns the shortest way from one class to another, both included; nil if
// there is none.
func (g *lockGraph) way(from, to string) []string {
	next := map[string][]string{}
	for e := range g.edges {
		next[e[0]] = append(next[e[0]], e[1])
	}
	seen := map[string]bool{from: true}
	work := [][]string{{from}}
	for len(work) > 0 {
		path := work[0]
		work = work[1:]
		last := path[len(path)-1]
		if last == to {
			for i := range path {
				path[i] = short(path[i])
			}
			return path
		}
		slices.Sort(next[last])
		for _, class := range next[last] {
			if !seen[class] {
				seen[class] = true
				work = append(work, append(slices.Clone(path), class))
			}
		}
	}
	return nil
}

// lockGraph returns the graph of one state of the module, made once.
func (s *facts) lockGraph() *lockGraph {
	if s.graph == nil {
		s.graph = s.makeLockGraph()
	}
	return s.graph
}

func (s *facts) makeLockGraph() *lockGraph {
	g := &lockGraph{edges: map[[2]string]bool{}, sites: map[edgeSite]int{}, where: map[edgeSite]madeBy{}}
	for _, p := range s.snap.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			// What the lockset pass knows, and what it has lost.
			held := st.MayHoldClasses()
			for _, class := range s.pilesOf(&body{p, fn}).before[instr].unnamed() {
				if !slices.Contains(held, class) {
					held = append(held, class)
				}
			}
			if len(held) == 0 {
				return
			}
			for _, call := range runs(p, instr) {
				for to := range s.takenBy(p, call) {
					for _, from := range held {
						if released(p, call, instr, from) {
							continue
						}
						shared := to.read && isReadHeld(st, from)
						site := edgeSite{from, to.class, declared(p, fn), shared, to.by}
						g.edges[[2]string{from, to.class}] = true
						g.sites[site]++
						g.where[site] = madeBy{p, call}
					}
				}
			}
		})
	}
	return g
}

// isReadHeld reports whether all locks of a class that may be held are surely held, and for reading.
func isReadHeld(st *lockset.State, class string) bool {
	sure := 0
	for _, h := range st.Held() {
		if h.Class == class && h.Read {
			sure++
		}
	}
	may := 0
	for _, k := range st.Known() {
		if k.Class == class && st.MayHold(k.Path) {
			may++
		}
	}
	return may > 0 && sure == may
}

// runs lists the calls that instr runs: itself, or where the function returns
// all that it has deferred.
func runs(p *session.Package, instr ssa.Instruction) []ssa.CallInstruction {
	switch instr := instr.(type) {
	case *ssa.Call:
		return []ssa.CallInstruction{instr}
	case *ssa.RunDefers:
		var list []ssa.CallInstruction
		for _, b := range instr.Parent().Blocks {
			for _, d := range b.Instrs {
				if d, ok := d.(*ssa.Defer); ok && p.IR.Flow(instr.Parent()).Leads(d, instr) {
					list = append(list, d)
				}
			}
		}
		return list
	}
	return nil
}

// released reports whether a lock of the class is released before the deferred
// call runs: by one that was deferred after it.
func released(p *session.Package, call ssa.CallInstruction, at ssa.Instruction, class string) bool {
	d, ok := call.(*ssa.Defer)
	if !ok {
		return false
	}
	for _, later := range runs(p, at) {
		unlocks := later != call && acquired(p, later) == "" && classOfOp(p, later) == class
		if unlocks && p.IR.Flow(d.Parent()).Leads(d, later) {
			return true
		}
	}
	return false
}

// classOfOp returns the class of the lock that call takes or releases; "" if it
// does neither or the lock has no class.
func classOfOp(p *session.Package, call ssa.CallInstruction) string {
	lock := p.Locks.Receiver(call)
	if lock == nil {
		return ""
	}
	if mk, ok := lock.(*ssa.MakeInterface); ok {
		lock = mk.X
	}
	if name, ok := accesspath.NameOf(lock); ok {
		return name.String()
	}
	return ""
}

// acquired returns the class of the lock that call itself waits for.
func acquired(p *session.Package, call ssa.CallInstruction) string {
	if name := methodName(call); name == "Lock" || name == "RLock" {
		return classOfOp(p, call)
	}
	return ""
}

// isReadLock reports whether a call that takes a lock takes its read side.
func isReadLock(call ssa.CallInstruction) bool { return methodName(call) == "RLock" }

// methodName returns the name of the function that is called; "" if it is not known.
func methodName(call ssa.CallInstruction) string {
	if common := call.Common(); common.IsInvoke() {
		return common.Method.Name()
	} else if fn, _ := callgraph.Target(common); fn != nil {
		return fn.Name()
	}
	return ""
}

// addCallee notes b as what a call that is not static may run; isValue says that it is one, by usedAsValues.
func (s *facts) addCallee(b *body, isValue bool) {
	sig := b.fn.Signature
	if sig.Recv() != nil {
		for _, key := range signatures(sig) {
			key = b.fn.Name() + key
			s.methods[key] = append(s.methods[key], b)
		}
		if callgraph.CallsBack(b.fn.Name()) {
			s.asked = append(s.asked, b)
		}
		if token.IsExported(b.fn.Name()) {
			s.exported = append(s.exported, b)
		}
	}
	// The pass ties the body of a range-over-func loop to the loop, where the iterator's locks are not held.
	if !isValue && !b.pkg.Calls.Escapes(b.fn) && !strings.HasPrefix(b.fn.Synthetic, "range-over-func") {
		return
	}
	keys := signatures(sig)
	if recv := sig.Recv(); recv != nil { // as (*T).String, with the receiver as its first parameter
		params := append([]*types.Var{recv}, slices.Collect(sig.Params().Variables())...)
		expr := types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), sig.Variadic())
		keys = append(keys, signatures(expr)...)
	}
	for _, key := range keys {
		s.values[key] = append(s.values[key], b)
	}
}

// signatures returns keys for functions, of which those have one in common that may be called as each other: the types
// of parameters and results as text, as types have no identity that both a patched package and those that import
// it know; and where one is generic, how many there are.
func signatures(sig *types.Signature) []string {
	var b strings.Builder
	generic := false
	for _, list := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range list.Variables() {
			generic = generic || isGeneric(v.Type())
			b.WriteString(types.TypeString(v.Type(), nil) + ",")
		}
		b.WriteString(";")
	}
	shape := fmt.Sprintf("%d;%d", sig.Params().Len(), sig.Results().Len())
	if generic {
		return []string{"generic " + shape, "as generic " + shape}
	}
	return []string{b.String(), "as generic " + shape}
}

// lookUp returns the functions of an index by signatures that a call of sig may run.
func lookUp(index map[string][]*body, name string, sig *types.Signature) []*body {
	keys := signatures(sig)
	if strings.HasPrefix(keys[0], "generic ") {
		return index[name+keys[1]]
	}
	return slices.Concat(index[name+keys[0]], index[name+strings.TrimPrefix(keys[1], "as ")])
}

// isGeneric reports whether a type parameter is part of the type.
func isGeneric(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Map:
		return isGeneric(t.Key()) || isGeneric(t.Elem())
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			if isGeneric(arg) {
				return true
			}
		}
	case *types.Signature:
		for _, list := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range list.Variables() {
				if isGeneric(v.Type()) {
					return true
				}
			}
		}
	case interface{ Elem() types.Type }: // of a pointer, slice, array or channel
		return isGeneric(t.Elem())
	}
	return false
}

// targets lists the functions of the module that a call may run before it
// returns, callbacks that it hands over included.
func (s *facts) targets(p *session.Package, call ssa.CallInstruction) []*body {
	if list, known := s.runs[call]; known {
		return list
	}
	s.runs[call] = s.findTargets(p, call)
	return s.runs[call]
}

func (s *facts) findTargets(p *session.Package, call ssa.CallInstruction) []*body {
	var list []*body
	common := call.Common()
	fn, args := callgraph.Target(common)
	switch {
	case common.IsInvoke():
		list = append(list, lookUp(s.methods, common.Method.Name(), common.Method.Signature())...)
	case fn == nil && s.ofLibrary(common.Value) != nil:
		// cancel() runs none of the module's functions, but may ask a parent context.
		for _, a := range s.ofLibrary(common.Value).Args {
			if iface, ok := a.Type().Underlying().(*types.Interface); ok {
				for m := range iface.Methods() {
					list = append(list, lookUp(s.methods, m.Name(), m.Signature())...)
				}
			}
		}
	case fn == nil:
		if sig, ok := common.Value.Type().Underlying().(*types.Signature); ok {
			list = append(list, lookUp(s.values, "", sig)...)
		}
	case s.bodyOf(fn) != nil:
		list = append(list, s.bodyOf(fn))
	case len(fn.Blocks) > 0:
		list = append(list, &body{p, fn})
	default: // heap.Fix(h, i) calls h.Swap, fmt.Sprint(a, b) calls b.String
		for _, a := range spread(args) {
			list = append(list, s.callbacks(p, a)...)
			list = append(list, s.reachedMethods(fn, a)...)
		}
	}
	for _, site := range p.Calls.At(call) {
		if site.Mode != callgraph.Go {
			list = append(list, &body{p, site.Callee})
		}
	}
	return list
}

// ofLibrary returns the call of a library that returned the function v, if that is the library's own code.
//
//	ctx, cancel := context.WithCancel(ctx)
func (s *facts) ofLibrary(v ssa.Value) *ssa.CallCommon {
	if result, ok := v.(*ssa.Extract); ok {
		v = result.Tuple
	}
	call, ok := v.(*ssa.Call)
	if !ok {
		return nil
	}
	fn, _ := callgraph.Target(call.Common())
	if fn == nil || s.bodyOf(fn) != nil {
		return nil
	}
	if obj, ok := fn.Object().(*types.Func); !ok || obj.Pkg() == nil || !callgraph.ReturnsOwnCode(obj) {
		return nil
	}
	return call.Common()
}

// reachedMethods lists the methods that a function of a library may look for in its argument v: package json, for
// one, follows exported fields, elements and pointers. What an interface holds may be any type.
func (s *facts) reachedMethods(fn *ssa.Function, v ssa.Value) []*body {
	obj, _ := fn.Object().(*types.Func)
	byName := callsByName(fn)
	known, unknown := s.asked, s.asked
	switch {
	// A template, or reflect, calls any exported method; a library of another module may, by interfaces of its own.
	case byName:
		known, unknown = s.exported, s.exported
	case obj != nil && obj.Pkg() != nil && isForeign(obj.Pkg().Path()):
		known = s.exported
	}
	t, ok := foundIn(v, byName)
	if !ok {
		return nil
	}
	var list []*body
	seen := map[types.Type]bool{}
	var visit func(types.Type)
	visit = func(t types.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		if named, ok := types.Unalias(t).(*types.Named); ok {
			for _, b := range known {
				if !isReceiver(b.fn, named.Obj()) {
					continue
				}
				list = append(list, b)
				for result := range b.fn.Signature.Results().Variables() {
					visit(result.Type())
				}
			}
		}
		// Fields that are not exported are passed by, unless they are embedded: libraries call no methods of theirs.
		switch t := t.Underlying().(type) {
		case *types.Interface:
			if t.NumMethods() == 0 {
				list = append(list, unknown...)
			} else {
				list = append(list, s.asked...)
			}
		case *types.Map:
			visit(t.Key())
			visit(t.Elem())
		case *types.Struct:
			for f := range t.Fields() {
				if f.Exported() || f.Embedded() {
					visit(f.Type())
				}
			}
		case *types.Pointer:
			visit(t.Elem())
		case *types.Slice:
			visit(t.Elem())
		case *types.Array:
			visit(t.Elem())
		}
	}
	visit(t)
	return list
}

// callsByName reports whether a library function calls exported methods by their names.
func callsByName(fn *ssa.Function) bool {
	obj, ok := fn.Object().(*types.Func)
	return ok && obj.Pkg() != nil && callgraph.CallsByName(obj)
}

// foundIn returns the type that a library finds in an argument, if it looks at all: an argument that is no interface is
// handed over by callbacks, or has no methods that anybody looks for, and one that was an interface before is, except
// by those who call methods by name, left to who made it one.
func foundIn(v ssa.Value, byName bool) (types.Type, bool) {
	switch x := v.(type) {
	case *ssa.MakeInterface:
		return x.X.Type(), true
	case *ssa.ChangeInterface:
		return x.Type(), true
	}
	if v.Type().String() == "reflect.Value" { // may hold any type
		return types.NewInterfaceType(nil, nil), byName
	}
	_, isInterface := v.Type().Underlying().(*types.Interface)
	return v.Type(), isInterface && byName
}

// isForeign reports whether a package is of another module, and not of the standard library.
func isForeign(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

// isReceiver reports whether fn is a method of the type.
func isReceiver(fn *ssa.Function, of *types.TypeName) bool {
	t := fn.Signature.Recv().Type()
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == of.Name() && named.Obj().Pkg() != nil && of.Pkg() != nil &&
		named.Obj().Pkg().Path() == of.Pkg().Path()
}

// sumTakes returns the lock classes that each function may wait for, by itself
// and through all that it calls.
func (s *facts) sumTakes() map[*ssa.Function]classSet {
	if s.takes != nil {
		return s.takes
	}
	type caller struct {
		fn *ssa.Function
		by string
	}
	takes := map[*ssa.Function]classSet{}
	callersOf := map[*ssa.Function][]caller{}
	var work []*ssa.Function
	for _, p := range s.snap.Packages {
		for _, fn := range p.IR.Funcs {
			takes[fn] = classSet{}
			for _, b := range fn.Blocks {
				for _, instr := range b.Instrs {
					call, ok := instr.(ssa.CallInstruction)
					if _, isGo := instr.(*ssa.Go); !ok || isGo {
						continue
					}
					if class := acquired(p, call); class != "" {
						takes[fn][acquisition{class, isReadLock(call), ""}] = true
					}
					for _, t := range s.targets(p, call) {
						by := ""
						if callee, _ := callgraph.Target(call.Common()); callee != nil && callsByName(callee) {
							by = guess(call, t)
						}
						callersOf[t.fn] = append(callersOf[t.fn], caller{fn, by})
					}
				}
			}
			work = append(work, fn)
		}
	}
	// What a function takes only grows, so this ends.
	for len(work) > 0 {
		fn := work[0]
		work = work[1:]
		for _, c := range callersOf[fn] {
			before := len(takes[c.fn])
			for a := range takes[fn] {
				if c.by != "" && isOwnLock(fn, a.class) {
					a.by = c.by
				}
				takes[c.fn][a] = true
			}
			if len(takes[c.fn]) > before {
				work = append(work, c.fn)
			}
		}
	}
	s.takes = takes
	return takes
}

// guess names the function that a call may run, where that is any of a signature, or what a library finds in its
// arguments; "" for calls that are followed.
func guess(call ssa.CallInstruction, t *body) string {
	fn, _ := callgraph.Target(call.Common())
	if fn == nil && !call.Common().IsInvoke() || fn != nil && fn != t.fn && len(fn.Blocks) == 0 {
		return declared(t.pkg, t.fn)
	}
	return ""
}

// takenBy returns the classes that a call may wait for.
func (s *facts) takenBy(p *session.Package, call ssa.CallInstruction) classSet {
	all := classSet{}
	if class := acquired(p, call); class != "" {
		all[acquisition{class, isReadLock(call), ""}] = true
		return all
	}
	for _, t := range s.targets(p, call) {
		by := ""
		for a := range s.sumTakes()[t.fn] {
			if fn, _ := callgraph.Target(call.Common()); fn == nil || isOwnLock(t.fn, a.class) {
				by = cmp.Or(by, guess(call, t))
				a.by = cmp.Or(by, a.by)
			}
			all[a] = true
		}
	}
	return all
}

// isOwnLock reports whether a class is of locks in the receiver of fn. Only for these the guessed methods are kept
// apart, as there would be many.
func isOwnLock(fn *ssa.Function, class string) bool {
	recv := fn.Signature.Recv()
	if recv == nil {
		return false
	}
	t := types.Unalias(recv.Type())
	if pointer, ok := t.(*types.Pointer); ok {
		t = types.Unalias(pointer.Elem())
	}
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() != nil &&
		strings.HasPrefix(class, named.Obj().Pkg().Path()+"."+named.Obj().Name()+".")
}

// Reentry returns what code of others must not do with a patch that is right otherwise; "" if there is nothing. Where
// the module calls such code under the claim's lock, and an exported function takes that lock now and did not before, a
// call from there would wait for itself:
//
//	l.mu.Lock()
//	l.hook()	// calls l.Level(), which locks l.mu now
func (v *Validator) Reentry(after *session.Snapshot, claim Claim) string {
	if claim.Kind != Guarded || claim.isLocalLock() {
		return ""
	}
	// The first call of code that is not known, under the lock.
	s, from := newSide(v.original, claim), ""
	for _, p := range s.snap.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			call, ok := instr.(*ssa.Call)
			if ok && from == "" && s.mayHold(st) && isUnknown(p, call) {
				from = fmt.Sprintf("%s at %s", short(fullName(ir.Outermost(fn))), at(p, call))
			}
		})
	}
	if from == "" {
		return ""
	}
	// The exported functions that take the lock since.
	entries := func(f *facts) map[string]bool {
		all := map[string]bool{}
		for fn, takes := range f.sumTakes() {
			if obj := fn.Object(); obj != nil && obj.Exported() && takes.has(claim.Lock) {
				all[fullName(fn)] = true
			}
		}
		return all
	}
	before := entries(v.original)
	var names []string
	for name := range entries(newFacts(after)) {
		if name != "" && !before[name] {
			names = append(names, short(name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	what := names[0]
	if len(names) > 1 {
		what = fmt.Sprintf("%s (and %d more)", what, len(names)-1)
	}
	return fmt.Sprintf("%s takes %s now: code of others that %s calls under that lock must not call it any more", what,
		short(claim.Lock), from)
}

// isUnknown reports whether a call may run code that is not the module's.
func isUnknown(p *session.Package, call *ssa.Call) bool {
	if _, builtin := call.Call.Value.(*ssa.Builtin); builtin || p.Locks.Receiver(call) != nil {
		return false
	}
	return call.Call.StaticCallee() == nil && len(p.Calls.At(call)) == 0
}

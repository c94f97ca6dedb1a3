package accesses

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
)

// Place is an instruction with the root of the path to its object, nil if that is not known. Locks are those held
// there; nil if neither these nor the locks of callers matter, as in a section that releases locks.
// Lazy: it is a store where the variable was found nil, by the goroutine that comes first.
type Place struct {
	Fn    *ssa.Function
	Instr ssa.Instruction
	Root  ssa.Value
	Locks *lockset.State
	Lazy  bool
}

// Place returns where a is made.
func (a *Access) Place() Place { return Place{a.Fn, a.Instr, objectOf(a.Addr), a.Locks, a.IfNil()} }

// objectOf returns the root of the path to the object at addr; nil for an object behind a copy: others may have that.
func objectOf(addr ssa.Value) ssa.Value {
	root := accesspath.Of(addr).Root
	if local, ok := root.(*ssa.Alloc); ok && spilled(local) == nil && assigned(local) {
		return nil
	}
	return root
}

// assigned reports whether a local variable is assigned as a whole, and so may be a copy.
func assigned(local *ssa.Alloc) bool {
	return slices.ContainsFunc(*local.Referrers(), func(ref ssa.Instruction) bool {
		st, ok := ref.(*ssa.Store)
		if !ok || st.Addr != local {
			return false
		}
		_, literal := accesspath.Of(st.Val).Root.(*ssa.Alloc)
		return !literal
	})
}

// entry is where a goroutine comes in that may come to a place with its object.
type entry struct {
	// fn is the function at which the goroutine begins that start starts; without start it is called by unknown code, or
	// makes the object.
	fn    *ssa.Function
	start ssa.CallInstruction
	maker bool
	given bool      // the callers of fn hand the object over, not as its receiver, or fn has got it for itself
	sets  bool      // a function on the way brings the object into service
	via   *step     // of fn: the place itself, or the call that leads to it
	root  ssa.Value // the object, in the function that starts the goroutine
	under locking   // on its way to the place, and there
}

// locking is the knowledge of locks on a way, by their classes.
type locking struct {
	held     []lockset.Held
	released []string // by the callee that the last of held led to
}

// resetTo returns the locking of the way that begins where s is held, and goes on as before.
func (k locking) resetTo(s *lockset.State) locking {
	if s == nil {
		return k
	}
	out := locking{slices.Clone(k.held), slices.Clone(k.released)}
	for _, h := range s.Held() {
		if h.Class != "" && !slices.Contains(k.released, h.Class) && !k.holdsLock(h) {
			out.held = append(out.held, h)
		}
	}
	for _, known := range s.Known() {
		if (known.Released() || known.Unclear()) && known.Class != "" {
			out.released = append(out.released, known.Class)
		}
	}
	return out
}

func (k locking) holdsLock(h lockset.Held) bool {
	return slices.ContainsFunc(k.held, func(o lockset.Held) bool { return o.Class == h.Class && (h.Read || !o.Read) })
}

// dedupKey returns a text that is the same for ways under the same locks.
func (k locking) dedupKey() string {
	var parts []string
	for _, h := range k.held {
		parts = append(parts, fmt.Sprint(h.Class, h.Read))
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}

// excludes reports whether a lock of one class is held on both ways.
func (k locking) excludes(o locking) bool {
	return slices.ContainsFunc(k.held, func(h lockset.Held) bool {
		return slices.ContainsFunc(o.held, func(g lockset.Held) bool { return h.Class == g.Class && !(h.Read && g.Read) })
	})
}

// step is an instruction on the way to a place, and those that it leads to.
type step struct {
	ssa.Instruction
	next *step
}

// meetings remembers the answers of [List.Meet], for passes that run at the same time.
type meetings struct {
	entries sync.Map // from Place: []entry
	starts  sync.Map // from ssa.CallInstruction: map[*ssa.Function][]ssa.Instruction
	locks   sync.Map // from *ssa.Function: map[ssa.CallInstruction]*lockset.State
}

// Meet reports whether something shows that two goroutines may be at a and at b at once with one object, as opposed to
// nothing showing that they may not ([List.Parallel]): two goroutines of the package come there; or one, and a caller
// of an exported function, which need not wait for it; or two callers of functions that several are meant to call, if
// the one of a is near to it.
// synchronised: the code shows that it is meant for several goroutines, no matter which function hands the object over,
// and how the functions are named.
func (l *List) Meet(a, b Place, synchronised bool) bool {
	second := l.entries(b)
	return slices.ContainsFunc(l.entries(a), func(x entry) bool {
		return slices.ContainsFunc(second, func(y entry) bool { return l.entriesMeet(x, y, synchronised) })
	})
}

func (l *List) entriesMeet(x, y entry, synchronised bool) bool {
	switch {
	case x.under.excludes(y.under):
		return false
	case x.start != nil && x.start == y.start:
		return l.startedTwice(x)
	case x.start != nil:
		return l.besides(x, y) && (y.start == nil || l.besides(y, x))
	case y.start != nil:
		return l.besides(y, x)
	case x.maker || y.maker || x.fn == y.fn && !synchronised && (!exported(x.fn) || knowledge.RunsOnce(x.fn.Name())):
		return false
	}
	return (synchronised || x.isNearCaller()) && l.forSeveral(x, synchronised) && l.forSeveral(y, synchronised)
}

// isNearCaller reports whether callers come to the place by at most one more call, or under some lock, as
// several do: that several may call a function says little of the code deep inside, which its authors enter in
// the order and the state that they know.
func (e entry) isNearCaller() bool {
	return e.via.next == nil || e.via.next.next == nil || len(e.under.held) > 0
}

// besides reports whether y may be on its way while the goroutine of g runs: it does not start that only
// after the place, and waits for nothing before.
func (l *List) besides(g, y entry) bool {
	if y.start == nil && !y.maker && l.Prog.ComesFirst(y.fn) {
		return false
	}
	starts := l.startsOf(g.start)
	before, after, over := false, false, false
	for at := y.via; at != nil && !before && !after; at = at.next {
		for _, start := range starts[at.Parent()] {
			if start != at.Instruction { // else it is for the callee to say
				before = before || l.Leads(at.Instruction, start)
				if l.Leads(start, at.Instruction) {
					after, over = true, l.hasEnded(g.start, start)
				}
			}
		}
	}
	switch {
	case over || y.start != nil && l.endsBefore(g.start, starts[y.start.Parent()], y.start):
		return false
	case after:
		return y.start != nil || !l.awaits(y, g)
	case before || y.maker || l.joined(g):
		return false
	}
	return y.start != nil || !l.awaits(y, g)
}

// startsOf lists by function the instructions that start a goroutine there, or lead to one that does.
func (l *List) startsOf(start ssa.CallInstruction) map[*ssa.Function][]ssa.Instruction {
	if known, ok := l.met.starts.Load(start); ok {
		return known.(map[*ssa.Function][]ssa.Instruction)
	}
	starts := map[*ssa.Function][]ssa.Instruction{start.Parent(): {start}}
	for work := []*ssa.Function{start.Parent()}; len(work) > 0; work = work[1:] {
		for _, s := range l.Graph.Sites(work[0]) {
			if s.Mode == callgraph.Go {
				continue
			}
			if starts[s.Caller] == nil {
				work = append(work, s.Caller)
			}
			starts[s.Caller] = append(starts[s.Caller], s.Instr)
		}
	}
	l.met.starts.Store(start, starts)
	return starts
}

// hasEnded reports whether a goroutine has ended behind call, which starts it or leads to its start.
func (l *List) hasEnded(start ssa.CallInstruction, call ssa.Instruction) bool {
	_, itself := call.(*ssa.Go)
	return !itself && l.waitsFor(start)
}

// endsBefore reports whether a goroutine has ended behind one of the calls, which is made before the go statement in
// its function, and not behind it.
func (l *List) endsBefore(start ssa.CallInstruction, calls []ssa.Instruction, goes ssa.Instruction) bool {
	return slices.ContainsFunc(calls, func(c ssa.Instruction) bool {
		return l.Leads(c, goes) && !l.Leads(goes, c) && l.hasEnded(start, c)
	})
}

// waitsFor reports whether the function that starts a goroutine waits with a WaitGroup of its own, on all ways from
// there, before it returns. It may start a function that it is handed:
//
//	func each(parts []part, f func(part)) {
//		var wg sync.WaitGroup
//		for _, p := range parts { wg.Add(1); go func() { defer wg.Done(); f(p) }() }
//		wg.Wait()
//	}
func (l *List) waitsFor(start ssa.CallInstruction) bool {
	if _, ok := start.(*ssa.Go); ok {
		return l.waitsBehind(start)
	}
	fn := start.Common().StaticCallee()
	if fn == nil {
		return false
	}
	all, any := true, false
	for instr := range ir.Instructions(fn) {
		if g, ok := instr.(*ssa.Go); ok {
			all, any = all && l.waitsBehind(g), true
		}
	}
	return all && any
}

func (l *List) waitsBehind(start ssa.CallInstruction) bool {
	var waits []*ssa.BasicBlock
	for _, b := range start.Parent().Blocks {
		for _, instr := range b.Instrs {
			_, deferred := instr.(*ssa.Defer)
			if on := order.On(instr, order.Groups); on != nil && !deferred && l.Leads(start, instr) {
				if _, own := accesspath.Of(on).Root.(*ssa.Alloc); own {
					waits = append(waits, b)
				}
			}
		}
	}
	return len(waits) > 0 && !slices.ContainsFunc(start.Parent().Blocks, func(b *ssa.BasicBlock) bool {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		return ok && l.Leads(start, ret) &&
			!slices.ContainsFunc(waits, func(w *ssa.BasicBlock) bool { return w.Dominates(b) })
	})
}

// joined reports whether g works for the maker of its object, which waits for it by something else that it has made.
//
//	for i := range c.parts { go func() { results <- c.load(i) }() }; for range c.parts { <-results }
func (l *List) joined(g entry) bool {
	made, ok := g.root.(*ssa.Alloc)
	if !ok || made.Parent() != g.start.Parent() {
		return false
	}
	for instr := range ir.Instructions(made.Parent()) {
		if on := awaited(instr); on != nil && l.Leads(g.start, instr) {
			switch root := accesspath.Of(on).Root.(type) {
			case *ssa.MakeChan, *ssa.Alloc:
				return root != made
			}
		}
	}
	return false
}

// awaits reports whether the function receives from a channel or waits for a WaitGroup on some way to the place, to
// which it does not come back: for the end of the goroutine, perhaps. So does a function that it calls on the way, if
// the goroutine g signals.
func (l *List) awaits(e, g entry) bool {
	for at := e.via; at != nil; at = at.next {
		for instr := range ir.Instructions(at.Parent()) {
			if on := awaited(instr); on != nil && (at == e.via || announces(g.fn, on)) &&
				l.Leads(instr, at.Instruction) && !l.Leads(at.Instruction, instr) {
				return true
			}
		}
	}
	return false
}

// announces reports whether a goroutine that begins in fn, or a function that it defers, signals by the channel or
// WaitGroup of a field or package variable.
func announces(fn *ssa.Function, on ssa.Value) bool {
	name, ok := accesspath.NameOf(on)
	for instr := range ir.Instructions(fn) {
		if sent := order.On(instr, order.Close|order.Send|order.Done); ok && sent != nil {
			if by, _ := accesspath.NameOf(sent); by == name {
				return true
			}
		}
		if d, isDefer := instr.(*ssa.Defer); isDefer {
			if f := d.Call.StaticCallee(); f != nil && f.Parent() == fn && announces(f, on) {
				return true
			}
		}
	}
	return false
}

// awaited returns the channel that instr receives from, one of several if need be, or the WaitGroup or errgroup that it
// waits for; nil for others.
func awaited(instr ssa.Instruction) ssa.Value {
	if _, deferred := instr.(*ssa.Defer); deferred {
		return nil
	}
	for _, o := range order.Of(instr) {
		if o.Kind&(order.Receive|order.Groups) != 0 && !o.Polls {
			return o.On
		}
	}
	return nil
}

// startedTwice reports whether several goroutines of the place that starts g have the same object: it is started in a
// loop, on an object from before, or by a function that several may call.
func (l *List) startedTwice(g entry) bool {
	inLoop := l.isInLoop(g.start.Block())
	if made, ok := g.root.(ssa.Instruction); ok {
		return inLoop && !l.isInLoop(made.Block())
	}
	start := Place{Fn: g.start.Parent(), Instr: g.start, Root: g.root}
	return inLoop || slices.ContainsFunc(l.entries(start), func(e entry) bool {
		return e.start == nil && !e.maker && l.forSeveral(e, false)
	})
}

// forSeveral reports whether any number of goroutines may be meant to call the function of e: not if it sets an object
// up, by its name, or has it from its caller.
func (l *List) forSeveral(e entry, synchronised bool) bool {
	synchronised = synchronised && (e.given || e.fn.Signature.Recv() != nil)
	return l.callable(e.fn) && !l.Prog.Alone(e.fn) && !l.Prog.ComesFirst(e.fn) &&
		(synchronised || !e.given && !e.sets)
}

// callable reports whether others than the callers at hand may call fn: it is exported, and a function, a method of
// a type that they can name, or one that only interfaces lead to, outside of the module, too.
func (l *List) callable(fn *ssa.Function) bool {
	if !l.Graph.Open(fn) || fn.Pkg.Pkg.Name() == "main" {
		return false
	}
	internal := slices.Contains(strings.Split(fn.Pkg.Pkg.Path(), "/"), "internal")
	return exported(fn) || len(l.Graph.Sites(fn)) == 0 && !internal
}

// exported reports whether fn, which is open, is a function or a method of an exported type.
func exported(fn *ssa.Function) bool {
	recv := fn.Signature.Recv()
	if recv == nil {
		return true
	}
	named, ok := ir.Named(recv.Type())
	return ok && named.Obj().Exported()
}

// entries lists where goroutines come in that may come to p.
func (l *List) entries(p Place) []entry {
	if known, ok := l.met.entries.Load(p); ok {
		return known.([]entry)
	}
	w := &entryWalk{list: l, locks: p.Locks != nil, seen: map[wayTo]bool{}}
	w.walkCallers(p, nil, locking{}.resetTo(p.Locks), false)
	l.met.entries.Store(p, w.found)
	return w.found
}

type entryWalk struct {
	list  *List
	locks bool // those held matter
	seen  map[wayTo]bool
	found []entry
}

// wayTo is a function with the root by which it has the object, the locks that are held from there to the place, and
// whether a function on the way brings the object into service.
type wayTo struct {
	handing
	locks string
	sets  bool
}

// walkCallers follows the object of p to the callers of its function; next is the step that p leads to, under
// which locks.
func (w *entryWalk) walkCallers(p Place, next *step, under locking, sets bool) {
	sets = sets || !p.Lazy && knowledge.StartsUp(p.Fn.Name())
	way := wayTo{handing{p.Fn, p.Root}, under.dedupKey(), sets}
	if w.seen[way] || len(w.found) >= knowledge.MostEntries {
		return
	}
	w.seen[way] = true
	here := entry{fn: p.Fn, via: &step{p.Instr, next}, root: p.Root, under: under, sets: sets}

	// Find out by which parameter the function has the object.
	param, known := -1, true
	switch root := p.Root.(type) {
	case *ssa.Parameter:
		param = slices.Index(p.Fn.Params, root)
	case *ssa.Alloc:
		given := spilled(root)
		if root.Parent() == p.Fn && given == nil {
			here.maker = true
			w.found = append(w.found, here)
			return
		}
		param = slices.Index(p.Fn.Params, given)
	default:
		known = false
	}

	// Other code calls it, or starts it; an object that others hand over may be theirs alone.
	graph := w.list.Graph
	here.given = known && param != 0 || isTaken(p.Root)
	if w.list.callable(p.Fn) && (param >= 0 || !known) || graph.Roles(p.Fn).Main && len(graph.Sites(p.Fn)) == 0 {
		w.found = append(w.found, here)
	}
	if made := creation(p.Fn); made != nil && len(graph.Sites(p.Fn)) == 0 { // run by unknown code
		w.walkCallers(Place{Fn: made.Parent(), Instr: made, Root: p.Root}, here.via, under, sets)
	}
	for _, s := range graph.Sites(p.Fn) {
		root := rootAt(s, p.Root, param, known)
		if s.Mode == callgraph.Go {
			w.found = append(w.found, entry{fn: p.Fn, start: s.Instr, via: here.via, root: root, under: under, sets: sets})
			continue
		}
		from := under
		if w.locks && s.Mode == callgraph.Call { // a deferred call runs later
			from = under.resetTo(w.list.locksAt(s.Instr))
		}
		w.walkCallers(Place{Fn: s.Caller, Instr: s.Instr, Root: root}, here.via, from, sets)
	}
}

// rootAt returns the root by which the caller of s has the object that is param of the callee, or has root there if it
// is none; nil where that is not known.
func rootAt(s callgraph.Site, root ssa.Value, param int, known bool) ssa.Value {
	switch {
	case param >= len(s.Args):
		return nil
	case param >= 0:
		return objectOf(sliced(s.Args[param]))
	case !known && !isGlobal(root):
		return nil
	}
	return root
}

// locksAt returns the locks held where a call is made; nil if that is not known.
func (l *List) locksAt(call ssa.CallInstruction) *lockset.State {
	fn := call.Parent()
	if known, ok := l.met.locks.Load(fn); ok {
		return known.(map[ssa.CallInstruction]*lockset.State)[call]
	}
	states := map[ssa.CallInstruction]*lockset.State{}
	l.Locks.Walk(fn, func(instr ssa.Instruction, s *lockset.State) {
		if call, ok := instr.(ssa.CallInstruction); ok {
			states[call] = s
		}
	})
	l.met.locks.Store(fn, states)
	return states[call]
}

// isTaken reports whether its function has got an object from another function for itself, by that one's name.
//
//	c, err := pool.acquire(ctx); defer pool.release(c)
func isTaken(object ssa.Value) bool {
	if e, ok := object.(*ssa.Extract); ok {
		object = e.Tuple
	}
	call, ok := object.(*ssa.Call)
	if !ok {
		return false
	}
	fn, _ := callgraph.Target(call.Common())
	return fn != nil && knowledge.HandsOut(fn.Name())
}

// creation returns the instruction that makes closures of a literal; nil for others.
func creation(fn *ssa.Function) *ssa.MakeClosure {
	if fn.Parent() == nil {
		return nil
	}
	for _, ref := range *fn.Referrers() {
		if made, ok := ref.(*ssa.MakeClosure); ok {
			return made
		}
	}
	return nil
}

// spilled returns the parameter that a local variable holds from the start; nil if it holds none.
func spilled(local *ssa.Alloc) *ssa.Parameter {
	for _, ref := range *local.Referrers() {
		if st, ok := ref.(*ssa.Store); ok && st.Addr == local {
			p, _ := st.Val.(*ssa.Parameter)
			return p
		}
	}
	return nil
}

func isGlobal(v ssa.Value) bool {
	_, ok := v.(*ssa.Global)
	return ok
}

package accesses

import (
	"go/constant"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
)

// beforeStart reports whether a comes before every go statement that leads to
// b: a's function starts those goroutines, itself or by a function that it calls or starts, and cannot come
// back to a after. That it is not called again for the same object is taken for granted.
func (l *List) beforeStart(a, b *Access) bool {
	r := l.Graph.Roles(b.Fn)
	if !onlyGoroutines(r) {
		return false
	}
	return !slices.ContainsFunc(r.Goroutines, func(g *callgraph.Goroutine) bool { return !l.comesBefore(a, g.Start, 0) })
}

// comesBefore reports whether the function of a comes to call after a only, itself or by its callees.
//
//	n := p.n // a
//	go func() { p.start() }() // which starts the goroutine
func (l *List) comesBefore(a *Access, call ssa.CallInstruction, depth int) bool {
	in := call.Parent()
	if in == a.Fn {
		return l.Leads(a.Instr, call) && !l.Leads(call, a.Instr)
	}
	sites := l.Graph.Sites(in)
	if depth >= knowledge.CallsToRole || !l.Graph.Closed(in) || len(sites) == 0 {
		return false
	}
	return !slices.ContainsFunc(sites, func(s callgraph.Site) bool { return !l.comesBefore(a, s.Instr, depth+1) })
}

func onlyGoroutines(r *callgraph.Roles) bool {
	return len(r.Goroutines) > 0 && !r.API && !r.Main && !r.Unknown
}

// ownGoroutine reports whether a and b are made by goroutines that each have
// an object of their own, which they hand on as a parameter from call to call:
// the same start statements lead to both, one in a function, none in a loop
// unless each goroutine waits for its turn.
func (l *List) ownGoroutine(a, b *Access) bool {
	ra, rb := l.Graph.Roles(a.Fn), l.Graph.Roles(b.Fn)
	if !onlyGoroutines(ra) || !onlyGoroutines(rb) || !slices.Equal(ra.Goroutines, rb.Goroutines) {
		return false
	}
	starters := map[*ssa.Function]bool{}
	for _, g := range ra.Goroutines {
		if g.Many && !g.InTurn() || starters[g.Start.Parent()] {
			return false
		}
		starters[g.Start.Parent()] = true
	}
	return l.handedDown(a.Fn, holder(a.Addr)) && l.handedDown(b.Fn, holder(b.Addr))
}

// holder returns the root of the object that addr lies in; nil if that was
// reached through another object.
func holder(addr ssa.Value) ssa.Value {
	if p := accesspath.Of(ir.Root(addr, ir.Field)); p.Fields == "" {
		return p.Root
	}
	return nil
}

// handedDown reports whether the goroutine that runs fn was started with root, a
// parameter of fn, on every way there.
func (l *List) handedDown(fn *ssa.Function, root ssa.Value) bool {
	return l.handed(fn, root, map[handing]bool{})
}

// handing is a function and the root by which it has the object.
type handing struct {
	fn   *ssa.Function
	root ssa.Value
}

// handed is handedDown without the paths that are in seen: those were asked
// about already, and the answer is that of all.
func (l *List) handed(fn *ssa.Function, root ssa.Value, seen map[handing]bool) bool {
	if seen[handing{fn, root}] {
		return true
	}
	seen[handing{fn, root}] = true
	p, ok := root.(*ssa.Parameter)
	if !ok {
		return root != nil && l.started(fn) // captured by the goroutine's own function
	}
	if p.Parent() != fn {
		return l.started(fn)
	}
	i := slices.Index(fn.Params, p)
	for _, s := range l.Graph.Sites(fn) {
		if s.Mode == callgraph.Go {
			continue
		}
		if i >= len(s.Args) {
			return false
		}
		arg := accesspath.Of(s.Args[i])
		if arg.Fields != "" || !l.handed(s.Caller, arg.Root, seen) {
			return false
		}
	}
	return true
}

// started reports whether go statements alone run the literal fn, with its captured variables.
func (l *List) started(fn *ssa.Function) bool {
	sites := l.Graph.Sites(fn)
	return fn.Parent() != nil && len(sites) > 0 &&
		!slices.ContainsFunc(sites, func(s callgraph.Site) bool { return s.Mode != callgraph.Go })
}

// An atomic flag may publish a variable that is made under a lock, as it does in sync.Once: code that finds the flag
// set, or has had the variable made, sees the writes before, and needs no lock.
//
//	if !t.done.Load() { t.fill() }
//	return t.list
//
//	func (t *T) fill() {
//		t.mu.Lock(); defer t.mu.Unlock()
//		if !t.done.Load() { t.list = list(); t.done.Store(true) }
//	}

// publication is a flag that publishes a variable, and the functions that write the variable.
type publication struct {
	flag   accesspath.Name
	makers []*ssa.Function
}

// findPublished finds the variables that a flag publishes: every write comes where the flag was found unset, and
// before it is set.
func (l *List) findPublished() {
	flags := map[*ssa.Function][]*Access{} // loads of atomics
	writes := map[groupKey][]*Access{}
	for _, a := range slices.Concat(l.All, l.Implied) {
		switch {
		case a.Mode == finding.AtomicRead:
			flags[a.Fn] = append(flags[a.Fn], a)
		case a.Mode == finding.Write && a.Owner == ownership.Shared && l.Counts(a):
			writes[a.groupKeyOf()] = append(writes[a.groupKeyOf()], a)
		}
	}
	l.flags, l.published = flags, map[groupKey]publication{}
	for group, list := range writes {
		for _, flag := range flags[list[0].Fn] {
			if !slices.ContainsFunc(list, func(w *Access) bool { return !l.publishes(flag.Name, w) }) {
				p := publication{flag: flag.Name}
				for _, w := range list {
					p.makers = append(p.makers, w.Fn)
				}
				l.published[group] = p
				break
			}
		}
	}
}

// publishes reports whether w is made where the flag, of the same object, was found unset, and the flag is set
// behind it.
func (l *List) publishes(flag accesspath.Name, w *Access) bool {
	return slices.ContainsFunc(l.flags[w.Fn], func(f *Access) bool {
		return f.Name == flag && beside(f, w) && flagOutcome(f, w.Instr) == unset && l.setBehind(w, flag)
	})
}

// beside reports whether the flag lies in the object that holds the variable of a, or is a package variable.
func beside(f, a *Access) bool {
	_, global := f.Path.Global()
	return global || f.Path.Root != nil && f.Path.Owner() == a.Path.Owner()
}

// setBehind reports whether the flag is set behind w, or as its function returns.
func (l *List) setBehind(w *Access, flag accesspath.Name) bool {
	for instr := range ir.Instructions(w.Fn) {
		if !setsFlag(instr, flag) {
			continue
		}
		if _, deferred := instr.(*ssa.Defer); deferred || l.Leads(w.Instr, instr) {
			return true
		}
	}
	return false
}

// setsFlag reports whether instr stores something else than zero in the flag.
func setsFlag(instr ssa.Instruction, flag accesspath.Name) bool {
	o, ok := order.Find(instr, order.Store)
	name, named := accesspath.NameOf(o.On)
	set, known := isNonZero(o.With)
	return ok && named && name == flag && known && set
}

// behindFlag reports whether a comes where a flag that publishes its variable was found set, or behind a test of it
// which calls a function that writes the variable otherwise.
func (l *List) behindFlag(a *Access) bool {
	p, ok := l.published[a.groupKeyOf()]
	return ok && a.Mode == finding.Read && slices.ContainsFunc(l.flags[a.Fn], func(f *Access) bool {
		if f.Name != p.flag || !beside(f, a) {
			return false
		}
		switch flagOutcome(f, a.Instr) {
		case set:
			return true
		case either:
			return slices.Contains(p.makers, a.Fn) || l.callsWhereUnset(f, p.makers)
		}
		return false
	})
}

// callsWhereUnset reports whether one of the functions is called where the flag that f loads is unset.
func (l *List) callsWhereUnset(f *Access, makers []*ssa.Function) bool {
	for instr := range ir.Instructions(f.Fn) {
		call, ok := instr.(*ssa.Call)
		if ok && slices.Contains(makers, ir.Origin(call.Call.StaticCallee())) && flagOutcome(f, call) == unset {
			return true
		}
	}
	return false
}

// side is the outcome of a test of a flag, as known at an instruction.
type side int

const (
	untested side = iota
	set           // the flag was found set
	unset
	either // it was tested, and control comes there from both sides
)

// flagOutcome returns the outcome of the test of the flag that f loads, as known at instruction at.
func flagOutcome(f *Access, at ssa.Instruction) side {
	branch, whenTrue := testOf(f.Value)
	if branch == nil || !branch.Block().Dominates(at.Block()) || branch.Block() == at.Block() {
		return untested
	}
	sides := [2]side{whenTrue, set + unset - whenTrue}
	for i, succ := range branch.Block().Succs {
		if len(succ.Preds) == 1 && succ.Dominates(at.Block()) {
			return sides[i]
		}
	}
	return either
}

// testOf returns the branch that asks whether v is set, and its outcome where the condition holds; nil if there is
// none.
func testOf(v ssa.Value) (*ssa.If, side) {
	whenTrue := set
	for v != nil && v.Referrers() != nil {
		var next ssa.Value
		for _, ref := range *v.Referrers() {
			switch ref := ref.(type) {
			case *ssa.If:
				return ref, whenTrue
			case *ssa.UnOp:
				if ref.Op == token.NOT {
					next, whenTrue = ref, set+unset-whenTrue
				}
			case *ssa.BinOp:
				constant, known := isNonZero(ref.Y)
				if !known || ref.Op != token.EQL && ref.Op != token.NEQ {
					continue
				}
				if next = ref; constant != (ref.Op == token.EQL) {
					whenTrue = set + unset - whenTrue
				}
			}
		}
		v = next
	}
	return nil, untested
}

// isNonZero returns whether the constant v is something else than zero; not known for other values.
func isNonZero(v ssa.Value) (set, known bool) {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil {
		return false, false
	}
	switch c.Value.Kind() {
	case constant.Bool:
		return constant.BoolVal(c.Value), true
	case constant.Int:
		return constant.Sign(c.Value) != 0, true
	}
	return false, false
}

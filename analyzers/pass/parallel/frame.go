package parallel

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
)

// frame is a function that is being summed up.
type frame struct {
	*builder
	fn   *ssa.Function
	flow *ir.Flow
	work *ir.Work

	ops      []op
	at       map[ssa.Instruction]syncs
	entered  map[*ssa.BasicBlock][]signal // waited for by cases of selects, and in each round of the loop
	locks    map[ssa.Instruction][]held
	touches  []*Touch
	strands  []*strand
	deferred []op // in the order of the source
	entry    entry
	passed   map[ssa.Instruction][]signal // memo of after
	joins    map[*ssa.BasicBlock][]signal // memo of merged
	coming   map[ssa.Instruction][]signal // memo of then
	lists    [][]signal                   // see once
	tested   map[*ssa.BasicBlock][]Place  // memo of tests
}

// op is an instruction that synchronises.
type op struct {
	instr ssa.Instruction
	syncs
}

// ownLocks returns the locks that fn may have taken itself at each instruction, and
// those that it releases for its caller.
func (b *builder) ownLocks(fn *ssa.Function) (at map[ssa.Instruction][]held, handed []held) {
	at = map[ssa.Instruction][]held{}
	b.lockset.WalkOwn(fn, func(instr ssa.Instruction, s *lockset.State) {
		_, isReturn := instr.(*ssa.Return)
		if !isReturn && !touches(instr) {
			return
		}
		for _, h := range slices.Concat(s.Held(), s.Turns()) {
			at[instr] = append(at[instr], held{h.Path, h.Class, h.Read})
		}
		for _, k := range s.Known() {
			switch h := (held{k.Path, k.Class, false}); {
			case k.Unclear():
				at[instr] = append(at[instr], h)
			case isReturn && k.Released() && !slices.Contains(handed, h):
				handed = append(handed, h)
			}
		}
	})
	return at, handed
}

// touches reports whether an instruction may access memory or call.
func touches(instr ssa.Instruction) bool {
	switch instr.(type) {
	case *ssa.UnOp, *ssa.Store, *ssa.MapUpdate, *ssa.Lookup, *ssa.Range, ssa.CallInstruction, *ssa.RunDefers:
		return true
	}
	return false
}

// findSyncs notes the signals that instructions wait for and give: deferred calls do where
// they run, and a loop waits at its head for the signals of each round, as one that
// receives n times does.
func (f *frame) findSyncs() {
	// On the way into a block, and in it.
	for _, b := range f.fn.Blocks {
		if waits := caseSyncs(ir.Selected(b)); waits != nil {
			f.entered[b] = addSignals(f.entered[b], waits...)
		}
		if on := stopped(b); on != nil {
			f.entered[b] = addSignals(f.entered[b], signalOf(order.Halted, on))
		}
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.Defer:
				if s := f.callSyncs(instr); !s.isEmpty() {
					f.deferred = append(f.deferred, op{instr, s})
				}
			case *ssa.Go:
			case ssa.CallInstruction:
				f.noteSyncs(instr, f.callSyncs(instr))
			default:
				f.noteSyncs(instr, syncsOf(instr))
			}
		}
	}
	// At the end.
	for instr := range ir.Instructions(f.fn) {
		if run, ok := instr.(*ssa.RunDefers); ok {
			f.noteSyncs(run, f.signalsAtEnd(run))
		}
	}
	f.hoistWaits()
}

func (f *frame) noteSyncs(instr ssa.Instruction, s syncs) {
	if !s.isEmpty() {
		f.at[instr] = s
		f.ops = append(f.ops, op{instr, s})
	}
}

// signalsAtEnd returns the signals that the deferred calls wait for which surely run at the end,
// and those that deferred calls give which may run.
func (f *frame) signalsAtEnd(end *ssa.RunDefers) syncs {
	var s syncs
	for _, d := range f.deferred {
		if d.instr.Block().Dominates(end.Block()) {
			s.waits = addSignals(s.waits, d.waits...)
		}
		s.gives = addSignals(s.gives, d.gives...)
	}
	return s
}

// hoistWaits has the heads of loops wait for the signals of each round, and the
// branches before them that may leave the loop out.
func (f *frame) hoistWaits() {
	for _, latch := range f.fn.Blocks {
		for _, head := range latch.Succs {
			if !head.Dominates(latch) {
				continue
			}
			waits := f.eachRound(head, latch)
			if len(waits) == 0 {
				continue
			}
			f.entered[head] = addSignals(f.entered[head], waits...)
			// Match `if 0 < n { for { …; if i < n { continue }; break } }`.
			for _, before := range head.Preds {
				last := before.Instrs[len(before.Instrs)-1]
				if _, branch := last.(*ssa.If); branch && !head.Dominates(before) && shareExit(before, latch) {
					f.at[last] = syncs{waits: addSignals(f.at[last].waits, waits...)}
				}
			}
		}
	}
}

// eachRound returns the signals that every round of a loop waits for.
func (f *frame) eachRound(head, latch *ssa.BasicBlock) []signal {
	f.work.Spend(len(f.ops) + len(f.entered))
	inside := func(b *ssa.BasicBlock) bool { return head.Dominates(b) && b.Dominates(latch) }
	var waits []signal
	for _, o := range f.ops {
		if len(o.waits) > 0 && inside(o.instr.Block()) {
			waits = addSignals(waits, strong(o.waits)...)
		}
	}
	for b, entered := range f.entered {
		if b != head && inside(b) {
			waits = addSignals(waits, strong(entered)...)
		}
	}
	return waits
}

func shareExit(a, b *ssa.BasicBlock) bool {
	return slices.ContainsFunc(a.Succs, func(s *ssa.BasicBlock) bool { return slices.Contains(b.Succs, s) })
}

func strong(list []signal) []signal {
	return slices.DeleteFunc(slices.Clone(list), signal.isWeak)
}

// callSyncs returns the signals that a call waits for on every way through the callee, and
// those that it may give.
func (f *frame) callSyncs(call ssa.CallInstruction) syncs {
	site, known := f.onlyCallee(call)
	if !known {
		own := syncsOfCall(call)
		own.waits = addSignals(own.waits, f.polledSignals(call)...)
		if slices.ContainsFunc(f.graph.At(call), f.waitsUnseen) || f.iteratorWaits(call) {
			own.waits = addSignals(own.waits, signal{sort: order.Everything})
		}
		for _, s := range f.graph.At(call) { // a function handed to a known one, which calls it
			if sum := f.summaries[s.Callee]; sum != nil && s.Mode == callgraph.Call && s.Through != nil {
				own.gives = addSignals(own.gives, newMapping(s).signals(sum.all.gives, true)...)
			}
		}
		return own
	}
	sum := f.summaries[site.Callee]
	if sum == nil {
		return syncs{[]signal{{sort: order.Unknown}}, []signal{{sort: order.Unknown}}} // a recursive call
	}
	m := newMapping(site)
	waits := addSignals(m.signals(sum.must, false), f.polledSignals(call)...)
	if f.waitsUnseen(site) || f.iteratorWaits(call) {
		waits = addSignals(waits, signal{sort: order.Everything})
	}
	return syncs{waits: waits, gives: m.signals(sum.all.gives, true)}
}

// waitsUnseen reports whether the callee of a function value, or behind an interface, always waits for a message on a
// channel that the function has no name for: it may be any.
func (f *frame) waitsUnseen(s callgraph.Site) bool {
	sum := f.summaries[s.Callee]
	if sum == nil || s.Mode != callgraph.Call || s.Through != nil || s.Instr.Common().StaticCallee() != nil {
		return false
	}
	return slices.ContainsFunc(sum.must, func(w signal) bool {
		if w.sort != order.Message || w.name != (accesspath.Name{}) {
			return false
		}
		_, param := w.path.Root.(*ssa.Parameter)
		return s.Instr.Common().IsInvoke() && param || len(newMapping(s).signals([]signal{w}, false)) == 0
	})
}

// iteratorWaits reports whether call runs a function that a function of the package has made for it, which always waits
// for a message. The call graph knows no more of it than that it calls the body of the loop.
//
//	for n := range all(ch) { … }
func (f *frame) iteratorWaits(call ssa.CallInstruction) bool {
	made, ok := call.Common().Value.(*ssa.Call)
	if !ok || made.Call.StaticCallee() == nil {
		return false
	}
	for _, literal := range made.Call.StaticCallee().AnonFuncs {
		sum := f.summaries[literal]
		if sum != nil && slices.ContainsFunc(sum.must, func(w signal) bool { return w.sort == order.Message }) {
			return true
		}
	}
	return false
}

// onlyCallee returns the one function of the package that call runs at once, if it is
// known to run no other.
func (f *frame) onlyCallee(call ssa.CallInstruction) (callgraph.Site, bool) {
	if f.lockset.Receiver(call) != nil { // an operation on a lock
		return callgraph.Site{}, false
	}
	sites := f.graph.At(call)
	if len(sites) != 1 || sites[0].Through != nil || len(sites[0].Callee.Blocks) == 0 {
		return callgraph.Site{}, false
	}
	return sites[0], true
}

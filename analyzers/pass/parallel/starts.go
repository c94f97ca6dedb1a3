package parallel

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/order"
)

// addStart adds the goroutine that s starts, and those that it starts in turn.
func (f *frame) addStart(s callgraph.Site, sum *summary) {
	if s.Through != nil && !knowledge.StartsAtOnce(ir.Declared(s.Through)) {
		return
	}
	if s.Through != nil && len(s.Through.Blocks) > 0 {
		if through := f.summaries[s.Through]; through == nil || len(through.must) > 0 {
			return // it may wait for the goroutine that it starts
		}
	}
	if s.Through != nil && ir.PackagePath(s.Through) == "testing" && s.Through.Name() == "RunParallel" {
		return // it waits for all that it starts
	}
	m := newMapping(s)
	st := &strand{at: s.Instr, start: s.Instr, syncs: sum.all, subtest: callgraph.ParallelSubtest(s)}
	ended := endedBy(s)
	if slices.ContainsFunc(f.fn.Blocks, waitsForBubble) {
		ended = []signal{{sort: order.Everything}}
	}
	begun := begunBy(s)
	touches := make([]*Touch, 0, len(sum.touches))
	for _, t := range sum.touches {
		moved := *t
		moved.after, moved.then = joinSignals(t.after, begun), joinSignals(t.then, ended)
		moved.locks = slices.Concat(t.locks, sum.handed)
		touches = append(touches, &moved)
	}
	f.addStrand(m, touches, st)
	for _, inner := range sum.strands {
		f.addStrand(m, inner.touches, &strand{at: s.Instr, start: inner.start, syncs: inner.syncs, depth: inner.depth + 1,
			subtest: st.subtest})
	}
}

// begunBy returns the signals that a goroutine has waited for when it begins: context.AfterFunc starts it when the
// context is canceled, by a function of which nothing is known.
func begunBy(s callgraph.Site) []signal {
	if throughName(s) == "context.AfterFunc" {
		return []signal{{sort: order.Unknown}}
	}
	return nil
}

// endedBy returns the signals that a goroutine sends behind the function that it runs. A helper that starts it
// may signal in any way then:
//
//	func (p *pool) Go(f func()) { p.wg.Add(1); go func() { defer p.wg.Done(); f() }() }
func endedBy(s callgraph.Site) []signal {
	switch group := groupOf(s); {
	case group != nil:
		return []signal{signalOf(order.Ended, group)}
	case runsLater(s):
		return []signal{signalOf(order.Halted, s.Instr.(*ssa.Call))}
	case s.Through != nil && (len(s.Through.Blocks) > 0 || strings.Contains(ir.PackagePath(s.Through), ".")):
		return []signal{{sort: order.Everything}} // callbacks of the standard library signal nothing, this is not of it
	}
	return nil
}

// runsLater reports whether the goroutine of s begins some time after, unless it is stopped before.
func runsLater(s callgraph.Site) bool {
	_, ok := s.Instr.(*ssa.Call)
	return ok && (throughName(s) == "context.AfterFunc" || throughName(s) == "time.AfterFunc")
}

// stopped returns the timer, or the function, by which a goroutine that has not begun was kept from doing so where
// control enters b: it has done nothing then.
//
//	stop := context.AfterFunc(ctx, f); …; if stop() { … }
//	timer := time.AfterFunc(d, f); …; if timer.Stop() { … }
func stopped(b *ssa.BasicBlock) ssa.Value {
	if len(b.Preds) != 1 || b.Preds[0].Succs[0] != b {
		return nil
	}
	branch, ok := b.Preds[0].Instrs[len(b.Preds[0].Instrs)-1].(*ssa.If)
	if !ok {
		return nil
	}
	call, ok := branch.Cond.(*ssa.Call)
	switch {
	case !ok:
		return nil
	case len(call.Call.Args) == 0 && !call.Call.IsInvoke():
		return call.Call.Value
	case call.Call.StaticCallee() != nil && call.Call.StaticCallee().String() == "(*time.Timer).Stop":
		return call.Call.Args[0]
	}
	return nil
}

// groupOf returns the WaitGroup or errgroup that s starts its goroutine by.
func groupOf(s callgraph.Site) ssa.Value {
	if s.Through == nil || s.Through.Signature.Recv() == nil || len(s.Instr.Common().Args) == 0 {
		return nil
	}
	switch ir.PackagePath(s.Through) {
	case "sync", "golang.org/x/sync/errgroup":
		return s.Instr.Common().Args[0]
	}
	return nil
}

func throughName(s callgraph.Site) string {
	if s.Through == nil {
		return ""
	}
	return ir.PackagePath(s.Through) + "." + s.Through.Name()
}

// addStrand adds st with the touches, those that the frame can name.
func (f *frame) addStrand(m mapping, touches []*Touch, st *strand) {
	if st.depth > knowledge.CallsToStart || len(f.strands) >= knowledge.StrandsOfFunction {
		return
	}
	for _, t := range touches {
		if moved := m.touchInCaller(t, st.at, nil); moved != nil {
			st.touches = append(st.touches, moved)
		}
	}
	st.syncs = syncs{m.signals(st.syncs.waits, true), m.signals(st.syncs.gives, true)}
	f.strands = append(f.strands, st)
}

// leaves returns s with the accesses that it may still make when the function returns; nil
// if there are none.
func (f *frame) leaves(s *strand) *strand {
	left := *s
	left.touches = nil
	known := map[listKey]bool{}
	for _, t := range s.touches {
		if !f.visible(t.Place.Path) {
			continue
		}
		key := listKey{n: len(t.then)}
		if key.n > 0 {
			key.first = &t.then[0]
		}
		outlasts, ok := known[key]
		if !ok {
			outlasts = f.outlasts(s, t)
			known[key] = outlasts
		}
		if outlasts {
			left.touches = append(left.touches, t)
		}
	}
	if len(left.touches) == 0 {
		return nil
	}
	return &left
}

// outlasts reports whether the function may return without having waited for
// the signals that the goroutines of s give after t.
func (f *frame) outlasts(s *strand, t *Touch) bool {
	given := f.closure(t.then)
	for _, b := range f.fn.Blocks {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && f.comesTo(s.at, ret, accesspath.Path{}, given) {
			return true
		}
	}
	return false
}

// waitsForBubble reports whether the block calls synctest.Wait, which returns when all other goroutines of
// the bubble have ended, or wait.
func waitsForBubble(b *ssa.BasicBlock) bool {
	return slices.ContainsFunc(b.Instrs, func(instr ssa.Instruction) bool {
		_, isDeferred := instr.(*ssa.Defer)
		return !isDeferred && order.May(instr, order.Settle)
	})
}

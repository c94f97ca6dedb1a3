package accesses

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// inPhases reports whether a and b are made in different phases of the
// program: only the main goroutine, of a command or of a test, makes a, and
// every goroutine that makes b has ended when the function that started it
// returns, which does not lead to a meanwhile.
func (l *List) inPhases(a, b *Access) bool {
	graph := l.Graph
	if graph.Roles(a.Fn).None() && graph.Roles(b.Fn).None() {
		graph = graph.WithTests() // nobody else uses them
	}
	ra, rb := graph.Roles(a.Fn), graph.Roles(b.Fn)
	if !ra.Main || ra.API || ra.Unknown || len(ra.Goroutines) > 0 || rb.API || rb.Unknown || len(rb.Goroutines) == 0 {
		return false
	}
	above := calledFrom(graph, a.Fn)
	return !slices.ContainsFunc(rb.Goroutines, func(g *callgraph.Goroutine) bool {
		in := joinedIn(graph, g, 0)
		return in == nil || above[in]
	})
}

// afterWait reports whether the function of a has waited for a WaitGroup of its own, or for one in
// an object that all goroutines which make b are done with at their end, and
// only goroutines make b, none that an importing package starts: those that the
// function has waited for.
func (l *List) afterWait(a, b *Access) bool {
	rb := l.Graph.Roles(b.Fn)
	if rb.API || rb.Main || rb.None() || b.Fn == a.Fn {
		return false
	}
	flow := l.Prog.Flow(a.Fn)
	for block := a.Instr.Block(); block != nil; block = block.Idom() {
		for _, instr := range block.Instrs {
			call, ok := instr.(*ssa.Call)
			if !ok || block == a.Instr.Block() && flow.Index(instr) >= flow.Index(a.Instr) {
				continue
			}
			if flow.Leads(a.Instr, instr) {
				continue
			}
			if onGroup(call.Common(), "Wait") != nil || allDone(rb.Goroutines, groupField(call.Common(), "Wait")) {
				return true
			}
		}
	}
	return false
}

// groupField returns the field or package variable that holds the WaitGroup or errgroup on which the
// named method is called; the empty name if there is none.
func groupField(call *ssa.CallCommon, method string) accesspath.Name {
	fn, args := callgraph.Target(call)
	if fn == nil || len(args) == 0 || fn.Name() != method || !isGroup(args[0].Type()) {
		return accesspath.Name{}
	}
	name, _ := accesspath.NameOf(args[0])
	return name
}

func isGroup(t types.Type) bool {
	switch types.TypeString(t, nil) {
	case "*sync.WaitGroup", "*golang.org/x/sync/errgroup.Group":
		return true
	}
	return false
}

// allDone reports whether the group counts each of the goroutines: it has started them, or they say that
// they are done, deferred or at their end.
//
//	p.wg.Go(f); go func() { defer p.wg.Done(); … }()
func allDone(goroutines []*callgraph.Goroutine, group accesspath.Name) bool {
	return group != (accesspath.Name{}) && len(goroutines) > 0 &&
		!slices.ContainsFunc(goroutines, func(g *callgraph.Goroutine) bool {
			return groupField(g.Start.Common(), "Go") != group && !doneAtEnd(g.Entry, group)
		})
}

func doneAtEnd(entry *ssa.Function, group accesspath.Name) bool {
	for _, b := range entry.Blocks {
		_, atEnd := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		for _, instr := range b.Instrs {
			_, deferred := instr.(*ssa.Defer)
			if call, ok := instr.(ssa.CallInstruction); ok && (deferred || atEnd) && groupField(call.Common(), "Done") == group {
				return true
			}
		}
	}
	return false
}

// afterStop reports whether b is made by the function of a timer that the function of a has stopped
// before: the result of Stop is asked for the case that b is running then.
//
//	if !d.timer.Stop() { <-d.cancel }
//	d.cancel = make(chan struct{})
func (l *List) afterStop(a, b *Access) bool {
	r := l.Graph.Roles(b.Fn)
	if !onlyGoroutines(r) {
		return false
	}
	return !slices.ContainsFunc(r.Goroutines, func(g *callgraph.Goroutine) bool {
		timer := timerField(g.Start)
		return timer == (accesspath.Name{}) || !l.stopsTimer(a, timer)
	})
}

// timerField returns the field or package variable that takes the timer which a call of time.AfterFunc
// returns; the empty name if there is none.
func timerField(start ssa.CallInstruction) accesspath.Name {
	call, ok := start.(*ssa.Call)
	if fn := start.Common().StaticCallee(); !ok || fn == nil || fn.String() != "time.AfterFunc" {
		return accesspath.Name{}
	}
	for _, ref := range *call.Referrers() {
		if st, ok := ref.(*ssa.Store); ok && st.Val == call {
			name, _ := accesspath.NameOf(st.Addr)
			return name
		}
	}
	return accesspath.Name{}
}

// stopsTimer reports whether the function of a stops the timer on some way to a, and looks whether that was in time.
func (l *List) stopsTimer(a *Access, timer accesspath.Name) bool {
	for instr := range ir.Instructions(a.Fn) {
		call, ok := instr.(*ssa.Call)
		if !ok || call.Call.StaticCallee() == nil || call.Call.StaticCallee().String() != "(*time.Timer).Stop" {
			continue
		}
		name, _ := accesspath.NameOf(call.Call.Args[0])
		if name == timer && len(*call.Referrers()) > 0 && l.Leads(instr, a.Instr) {
			return true
		}
	}
	return false
}

// calledFrom returns fn and the functions that lead to it by calls.
func calledFrom(graph *callgraph.Graph, fn *ssa.Function) map[*ssa.Function]bool {
	above := map[*ssa.Function]bool{fn: true}
	for work := []*ssa.Function{fn}; len(work) > 0; work = work[1:] {
		for _, s := range graph.Sites(work[0]) {
			if s.Mode != callgraph.Go && !above[s.Caller] {
				above[s.Caller] = true
				work = append(work, s.Caller)
			}
		}
	}
	return above
}

// joinedIn returns the function that starts g and returns only after it has
// ended; nil if that is not known. Goroutines that lead to the start of g have
// to be waited for likewise.
func joinedIn(graph *callgraph.Graph, g *callgraph.Goroutine, depth int) *ssa.Function {
	in := g.Start.Parent()
	joined := false
	for _, s := range graph.At(g.Start) {
		switch {
		case s.Mode != callgraph.Go || s.Callee != g.Entry:
		case s.Through != nil && len(s.Through.Blocks) > 0: // handed to a function that starts it
			in = s.Through
			joined = joinsAll(graph, in)
		default:
			joined = waitedFor(g.Start, s.Callee)
		}
	}
	if !joined || depth > knowledge.NestedGoroutines {
		return nil
	}
	for _, outer := range graph.Roles(g.Start.Parent()).Goroutines {
		if joinedIn(graph, outer, depth+1) == nil {
			return nil
		}
	}
	return in
}

// joinsAll reports whether fn waits for every goroutine that it starts itself.
func joinsAll(graph *callgraph.Graph, fn *ssa.Function) bool {
	some, all := false, true
	for instr := range ir.Instructions(fn) {
		call, ok := instr.(ssa.CallInstruction)
		if !ok {
			continue
		}
		for _, s := range graph.At(call) {
			if s.Mode == callgraph.Go {
				some = true
				all = all && waitedFor(call, s.Callee)
			}
		}
	}
	return some && all
}

// waitedFor reports whether every way from start, which runs entry in a
// goroutine, to a return waits for a WaitGroup of the function's own that
// entry is done with at its end.
func waitedFor(start ssa.CallInstruction, entry *ssa.Function) bool {
	group := groupOf(start, entry)
	if group == nil {
		return false
	}
	waited := true
	Reached(start, func(instr ssa.Instruction) bool {
		if _, ok := instr.(*ssa.Return); ok {
			waited = false
		}
		call, ok := instr.(*ssa.Call)
		return !ok || onGroup(call.Common(), "Wait") != group
	})
	return waited
}

// groupOf returns the WaitGroup, a local of the starter, that counts the
// goroutine: by its method Go, or as entry calls Done when it ends.
func groupOf(start ssa.CallInstruction, entry *ssa.Function) ssa.Value {
	if group := onGroup(start.Common(), "Go"); group != nil {
		return group
	}
	for _, b := range entry.Blocks {
		_, atEnd := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		for _, instr := range b.Instrs {
			call, ok := instr.(ssa.CallInstruction)
			if _, deferred := instr.(*ssa.Defer); !ok || !deferred && !atEnd {
				continue
			}
			if group := onGroup(call.Common(), "Done"); group != nil && group.Parent() == start.Parent() {
				return group
			}
		}
	}
	return nil
}

// onGroup returns the local WaitGroup on which the named method is called; nil
// if it is none.
func onGroup(call *ssa.CallCommon, method string) ssa.Value {
	fn, args := callgraph.Target(call)
	if fn == nil || len(args) == 0 || fn.String() != "(*sync.WaitGroup)."+method {
		return nil
	}
	p := accesspath.Of(args[0])
	if local, ok := p.Root.(*ssa.Alloc); ok && p.Fields == "" {
		return local
	}
	return nil
}

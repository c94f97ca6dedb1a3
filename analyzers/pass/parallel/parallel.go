package parallel

import (
	"cmp"
	"go/token"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/simulation"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
)

// Analyzer finds the [Race]s of a package.
var Analyzer = &analysis.Analyzer{
	Name:       "interlockparallel",
	Doc:        "find accesses of two goroutines to one variable that nothing orders",
	Run:        run,
	Requires:   []*analysis.Analyzer{ir.Analyzer, callgraph.Analyzer, lockset.Analyzer, waits.Analyzer},
	ResultType: reflect.TypeFor[[]*Race](),
}

// Race is two accesses that conflict, of two goroutines that nothing orders.
type Race struct {
	// In is the function that starts the goroutine of Inside at Start, itself or
	// by a callee.
	In     *ssa.Function
	Start  ssa.CallInstruction
	Inside *Touch
	// Handler is instead of Start the literal that package net/http runs in a goroutine for each request.
	Handler *ssa.Function
	// Other is made by In or its callees, or by the goroutine that Second starts;
	// it is Inside itself for goroutines that a loop starts at one place.
	Other  *Touch
	Second ssa.CallInstruction
	// Tested: in a test, where the code that is tested may order the two, or keep the goroutine from its access; see
	// [frame.byTested].
	Tested bool
}

// Begins returns where the goroutine of Inside is started, or the handler is written.
func (r *Race) Begins() token.Pos {
	if r.Handler != nil {
		return r.Handler.Pos()
	}
	return r.Start.Pos()
}

// Itself reports whether the goroutines of one place race with each other.
func (r *Race) Itself() bool { return r.Other == r.Inside }

type builder struct {
	prog      *ir.Program
	graph     *callgraph.Graph
	lockset   *lockset.Result
	summaries map[*ssa.Function]*summary
	races     []*Race
}

func run(pass *analysis.Pass) (any, error) {
	b := &builder{
		prog:      pass.ResultOf[ir.Analyzer].(*ir.Program),
		graph:     pass.ResultOf[callgraph.Analyzer].(*callgraph.Graph).WithTests(),
		lockset:   pass.ResultOf[lockset.Analyzer].(*lockset.Result),
		summaries: map[*ssa.Function]*summary{},
	}
	b.prog.Analyse(pass, func() {
		if !b.starts() {
			return
		}
		b.prog.EachOf(pass, b.graph.CalleesFirst(), b.sumUp)
	})
	for _, r := range pass.ResultOf[waits.Analyzer].(*waits.Result).Races {
		b.simulated(r)
	}
	b.handlers()
	slices.SortStableFunc(b.races, func(x, y *Race) int {
		return cmp.Or(cmp.Compare(x.Inside.Instr.Pos(), y.Inside.Instr.Pos()), cmp.Compare(x.Begins(), y.Begins()))
	})
	return b.races, nil
}

// starts reports whether anything in the package starts a goroutine.
func (b *builder) starts() bool {
	return slices.ContainsFunc(b.prog.Funcs, func(fn *ssa.Function) bool {
		return slices.ContainsFunc(b.graph.Sites(fn), func(s callgraph.Site) bool { return s.Mode == callgraph.Go })
	})
}

// compareGoroutines compares the goroutines of the function with its own accesses, with
// each other, and with those of the same place.
func (f *frame) compareGoroutines() {
	if len(f.strands) == 0 {
		return
	}
	f.findEntry()
	for i, s := range f.strands {
		for _, t := range s.touches {
			if !s.subtest {
				f.withStarter(s, t)
			}
			f.withItself(s, t)
			for _, other := range f.strands[i+1:] {
				if other.at != s.at {
					f.withOther(s, t, other)
				}
			}
		}
	}
}

// withStarter reports an access of the function itself that races with t of s.
func (f *frame) withStarter(s *strand, t *Touch) {
	given := []signal(nil)
	for _, o := range f.touches {
		f.work.Spend(1)
		if !f.conflict(t, o) || f.entry.guards(t) || f.decided(s, o) || f.decided(s, t) || f.filled(s, o) {
			continue
		}
		if given == nil {
			given = f.closure(t.then)
		}
		// The goroutine may have waited for a signal of the starter after its access.
		if anyMeet(given, o.after) || anyMeet(f.closure(addSignals(slices.Clone(o.then), f.givenAfter(o.at)...)), t.after) {
			continue
		}
		if f.comesTo(s.at, o.at, t.Place.Path, given) {
			f.report(&Race{In: f.fn, Start: s.start, Inside: t, Other: o, Tested: f.byTested(s, t, o)})
			return
		}
	}
}

// withItself reports t if the place starts several goroutines that make it.
func (f *frame) withItself(s *strand, t *Touch) {
	if !f.conflict(t, t) || t.Place.varies() || !f.flow.Leads(s.at, s.at) {
		return
	}
	given := f.closure(t.then)
	if !anyMeet(given, t.after) && f.comesTo(s.at, s.at, t.Place.Path, given) {
		f.report(&Race{In: f.fn, Start: s.start, Inside: t, Other: t, Second: s.start})
	}
}

// withOther reports an access of the goroutines of o that races with t of s.
func (f *frame) withOther(s *strand, t *Touch, o *strand) {
	for _, u := range o.touches {
		f.work.Spend(1)
		if !f.conflict(t, u) || t.Place.varies() || u.Place.varies() {
			continue
		}
		first, second := f.closure(t.then), f.closure(u.then)
		if anyMeet(first, u.after) || anyMeet(second, t.after) {
			continue
		}
		if f.comesTo(s.at, o.at, t.Place.Path, first) || f.comesTo(o.at, s.at, t.Place.Path, second) {
			f.report(&Race{In: f.fn, Start: s.start, Inside: t, Other: u, Second: o.start})
			return
		}
	}
}

// entry is the locks that the callers of a function may hold.
type entry struct {
	locks   []held
	unknown bool // some of them may hold more
}

// findEntry finds the locks that some caller of the function may hold in all of it.
func (f *frame) findEntry() {
	first := true
	f.lockset.Walk(f.fn, func(_ ssa.Instruction, s *lockset.State) {
		if first {
			for _, h := range slices.Concat(s.Held(), s.Turns()) {
				f.entry.locks = append(f.entry.locks, held{h.Path, h.Class, h.Read})
			}
			for _, k := range s.Known() {
				if k.Unclear() {
					f.entry.locks = append(f.entry.locks, held{k.Path, k.Class, false})
				}
			}
			f.entry.unknown, first = s.Unknown && !f.prog.InTestFile(f.fn) && len(f.graph.Sites(f.fn)) > 0, false
		}
	})
}

// guards reports whether the callers may hold a lock that t is made under.
func (e entry) guards(t *Touch) bool {
	return commonLock(e.locks, t.locks) || e.unknown && len(t.locks) > 0
}

// decided reports whether a branch decides about t by a value that the function or a callee writes
// before the goroutines of s are started, as a flag that shows that they run. A variable that is assigned once
// is no such flag.
func (f *frame) decided(s *strand, t *Touch) bool {
	return len(t.tests) > 0 && slices.ContainsFunc(f.touches, func(w *Touch) bool {
		return w.writes() && !isOnlyAssignment(w) && (w.at == s.at || f.flow.Leads(w.at, s.at)) &&
			slices.ContainsFunc(t.tests, func(p Place) bool { return overlap(p, w.Place) && !overlap(p, t.Place) })
	})
}

// filled reports whether o sets a variable only where it is found unset, and it has been set when the goroutines of
// s are started. No store that the function knows of unsets it.
//
//	if q.timer == nil { q.timer = time.NewTimer(d); go q.wait() } // twice
func (f *frame) filled(s *strand, o *Touch) bool {
	if !o.fills {
		return false
	}
	before := false
	for _, w := range f.touches {
		if !w.writes() || !overlap(w.Place, o.Place) {
			continue
		}
		if !w.fills {
			return false
		}
		before = before || w.at == s.at || f.flow.Leads(w.at, s.at)
	}
	return before
}

// isOnlyAssignment reports whether w stores the one value that a local variable or a parameter ever has.
//
//	each := 5; go func() { for j := 0; j < each; j++ { … } }()
func isOnlyAssignment(w *Touch) bool {
	store, ok := w.at.(*ssa.Store)
	if !ok {
		return false
	}
	if _, ok = store.Val.(*ssa.Parameter); ok {
		return true
	}
	cell, ok := store.Addr.(*ssa.Alloc)
	return ok && !slices.ContainsFunc(accesspath.Stored(cell), func(v ssa.Value) bool { return v != store.Val })
}

// conflict reports whether a and b would race if nothing ordered them.
func (f *frame) conflict(a, b *Touch) bool {
	return finding.Conflicts(a.Mode, b.Mode) && overlap(a.Place, b.Place) && !commonLock(a.locks, b.locks)
}

// commonLock reports whether one lock may be held at both accesses, not for
// reading at both.
func commonLock(a, b []held) bool {
	return slices.ContainsFunc(a, func(x held) bool {
		return slices.ContainsFunc(b, func(y held) bool {
			same := x.path.Root != nil && x.path == y.path || x.class != "" && x.class == y.class
			return same && !(x.read && y.read)
		})
	})
}

// report keeps r unless the same two accesses were found already.
func (b *builder) report(r *Race) {
	if !slices.ContainsFunc(b.races, func(o *Race) bool {
		return o.Inside.Instr == r.Inside.Instr && o.Other.Instr == r.Other.Instr ||
			o.Inside.Instr == r.Other.Instr && o.Other.Instr == r.Inside.Instr
	}) {
		b.races = append(b.races, r)
	}
}

// simulated adds a race that a simulation has shown, with the goroutine that was started as Inside.
func (b *builder) simulated(r waits.Race) {
	inside, other := r.Second, r.First
	if inside.Start == nil {
		inside, other = other, inside
	}
	start, ok := inside.Start.(ssa.CallInstruction)
	if !ok {
		return
	}
	race := &Race{In: r.Root, Start: start, Inside: touchOf(inside), Other: touchOf(other)}
	race.Second, _ = other.Start.(ssa.CallInstruction)
	if inside.Instr == other.Instr && inside.Start == other.Start {
		race.Other = race.Inside
	}
	b.report(race)
}

// touchOf returns an access that a simulation has made.
func touchOf(a simulation.Access) *Touch {
	t := &Touch{Place: Place{accesspath.Of(a.Addr), itself, ir.Pointee(a.Addr.Type())}, Mode: finding.Read,
		Instr: a.Instr, Fn: a.Fn, Addr: a.Addr}
	if a.Contents {
		t.Place.aspect, t.Place.typ, t.Addr = contents, a.Addr.Type(), ir.Address(a.Addr)
	}
	if a.Write {
		t.Mode = finding.Write
	}
	return t
}

package validate

import (
	"fmt"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// awaited doubts that a wait under the claim's lock ends, in callees too, where a goroutine now takes that lock before
// it comes to what ends the wait, in callers too: a send, receive or close, the Done of a WaitGroup, the end of a
// function that such a group starts, or the Signal of a condition of another lock. Objects that are reached through
// maps, elements, parameters and closures have no name by which they could be told apart: there the type decides.
//
//	f.mu.Lock()	// new
//	from := f.last
//	f.mu.Unlock()
//	select { case <-q: … }	// a holder of f.mu sends on it
func (j *judge) awaited() {
	before, _ := j.needyByType(j.old)
	after, where := j.needyByType(j.now)
	for _, k := range after.more(before) {
		j.doubt(where[k], finding.Heavy, "channels", "if it is the same one, this deadlocks", "%s %s", short(k.function),
			k.what)
	}
}

// waitOp is one side of a wait: an operation that waits for others, or that ends a wait.
type waitOp struct {
	pkg            *session.Package
	instr          ssa.Instruction
	fn             *ssa.Function
	locks          *lockset.State
	kind           order.Kind
	signals, waits order.Event
	on             ssa.Value
	of             types.Type  // of the elements of the channel, or of the other object
	key            syncops.Key // the zero key if the object has no name
	atEnd          bool        // it is made when fn has returned
}

// fits reports whether one operation may end the wait of the other.
func (x waitOp) fits(waiting waitOp) bool {
	isNamed := x.key != (syncops.Key{}) && waiting.key != (syncops.Key{})
	return isNamed && x.key == waiting.key || !isNamed && isSameType(x.of, waiting.of)
}

// isSameType reports whether two types are the same, or may be in some instance of a generic function.
func isSameType(a, b types.Type) bool {
	_, anyA := types.Unalias(a).(*types.TypeParam)
	_, anyB := types.Unalias(b).(*types.TypeParam)
	return anyA || anyB || types.TypeString(a, nil) == types.TypeString(b, nil)
}

// nameFor names the object for reasons: that of both operations, or by its type where only that is known.
func (x waitOp) nameFor(waiting waitOp) string {
	if x.key == waiting.key && x.key.Name.Field != "" {
		return x.key.Name.Short()
	}
	kind := "a "
	if _, isChan := x.on.Type().Underlying().(*types.Chan); isChan {
		kind = "a channel of "
	}
	return kind + types.TypeString(x.of, nil)
}

// blocking are the operations that wait for others or end a wait.
const blocking = order.Send | order.Receive | order.Close | order.Done | order.Groups | order.Await | order.Wake

// needyByType counts the operations that may end a wait under the claim's lock and come behind it.
func (j *judge) needyByType(s *side) (found tally, where map[tallyKey]place) {
	found, where = tally{}, map[tallyKey]place{}
	under := s.calledUnder()
	// The waits under the lock, by the event that ends them.
	waiting := map[order.Event][]waitOp{}
	ops := slices.DeleteFunc(slices.Clone(s.waitOps()), func(x waitOp) bool { return x.kind&blocking == 0 })
	for _, x := range ops {
		if x.waits != 0 && (s.mayHold(x.locks) || under[x.fn]) && !s.releasesAsCond(x) {
			waiting[x.waits] = append(waiting[x.waits], x)
		}
	}
	if len(waiting) == 0 {
		return found, where
	}
	// The operations that end them, and the functions that take the lock before.
	before := s.takersAbove()
	for _, x := range ops {
		ended := slices.DeleteFunc(slices.Clone(waiting[x.signals]), func(held waitOp) bool { return !x.fits(held) })
		if len(ended) == 0 {
			continue
		}
		for _, taker := range before(x) {
			for _, held := range ended {
				what := fmt.Sprintf("takes %s before it comes to %s, for which %s may wait under the lock",
					short(s.claim.Lock), x.nameFor(held), short(declared(held.pkg, held.fn)))
				k := tallyKey{taker, what}
				found[k]++
				where[k] = place{x.pkg, x.instr}
			}
		}
	}
	return found, where
}

// releasesAsCond reports whether an operation waits for a condition of the claim's lock, which that releases.
func (s *side) releasesAsCond(x waitOp) bool {
	if order.On(x.instr, order.Await) == nil {
		return false
	}
	if class, known := x.pkg.Locks.LockOfCond(x.on); known {
		return class == s.claim.Lock
	}
	// A goroutine that waits holds that lock: another one, or the claim's.
	return !slices.ContainsFunc(x.locks.Held(), func(h lockset.Held) bool { return !s.isLock(h) })
}

// calledUnder returns the functions of the module that are called where the claim's lock may be held, at once or by
// others.
func (s *side) calledUnder() map[*ssa.Function]bool {
	under := map[*ssa.Function]bool{}
	var add func(call ssa.CallInstruction)
	add = func(call ssa.CallInstruction) {
		for _, body := range s.followed(call) {
			if under[body] {
				continue
			}
			under[body] = true
			for instr := range ir.Instructions(body) {
				if next, ok := runsHere(instr); ok {
					add(next)
				}
			}
		}
	}
	for _, p := range s.Packages {
		each(p, func(_ *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			if call, ok := instr.(*ssa.Call); ok && s.mayHold(st) {
				add(call)
			}
		})
	}
	return under
}

// runsHere returns the call that an instruction makes in its own goroutine, at once or when its function returns.
func runsHere(instr ssa.Instruction) (ssa.CallInstruction, bool) {
	call, ok := instr.(ssa.CallInstruction)
	_, isGo := instr.(*ssa.Go)
	return call, ok && !isGo
}

// followed lists the functions of the module that a call surely names: by itself, as a method value, by a function
// value that is followed, or as the only one that fits.
func (s *state) followed(call ssa.CallInstruction) []*ssa.Function {
	if fn, _ := callgraph.Target(call.Common()); fn != nil && s.Calls.Body(fn) != nil {
		return []*ssa.Function{s.Calls.Body(fn)}
	}
	var list []*ssa.Function
	for _, site := range s.Of(call.Parent()).Calls.At(call) {
		if body := s.Calls.Body(site.Callee); body != nil && site.Mode != callgraph.Go {
			list = append(list, body)
		}
	}
	if runs := s.Calls.Runs(call); len(list) == 0 && call.Common().IsInvoke() && len(runs) == 1 {
		list = runs
	}
	return list
}

// takersAbove returns a function that lists the declared functions that may take the claim's lock on the way to an
// operation: its own, and those that call it.
func (s *side) takersAbove() func(waitOp) []string {
	callers, known := s.callersOf(), map[*ssa.Function]map[string]bool{}
	return func(x waitOp) []string {
		if known[x.fn] == nil {
			known[x.fn] = s.takersBefore(x.fn, callers)
		}
		names := maps.Clone(known[x.fn])
		own := x.atEnd && slices.ContainsFunc(s.callsIn(x.fn), func(call ssa.CallInstruction) bool {
			return s.takesLock(x.pkg, call)
		})
		if own || !x.atEnd && s.needs(x.pkg, &syncops.Op{Instr: x.instr, Fn: x.fn, Locks: x.locks}) {
			names[declared(x.pkg, x.fn)] = true
		}
		return slices.Sorted(maps.Keys(names))
	}
}

// takersBefore names the declared functions that may take the claim's lock before they call fn, at once or by others.
func (s *side) takersBefore(fn *ssa.Function, callers map[*ssa.Function][]ssa.CallInstruction) map[string]bool {
	names, seen := map[string]bool{}, map[*ssa.Function]bool{fn: true}
	for work := []*ssa.Function{fn}; len(work) > 0; work = work[1:] {
		for _, call := range callers[work[0]] {
			caller := call.Parent()
			p := s.Of(caller)
			if s.needs(p, &syncops.Op{Instr: call, Fn: caller, Locks: &lockset.State{}}) {
				names[declared(p, caller)] = true
			}
			if !seen[caller] {
				seen[caller] = true
				work = append(work, caller)
			}
		}
	}
	return names
}

// callersOf lists the calls that surely name each function of the module, go statements and tests left out.
func (s *state) callersOf() map[*ssa.Function][]ssa.CallInstruction {
	if s.callers != nil {
		return s.callers
	}
	s.callers = map[*ssa.Function][]ssa.CallInstruction{}
	for _, p := range s.Packages {
		each(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			if call, ok := runsHere(instr); ok {
				for _, fn := range s.followed(call) {
					s.callers[fn] = append(s.callers[fn], call)
				}
			}
		})
	}
	return s.callers
}

// callsIn lists the calls of a function that it makes itself.
func (s *side) callsIn(fn *ssa.Function) (list []ssa.CallInstruction) {
	for instr := range ir.Instructions(fn) {
		if call, ok := runsHere(instr); ok {
			list = append(list, call)
		}
	}
	return list
}

// waitOps lists the operations of the module that wait for others, end a wait, or are on an atomic, tests left out,
// and the ends of functions that a group starts.
func (s *state) waitOps() []waitOp {
	if s.waits != nil {
		return s.waits
	}
	list := []waitOp{}
	for _, p := range s.Packages {
		each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
			for _, o := range order.Of(instr) {
				if o.Kind&(blocking|order.Load|order.Store) == 0 {
					continue
				}
				x := waitOp{pkg: p, instr: instr, fn: fn, locks: st, kind: o.Kind, on: o.On, of: objectType(o.On),
					key: keyOf(o.On)}
				if x.signals, x.waits = o.Kind.Events(); o.Polls {
					x.waits = 0
				}
				list = append(list, x)
			}
			list = append(list, s.endsOf(p, instr)...)
		})
	}
	s.waits = list
	return list
}

// endsOf lists the functions that a call has a group start, of which it counts the end.
//
//	wg.Go(s.run)
func (s *state) endsOf(p *session.Package, instr ssa.Instruction) (list []waitOp) {
	call, ok := instr.(*ssa.Call)
	if !ok {
		return nil
	}
	fn, args := callgraph.Target(call.Common())
	if fn == nil || fn.Name() != "Go" || len(args) != 2 || s.Calls.Body(fn) != nil {
		return nil
	}
	obj, ok := fn.Object().(*types.Func)
	if !ok || !callgraph.StartsCallback(obj) {
		return nil
	}
	for _, started := range s.Calls.Callbacks(args[1]) {
		list = append(list, waitOp{pkg: s.Of(started), instr: instr, fn: started, locks: &lockset.State{},
			kind: order.Done, signals: order.Ended, on: args[0], of: objectType(args[0]), key: keyOf(args[0]), atEnd: true})
	}
	return list
}

// objectType returns the type that objects without a name are compared by.
func objectType(v ssa.Value) types.Type {
	switch t := v.Type().Underlying().(type) {
	case *types.Chan:
		return t.Elem()
	case *types.Pointer:
		return t.Elem()
	}
	return v.Type()
}

// keyOf returns the key of a field or package variable, and of a local that is no channel: the value of that is its
// own object. Else the zero key.
func keyOf(v ssa.Value) syncops.Key {
	k, ok := syncops.KeyOf(v)
	_, isChan := v.Type().Underlying().(*types.Chan)
	if !ok || k.Path.Root != nil && isChan {
		return syncops.Key{}
	}
	return k
}

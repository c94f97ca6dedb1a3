package validate

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/ir"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/ownership"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// releasedFirst demands that the touched functions do what they did, all of it under the claim's lock that was, except
// for fewer waits; and that the lock did not keep out what must not meet such a wait.
func (j *judge) releasedFirst() {
	oldIn, oldOut := j.deeds(j.old)
	nowIn, nowOut := j.deeds(j.now)
	fewer := map[string]bool{} // functions
	for _, k := range sortedKeys(merged(oldIn, oldOut, nowIn, nowOut)) {
		before, after := oldIn[k]+oldOut[k], nowIn[k]+nowOut[k]
		isRead, isWait := strings.HasPrefix(k.what, aRead), strings.HasPrefix(k.what, aWait)
		switch {
		case after != before && !isRead:
			j.add("released first", "%s does %s %d times, and did it %d times", short(k.function), k.what, after, before)
		case isWait && nowIn[k] < oldIn[k]:
			fewer[k.function] = true
		case nowOut[k] > oldOut[k] && strings.HasPrefix(k.what, aCall):
			j.doubt(place{}, finding.Heavy, "released first", "it may need what the lock guards", "%s makes %s without %s, "+
				"and made it under that", short(k.function), k.what, short(j.now.claim.Lock))
			fewer[k.function] = true
		case nowOut[k] > oldOut[k] && !isRead: // of reads, narrowed knows more
			j.add("released first", "%s does %s without %s, and did it under that", short(k.function), k.what,
				short(j.now.claim.Lock))
		}
	}
	for _, k := range sortedKeys(nowIn) {
		if fewer[k.function] && strings.HasPrefix(k.what, aWait) {
			j.doubt(place{}, finding.Heavy, "released first", "another goroutine may come between the two",
				"%s waits twice, which %s made one step", short(k.function), short(j.now.claim.Lock))
		}
	}
	j.defersNoMore()
	if len(fewer) == 0 {
		j.add("released first", "as much waits under %s as before", short(j.now.claim.Lock))
	}
	for _, op := range j.movedOut() {
		switch op.Mode {
		case finding.Wait:
			j.noAddBeside(op)
		case finding.Send:
			j.sendMoved(op)
		case finding.Receive:
			j.receiveMoved(op)
		}
	}
}

// How deeds are named.
const (
	aRead = "a read of "
	aWait = "a wait, "
	aCall = "a call of " // of a function of another module
)

// deeds counts the accesses, calls and waits of touched functions, those of locks apart, under the claim's lock and
// without it.
func (j *judge) deeds(s *side) (in, out tally) {
	in, out = tally{}, tally{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
		what := s.deedOf(p, instr)
		if what == "" {
			return
		}
		k := tallyKey{declared(p, fn), what}
		if s.mayHold(st) {
			in[k]++
		} else {
			out[k]++
		}
	})
	return in, out
}

// deedOf names what an instruction does; "" where that has no effect.
func (s *side) deedOf(p *session.Package, instr ssa.Instruction) string {
	if what := facts.Waiting(instr); what != "" {
		return aWait + what
	}
	if call, ok := instr.(*ssa.Call); ok {
		switch name := callee(call); {
		case p.Locks.Receiver(call) != nil || isCopy(call) || name == "print" || name == "println":
			return ""
		case name == "(*sync.WaitGroup).Wait" || name == "a function value" || call.Call.IsInvoke():
			return aWait + "the call of " + name
		case s.isForeign(call):
			return aCall + name
		default:
			return "the call of " + name
		}
	}
	addr := accessed(instr)
	if alloc, isLocal := addr.(*ssa.Alloc); addr == nil || isLocal && !alloc.Heap || isArgument(addr) {
		return ""
	}
	what := "memory"
	if name, ok := accesspath.NameOf(addr); ok {
		what = name.Short()
	}
	if _, isRead := instr.(*ssa.UnOp); isRead {
		return aRead + what
	}
	return "a write of " + what
}

// isForeign reports whether a call is by name, and of a function of another module.
func (s *side) isForeign(call *ssa.Call) bool {
	fn := ir.Origin(call.Call.StaticCallee())
	return fn != nil && fn.Pkg != nil && s.Package(fn.Pkg.Pkg.Path()) == nil
}

// isArgument reports whether an address is that of one of the arguments of a variadic call, in the slice made for them.
func isArgument(addr ssa.Value) bool {
	element, ok := addr.(*ssa.IndexAddr)
	if !ok {
		return false
	}
	list, ok := element.X.(*ssa.Alloc)
	return ok && list.Comment == "varargs"
}

// isCopy reports whether a call only measures or copies a slice or a map.
func isCopy(call *ssa.Call) bool {
	if b, ok := call.Call.Value.(*ssa.Builtin); ok {
		first, isConst := call.Call.Args[0].(*ssa.Const)
		return b.Name() == "len" || b.Name() == "cap" || b.Name() == "append" && isConst && first.IsNil()
	}
	f := call.Call.StaticCallee()
	if f != nil && f.Origin() != nil {
		f = f.Origin()
	}
	return f != nil && (f.String() == "slices.Clone" || f.String() == "maps.Clone")
}

// merged returns all keys of some tallies.
func merged(all ...tally) tally {
	sum := tally{}
	for _, t := range all {
		for k, n := range t {
			sum[k] += n
		}
	}
	return sum
}

// movedOut lists the waits of touched functions that were under the claim's lock, and are not now.
func (j *judge) movedOut() (list []*syncops.Op) {
	count := func(s *side, held bool) map[string][]*syncops.Op {
		found := map[string][]*syncops.Op{}
		for _, p := range s.Packages {
			for _, op := range p.Ops.All {
				if j.touched[declared(p, op.Fn)] && s.mayHold(op.Locks) == held {
					key := fmt.Sprint(op.Mode, " ", op.Path.Fields, " ", declared(p, op.Fn))
					found[key] = append(found[key], op)
				}
			}
		}
		return found
	}
	before, after := count(j.old, false), count(j.now, false)
	for key, ops := range after {
		if len(ops) > len(before[key]) {
			list = append(list, ops...)
		}
	}
	slices.SortFunc(list, func(a, b *syncops.Op) int { return int(a.Pos - b.Pos) })
	return list
}

// noAddBeside demands that no goroutine adds to a WaitGroup during a wait which the lock kept it out of: an Add from
// zero must not meet a Wait. It may stand under that lock behind a test of what the wait's function has set there
// before.
//
//	if p.closed { return }; p.wg.Add(1)		p.closed = true; p.mu.Unlock(); p.wg.Wait()
func (j *judge) noAddBeside(wait *syncops.Op) {
	s := j.now
	p := s.Of(wait.Fn)
	set := s.writesUnder(p, wait.Fn)
	for _, add := range p.Ops.ByKey[wait.Key] {
		if add.Mode != finding.Add || !s.mayHold(add.Locks) || isOfNew(p, add.Instr) || s.isKeptOut(p, add, set) {
			continue
		}
		j.doubt(place{p, add.Instr}, finding.Heavy, "released first",
			"if the counter is zero then, the two must not happen at once",
			"%s may add to %s at %s while %s waits, which %s kept out", short(declared(p, add.Fn)), wait.Path,
			at(p, add.Instr), short(declared(p, wait.Fn)), short(s.claim.Lock))
	}
}

// isOfNew reports whether an operation is on an object that no other goroutine can reach.
func isOfNew(p *session.Package, instr ssa.Instruction) bool {
	call, ok := instr.(ssa.CallInstruction)
	if !ok || len(call.Common().Args) == 0 {
		return false
	}
	base := baseOf(call.Common().Args[0])
	return base != nil && p.Owners.Proven().Of(base, instr) == ownership.Fresh
}

// writesUnder returns the names of what fn writes under the claim's lock.
func (s *side) writesUnder(p *session.Package, fn *ssa.Function) map[string]bool {
	set := map[string]bool{}
	p.Locks.Walk(fn, func(instr ssa.Instruction, st *lockset.State) {
		if store, ok := instr.(*ssa.Store); ok && s.mayHold(st) {
			if name, ok := accesspath.NameOf(store.Addr); ok {
				set[name.String()] = true
			}
		}
	})
	return set
}

// isKeptOut reports whether a test under the claim's lock of one of the named variables decides about an operation.
func (s *side) isKeptOut(p *session.Package, op *syncops.Op, names map[string]bool) (found bool) {
	p.Locks.Walk(op.Fn, func(instr ssa.Instruction, st *lockset.State) {
		load, ok := instr.(*ssa.UnOp)
		if !ok || found || !s.mayHold(st) {
			return
		}
		if name, ok := accesspath.NameOf(load.X); ok && names[name.String()] {
			found = facts.Decided(load).Controls(op.Instr.Block())
		}
	})
	return found
}

// sendMoved judges a send that the lock does not surround any more: a close under the lock may come first now, and so
// may another send.
func (j *judge) sendMoved(op *syncops.Op) {
	s := j.now
	p := s.Of(op.Fn)
	send, ok := op.Instr.(*ssa.Send)
	if !ok {
		return
	}
	if closedChannels(s.Packages).has(send.Chan) {
		j.add("released first", "%s may be closed before the send at %s, which %s kept out", op.Path, at(p, op.Instr),
			short(s.claim.Lock))
	}
	if _, isConst := send.X.(*ssa.Const); !isConst {
		j.doubt(place{p, op.Instr}, finding.Light, "released first", "if their order counts, it may be another one",
			"what is sent at %s was sent in the order of the lock", at(p, op.Instr))
	}
}

// receiveMoved judges a receive that the lock does not surround any more: where something is sent on the channel,
// another goroutine may take it now. A close is there for all.
func (j *judge) receiveMoved(op *syncops.Op) {
	s := j.now
	p := s.Of(op.Fn)
	isSend := func(other *syncops.Op) bool { return other.Mode == finding.Send }
	if slices.ContainsFunc(p.Ops.ByKey[op.Key], isSend) || slices.ContainsFunc(s.aliases(p, op), isSend) {
		j.doubt(place{p, op.Instr}, finding.Heavy, "released first", "if it is for this one, that waits for another one",
			"another goroutine may take what is received at %s, which %s kept out", at(p, op.Instr), short(s.claim.Lock))
	}
}

// defersNoMore demands that a function whose deferred release is gone defers nothing else: that ran under the lock.
func (j *judge) defersNoMore() {
	count := func(s *side) (releases, others tally) {
		releases, others = tally{}, tally{}
		j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			d, ok := instr.(*ssa.Defer)
			switch {
			case !ok:
			case p.Locks.Receiver(d) != nil:
				releases[tallyKey{declared(p, fn), "release"}]++
			default:
				others[tallyKey{declared(p, fn), "release"}]++
			}
		})
		return releases, others
	}
	before, others := count(j.old)
	after, _ := count(j.now)
	for _, k := range before.more(after) {
		if others[k] > 0 {
			j.add("released first", "what %s defers ran before %s was released", short(k.function), short(j.now.claim.Lock))
		}
	}
}

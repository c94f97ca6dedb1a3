package validate

import (
	"fmt"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/analyzers/pass/syncops"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// channelsByType doubts that a wait under the claim's lock ends, where a goroutine now takes that lock before it comes
// to an operation on a channel of the same type of elements, a case of a select included: channels that are reached
// through maps, elements, parameters and closures have no name by which they could be told apart.
//
//	f.mu.Lock()	// new
//	from := f.last
//	f.mu.Unlock()
//	select { case <-q: … }	// a holder of f.mu sends on it
func (j *judge) channelsByType() {
	before, _ := j.needyByType(j.old)
	after, where := j.needyByType(j.now)
	for _, k := range after.more(before) {
		j.doubt(where[k], finding.Heavy, "channels", "if that is the same channel, this deadlocks", "%s %s",
			short(k.function), k.what)
	}
}

// chanOp is an operation on a channel, a case of a select included.
type chanOp struct {
	pkg   *session.Package
	instr ssa.Instruction
	fn    *ssa.Function
	locks *lockset.State
	sends bool
	elem  string
	key   syncops.Key // the zero key if the channel is not a field or a package variable
}

// needyByType counts the operations that may end a wait under the claim's lock and come behind it.
func (j *judge) needyByType(s *side) (found tally, where map[tallyKey]place) {
	found, where = tally{}, map[tallyKey]place{}
	for _, p := range s.Packages {
		ops := chanOps(p)
		for _, held := range ops {
			if !s.mayHold(held.locks) || isPolling(held.instr) {
				continue
			}
			for _, other := range ops {
				isNamed := held.key != (syncops.Key{}) && other.key != (syncops.Key{})
				if other.sends == held.sends || other.elem != held.elem || isNamed ||
					!s.needs(p, &syncops.Op{Instr: other.instr, Fn: other.fn, Locks: other.locks}) {
					continue
				}
				what := fmt.Sprintf("takes %s before it comes to a channel of %s, for which %s may wait under the lock",
					short(s.claim.Lock), other.elem, short(declared(p, held.fn)))
				k := tallyKey{declared(p, other.fn), what}
				found[k]++
				where[k] = place{p, other.instr}
			}
		}
	}
	return found, where
}

// isPolling reports whether an instruction goes on if the other side is not there.
func isPolling(instr ssa.Instruction) bool {
	sel, ok := instr.(*ssa.Select)
	return ok && !sel.Blocking
}

// chanOps lists the sends and receives of a package, tests left out.
func chanOps(p *session.Package) (list []chanOp) {
	// The fields and package variables, which tell channels apart.
	keys := map[ssa.Instruction]syncops.Key{}
	for _, op := range p.Ops.All {
		if op.Key.Path.Root == nil {
			keys[op.Instr] = op.Key
		}
	}
	each(p, func(fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
		add := func(ch ssa.Value, sends bool) {
			t, ok := ch.Type().Underlying().(*types.Chan)
			if !ok {
				return
			}
			op := chanOp{pkg: p, instr: instr, fn: fn, locks: st, sends: sends, elem: types.TypeString(t.Elem(), nil)}
			if _, isSelect := instr.(*ssa.Select); !isSelect {
				op.key = keys[instr]
			} else if k, ok := syncops.KeyOf(ch); ok && k.Path.Root == nil {
				op.key = k
			}
			list = append(list, op)
		}
		switch x := instr.(type) {
		case *ssa.Send:
			add(x.Chan, true)
		case *ssa.UnOp:
			if _, isChan := x.X.Type().Underlying().(*types.Chan); isChan {
				add(x.X, false)
			}
		case *ssa.Select:
			for _, state := range x.States {
				add(state.Chan, state.Dir == types.SendOnly)
			}
		}
	})
	return list
}

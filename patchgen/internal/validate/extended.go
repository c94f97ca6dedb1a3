package validate

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// extended demands that the claim's lock is held for more of what the touched functions do: more accesses
// and calls lie under it, each that did still does, and there are as many of each as before.
func (j *judge) extended() {
	oldIn, oldAll := j.done(j.old)
	nowIn, nowAll := j.done(j.now)
	for _, k := range append(oldAll.more(nowAll), nowAll.more(oldAll)...) {
		j.add("extended", "%s does %s %d times, and did it %d times", short(k.function), k.what, nowAll[k], oldAll[k])
	}
	for _, k := range oldIn.more(nowIn) {
		j.add("extended", "%s does less under %s: %s", short(k.function), short(j.now.claim.Lock), k.what)
	}
	if total(nowIn) <= total(oldIn) {
		j.add("extended", "%s covers no more than before", short(j.now.claim.Lock))
	}
}

// done counts the accesses and calls of touched functions, those of locks apart: all, and those under the claim's lock.
func (j *judge) done(s *side) (in, all tally) {
	in, all = tally{}, tally{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
		// A call by what it calls, an access by its variable.
		what := ""
		switch instr := instr.(type) {
		case *ssa.Call:
			if p.Locks.Receiver(instr) != nil {
				return
			}
			what = callee(instr)
		default:
			addr := accessed(instr)
			if addr == nil {
				return
			}
			if alloc, isLocal := addr.(*ssa.Alloc); isLocal && !alloc.Heap {
				return
			}
			what = "an access of memory"
			if name, ok := accesspath.NameOf(addr); ok {
				what = "an access of " + name.Short()
			}
		}
		k := tallyKey{declared(p, fn), what}
		all[k]++
		if s.mayHold(st) {
			in[k]++
		}
	})
	return in, all
}

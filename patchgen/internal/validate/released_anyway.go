package validate

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/pass/lockset"
	"github.com/interlock-go/interlock/patchgen/internal/session"
)

// releasedAnyway demands that the touched functions release the claim's lock however they end: nothing that may panic
// runs under it any more without a deferred release, and something did.
func (j *judge) releasedAnyway() {
	before, after := j.panicsUnder(j.old), j.panicsUnder(j.now)
	if total(before) == 0 {
		j.add("released anyway", "nothing could panic under %s before", short(j.now.claim.Lock))
	}
	for _, k := range sortedKeys(after) {
		j.add("released anyway", "%s may panic and leave %s held", short(k.function), k.what)
	}
}

// panicsUnder counts the instructions of touched functions that may panic under the claim's lock, where no deferred
// call releases it.
func (j *judge) panicsUnder(s *side) tally {
	found := tally{}
	j.eachTouched(s, func(p *session.Package, fn *ssa.Function, instr ssa.Instruction, st *lockset.State) {
		if !mayPanic(p, instr) {
			return
		}
		for _, h := range st.Held() {
			if h.Since != nil && h.Class == s.claim.Lock && !unlocksAtEnd(p, fn, h.Class) {
				found[tallyKey{declared(p, fn), lockName(h.Path, h.Class)}]++
			}
		}
	})
	return found
}

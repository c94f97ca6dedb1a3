package validate

import (
	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesspath"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// tried doubts a claim's lock that a function takes by TryLock: where it is held, that goes another way, which must not
// come to the new Lock.
//
//	if c.mu.TryLock() { … }
//	return c.stale()	// takes c.mu now, and waits
func (j *judge) tried() {
	if j.now.claim.isLocalLock() || j.now.claim.Lock == "" {
		return
	}
	for _, p := range j.now.Packages {
		each(p, func(_ *ssa.Function, instr ssa.Instruction, _ *lockset.State) {
			call, ok := instr.(*ssa.Call)
			if !ok {
				return
			}
			lock, fn := p.Locks.Receiver(call), call.Call.StaticCallee()
			if lock == nil || fn == nil || fn.Name() != "TryLock" && fn.Name() != "TryRLock" {
				return
			}
			if name, ok := accesspath.NameOf(lock); ok && name.String() == j.now.claim.Lock {
				j.doubt(place{p, call}, finding.Heavy, "waits",
					"if that comes to the new Lock, what did not wait before waits now",
					"where %s is held, %s goes on without it", short(j.now.claim.Lock), at(p, call))
			}
		})
	}
}

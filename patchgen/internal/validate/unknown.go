package validate

import (
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/callgraph"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
)

// waitsOf judges a hazard that is new under a lock. A wait that resolved calls lead to is a witness; code that is not
// known, and libraries that may do I/O, are doubts.
func (j *judge) waitsOf(x step, function, why string) {
	here := place{x.pkg, x.step}
	switch {
	case j.now.surelyWaits(x.step, map[*ssa.Function]bool{}):
		j.add("waits", "%s %s under a lock (%s)", function, why, at(x.pkg, x.step))
	case strings.HasSuffix(why, facts.MayDoIO):
		j.doubt(here, finding.Light, "waits", takesLong, "%s %s under a lock (%s)", function, why, at(x.pkg, x.step))
	default:
		j.doubt(here, finding.Heavy, "waits", deadlocks, "%s %s under a lock (%s)", function, why, at(x.pkg, x.step))
	}
}

// surelyWaits reports whether an instruction waits for other goroutines or for time, or calls a function that does, by
// calls that are resolved.
func (s *state) surelyWaits(instr ssa.Instruction, seen map[*ssa.Function]bool) bool {
	call, isCall := instr.(ssa.CallInstruction)
	if _, isGo := instr.(*ssa.Go); !isCall || isGo {
		return facts.Waiting(instr) != ""
	}
	fn, _ := callgraph.Target(call.Common())
	if fn == nil || seen[fn] {
		return false
	}
	seen[fn] = true
	body := s.Calls.Body(fn)
	if body == nil {
		return facts.SurelyWaits(call)
	}
	for _, block := range body.Blocks {
		for _, inner := range block.Instrs {
			if s.surelyWaits(inner, seen) {
				return true
			}
		}
	}
	return false
}

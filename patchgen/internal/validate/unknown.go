package validate

import (
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
)

// waitsOf judges a hazard that is new under a lock. A wait that resolved calls lead to is a witness; code that is not
// known, and libraries that may do I/O, are doubts; that a loop is held whole is said with these.
func (j *judge) waitsOf(x step, function, why string) {
	here := place{x.pkg, x.step}
	what, long, blocks := why+" under a lock", takesLong, deadlocks
	if x.eachRound {
		what, long = what+" that is held around the loop", "nobody else gets the lock before the loop ends"
		blocks = long + "; " + deadlocks
	}
	switch {
	case j.now.SurelyAwaits(x.step):
		j.add("waits", "%s %s (%s)", function, what, at(x.pkg, x.step))
	case strings.HasSuffix(why, facts.MayDoIO):
		j.doubt(here, finding.Light, "waits", long, "%s %s (%s)", function, what, at(x.pkg, x.step))
	default:
		j.doubt(here, finding.Heavy, "waits", blocks, "%s %s (%s)", function, what, at(x.pkg, x.step))
	}
}

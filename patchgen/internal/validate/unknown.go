package validate

import (
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
)

// waitsOf judges a hazard that is new under a lock. A wait that resolved calls lead to is a witness; code that is not
// known, and libraries that may do I/O, are doubts.
func (j *judge) waitsOf(x step, function, why string) {
	here := place{x.pkg, x.step}
	switch {
	case j.now.SurelyAwaits(x.step):
		j.add("waits", "%s %s under a lock (%s)", function, why, at(x.pkg, x.step))
	case strings.HasSuffix(why, facts.MayDoIO):
		j.doubt(here, finding.Light, "waits", takesLong, "%s %s under a lock (%s)", function, why, at(x.pkg, x.step))
	default:
		j.doubt(here, finding.Heavy, "waits", deadlocks, "%s %s under a lock (%s)", function, why, at(x.pkg, x.step))
	}
}

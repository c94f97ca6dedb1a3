package atomicsets

import "github.com/interlock-go/interlock/atomicsets/plan"

// Allowed returns the kinds of remote access that may come between two
// consecutive local accesses of one variable: the complement of AVIO's
// unserialisable interleavings R-w-R, W-w-R, W-r-W and R-w-W.
func Allowed(entry, end plan.Mode) []plan.Mode {
	if writes(entry) && writes(end) {
		return []plan.Mode{plan.Write} // a remote read would see the value in between
	}
	return []plan.Mode{plan.Read} // a remote write would be lost, or seen halfway
}

func writes(m plan.Mode) bool { return m == plan.Write || m == plan.AtomicWrite }

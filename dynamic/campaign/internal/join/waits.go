package join

import (
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// combineLeaks makes one finding of goroutines that were left blocked at all acquisitions of a suspected cycle of
// locks, in one run: each of them keeps the next one waiting. A deadlock that the monitor itself has seen does not need
// this, but locks are not watched all the time, see package rt/locks.
func combineLeaks(static, found []*finding.Finding) []*finding.Finding {
	for _, s := range static {
		parts := waitersAt(s.Cycle, found)
		if len(parts) < 2 {
			continue
		}
		// The first has the others' goroutines, which a run has shown together.
		evidence := *parts[0].Evidence
		parts[0].Evidence = &evidence
		for _, c := range parts[1:] {
			parts[0].Accesses = append(parts[0].Accesses, c.Accesses...)
			evidence.Hits = min(evidence.Hits, c.Evidence.Hits)
			evidence.Count = min(evidence.Count, c.Evidence.Count)
		}
		found = slices.DeleteFunc(found, func(c *finding.Finding) bool { return slices.Contains(parts[1:], c) })
	}
	return found
}

// waitersAt returns a finding of one goroutine that is blocked at each acquisition of a cycle, all of them
// first seen in one run; none if one is missing.
func waitersAt(cycle []finding.Edge, found []*finding.Finding) (parts []*finding.Finding) {
	for _, e := range cycle {
		i := slices.IndexFunc(found, func(c *finding.Finding) bool {
			return c.Evidence != nil && c.Evidence.Blocked != "" && len(c.Accesses) == 1 && len(c.Cycle) == 0 &&
				accessAt(c, finding.Access{Position: e.Position}) >= 0 && !slices.Contains(parts, c) &&
				(len(parts) == 0 || c.Evidence.Run == parts[0].Evidence.Run)
		})
		if i < 0 {
			return nil
		}
		parts = append(parts, found[i])
	}
	return parts
}

// provesLeak reports whether the blocked goroutines of c prove the claim of the suspected finding s, and not only that
// they wait at its place: the evidence names the holder of the lock.
func provesLeak(s, c *finding.Finding) bool {
	at := func(p finding.Position) bool { return accessAt(c, finding.Access{Position: p}) >= 0 }
	holds := func(claimed func(finding.Holder) bool) bool { return slices.ContainsFunc(c.Evidence.Holders, claimed) }
	acquiredAt := func(h finding.Holder) bool { return accessAt(s, finding.Access{Position: h.Position}) >= 0 }
	switch s.Code {
	case finding.LockCycle:
		if len(s.Cycle) == 0 { // found by simulation: the accesses are those that hang
			return !slices.ContainsFunc(s.Accesses, func(a finding.Access) bool { return !at(a.Position) })
		}
		return passesAll(c, s.Cycle) || c.Code == s.Code && locksOf(c) == locksOf(s)
	case finding.EndlessWait: // the others may wait for the first one only
		return len(s.Accesses) > 0 && (passes(c, s.Accesses[0]) || waitsAlike(s, c))
	case finding.DoubleLock, finding.ReadLockAgain: // one goroutine waits for a lock that it has
		return s.Code == c.Code && len(s.Accesses) > 0 && passes(c, s.Accesses[0]) && holds(acquiredAt)
	case finding.LostUnlock: // a function that has returned has acquired the lock
		return holds(func(h finding.Holder) bool { return h.Returned && acquiredAt(h) })
	case finding.WaitUnderLock: // a goroutine that waits has a lock for which another one waits
		return slices.ContainsFunc(c.Accesses, func(a finding.Access) bool {
			return a.Goroutine != nil && accessAt(s, a) >= 0 &&
				holds(func(h finding.Holder) bool { return h.ID == a.Goroutine.ID })
		})
	}
	return false
}

func onLine(p *finding.Position, a finding.Access) bool {
	return p != nil && p.File == a.File && p.Line == a.Line
}

// passesAll reports whether goroutines of c wait at each acquisition of a cycle.
func passesAll(c *finding.Finding, cycle []finding.Edge) bool {
	return !slices.ContainsFunc(cycle, func(e finding.Edge) bool {
		return accessAt(c, finding.Access{Position: e.Position}) < 0
	})
}

// waitsAlike reports whether a goroutine of c waits in the way and for the variable that s names: a missing send, for
// example, is missing for each receiver of the channel.
func waitsAlike(s, c *finding.Finding) bool {
	return c.Code == finding.BlockedForEver && c.Variable.Type != "" && sameVariable(s, c) &&
		s.Accesses[0].Mode == c.Accesses[0].Mode
}

// passes reports whether a goroutine of c is at the place of an access, or in a call that is made there.
func passes(c *finding.Finding, a finding.Access) bool {
	return slices.ContainsFunc(c.Accesses, func(b finding.Access) bool {
		return sameLine(a, b) || b.Goroutine != nil && slices.ContainsFunc(b.Goroutine.Stack, func(f finding.Frame) bool {
			return f.File == a.File && f.Line == a.Line
		})
	})
}

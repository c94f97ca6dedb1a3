package join

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// takeOver copies the facts of s to c. The accesses take the words of s, so that the
// id is that of s and a baseline of suspected findings goes on to hold.
func takeOver(c, s *finding.Finding, known *Known) {
	if c.Evidence.Pattern != "" {
		takeOverSection(c, s)
		return
	}
	if c.Evidence.Blocked != "" {
		takeOverLeak(c, s, known)
		return
	}
	if c.Evidence.Error != "" {
		takeOverError(c, s)
		return
	}
	if isUnnamed(c) { // another variable of the line may be the one that raced
		c.Notes = append(c.Notes, fmt.Sprintf("suspected there: %s: %s", s.Title, s.Message))
		return
	}
	c.Code = sharper(c.Code, s.Code)
	c.Section, c.Cycle, c.Fix, c.Ordinal = s.Section, s.Cycle, s.Fix, s.Ordinal
	// The first access of s comes first in c as well.
	if len(c.Accesses) == 2 && len(s.Accesses) > 0 &&
		!sameLine(c.Accesses[0], s.Accesses[0]) && sameLine(c.Accesses[1], s.Accesses[0]) {
		slices.Reverse(c.Accesses)
	}
	if len(s.Accesses) == 2 && !samePlaces(s, c) && sameBug(s, c) {
		// The first two accesses of s make the id; the second access of the run follows.
		c.Accesses = []finding.Access{c.Accesses[0], s.Accesses[1], c.Accesses[1]}
	}
	for i := range c.Accesses {
		if len(s.Accesses) == 0 {
			break
		}
		a, from := &c.Accesses[i], &s.Accesses[min(i, len(s.Accesses)-1)]
		if !sameLine(*a, *from) {
			continue
		}
		a.Function, a.Expr, a.Locks = from.Function, from.Expr, from.Locks
		if a.Role == "" {
			a.Role = from.Role
		}
	}
	takeOverWords(c, s)
}

// isUnnamed reports whether a run has shown lines alone: the source that was built is not the user's, as with cgo.
func isUnnamed(c *finding.Finding) bool {
	return c.Variable.Kind == "" && len(c.Accesses) > 0 && c.Accesses[0].Column == 0
}

// takeOverLeak is takeOver for goroutines that wait for ever as s claims: the bug is that of s. The title and the
// words are those of the run. Those of s are a note, if all that hangs there hangs in the run too: a function may hang
// in several ways. Beside the goroutines of c, others may have waited in the run.
func takeOverLeak(c, s *finding.Finding, known *Known) {
	seen := c.Accesses
	shown := make([]bool, len(s.Accesses))
	for i, a := range s.Accesses {
		shown[i] = shows(c, a) || known.Waited[Line{File: a.File, Line: a.Line}]
	}
	c.Code, c.Variable, c.Fix, c.Ordinal = s.Code, s.Variable, s.Fix, s.Ordinal
	if len(s.Cycle) == 0 || passesAll(c, s.Cycle) { // otherwise other functions have met
		c.Cycle = s.Cycle
	}
	c.Accesses = slices.Clone(s.Accesses)
	for _, a := range seen {
		if i := accessAt(c, a); i >= 0 && c.Accesses[i].Goroutine == nil {
			c.Accesses[i].Goroutine = a.Goroutine
		} else if len(s.Accesses) != 1 || len(s.Cycle) > 0 { // the id is that of the first two
			c.Accesses = append(c.Accesses, a)
		}
	}
	if !slices.Contains(shown, false) {
		takeOverWords(c, s)
		return
	}
	for i := range s.Accesses {
		if a := &c.Accesses[i]; a.Goroutine == nil && !shown[i] {
			a.Role = "as the source has it; the run shows another way to wait"
		}
	}
	c.ID = c.ComputeID()
}

// shows reports whether a run has shown the place of an access of the suspected finding: a goroutine of c is there, or
// has acquired the lock there that another one waits for. No run can show a place where a function returns without an
// unlock, so that is not required.
func shows(c *finding.Finding, a finding.Access) bool {
	return a.Mode == finding.Leave || accessAt(c, a) >= 0 || passes(c, a) ||
		slices.ContainsFunc(c.Evidence.Holders, func(h finding.Holder) bool { return onLine(&h.Position, a) }) ||
		slices.ContainsFunc(c.Cycle, func(e finding.Edge) bool { return onLine(e.Since, a) })
}

// takeOverError is takeOver for an error that ended a run: it was seen at one of the
// accesses of s.
func takeOverError(c, s *finding.Finding) {
	seen := c.Accesses[0]
	c.Variable, c.Accesses, c.Cycle, c.Fix, c.Ordinal = s.Variable, slices.Clone(s.Accesses), s.Cycle, s.Fix, s.Ordinal
	c.Accesses[accessAt(s, seen)].Goroutine = seen.Goroutine
	takeOverWords(c, s)
}

func takeOverWords(c, s *finding.Finding) {
	if s.Message != "" {
		c.Notes = append(c.Notes, "statically: "+s.Message)
	}
	c.Notes = append(c.Notes, s.Notes...)
	c.ID = c.ComputeID()
}

// takeOverSection is takeOver for a section: c has its end, its entry and the access
// in between. The first two accesses of s stay first, for the id. Details of the run
// go to the same access, or to a further one.
func takeOverSection(c, s *finding.Finding) {
	end, entry, remote := c.Accesses[0], c.Accesses[1], c.Accesses[2]
	for _, a := range s.Accesses {
		if sameLine(a, remote) {
			remote.Locks = a.Locks
		}
	}
	c.Code, c.Fix, c.Ordinal, c.Variable = s.Code, s.Fix, s.Ordinal, s.Variable
	panicked := c.Accesses[3:]
	c.Accesses = slices.Clone(s.Accesses[:min(2, len(s.Accesses))])
	at := sidesOf(c.Accesses, sectionSide{entry, c.Section.EntryCall}, sectionSide{end, c.Section.EndCall})
	for i, seen := range []finding.Access{entry, end} {
		if at[i] < 0 {
			c.Accesses = append(c.Accesses, seen)
			continue
		}
		a := &c.Accesses[at[i]]
		a.Goroutine, a.Step, a.Role = seen.Goroutine, seen.Step, cmp.Or(seen.Role, a.Role)
	}
	c.Accesses = append(append(c.Accesses, remote), panicked...)
	if s.Section != nil {
		c.Section = s.Section
	}
	takeOverWords(c, s)
}

// sectionSide is the access that begins or ends a section, and the call that stands for it in the section's function.
type sectionSide struct {
	seen finding.Access
	call *finding.Position
}

// sidesOf returns, for each side of a section, which of the accesses it is, or -1: the one at its place, or else one on
// its line. Both may stand on one line:
//
//	b.set(b.get() + 1)
func sidesOf(accesses []finding.Access, sides ...sectionSide) (at []int) {
	for range sides {
		at = append(at, -1)
	}
	choose := func(matches func(a *finding.Access, p *finding.Position) bool) {
		for i, side := range sides {
			for k := range accesses {
				a := &accesses[k]
				if at[i] < 0 && !slices.Contains(at, k) &&
					(matches(a, &side.seen.Position) || side.call != nil && matches(a, side.call)) {
					at[i] = k
				}
			}
		}
	}
	choose(func(a *finding.Access, p *finding.Position) bool {
		return a.File == p.File && a.Line == p.Line && a.Column == p.Column
	})
	choose(func(a *finding.Access, p *finding.Position) bool { return a.File == p.File && a.Line == p.Line })
	return at
}

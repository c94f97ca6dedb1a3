// Package join makes one list of the findings that the static side suspects and those that
// runs have shown.
package join

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Known has further results of runs, beside their findings.
type Known struct {
	Runs int // made in full
	// RunsOf are those of the tests of a package, by its path, where packages had more and fewer.
	RunsOf map[string]int
	Lines  map[Line]bool // where sites were reached; nil if nobody knows
	// Waited are the lines at which goroutines waited for ever.
	Waited map[Line]bool
	// LeftOut are the tests that some of these runs have left out, as they hang.
	LeftOut []string
	// Claims holds, by the id of a finding on a split section, the id of the suspected
	// finding that the section came from.
	Claims map[string]string
	// Sides holds, by the id of a race, the first two accesses in the source of its functions that conflict.
	Sides map[string][]finding.Side
	// Whole counts, by the id of the suspected finding that a section came from, how often
	// its owner has come to an end.
	Whole map[string]int
	// Met are pairs of lines at which two goroutines came to one address, one after the other.
	Met []Met
	// Beside are suspected findings that are of interest only where a run has shown them.
	Beside []*finding.Finding
}

// Met is a pair of lines at which two goroutines accessed one address, one of them writing. It may have held two
// objects, one after the other.
type Met struct {
	Lines   [2]Line
	LeastNS int64 // from one access to the other, the least of all
}

// Line is a line of source.
type Line struct {
	File string
	Line int
}

// MarshalText returns file:line.
func (l Line) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%s:%d", l.File, l.Line), nil }

// UnmarshalText reads the text of MarshalText.
func (l *Line) UnmarshalText(text []byte) (err error) {
	i := bytes.LastIndexByte(text, ':')
	if i < 0 {
		return fmt.Errorf("%q is no line of a file", text)
	}
	l.File = string(text[:i])
	l.Line, err = strconv.Atoi(string(text[i+1:]))
	return err
}

// Findings makes one list of suspected findings and those that runs have shown. A confirmed one
// takes the place of the suspected one on the same two accesses, or with the
// same id, and takes over the facts that only the static side knows: the narrower code,
// which side lacks protection, locks held, section, fix. So does one of a split
// section, confirmed or predicted, with that of the section. A confirmed one that
// shares with a suspected one no more than the access that lacks protection
// takes the place of that one as well, if nothing else has: it is the same bug. So
// are races of the same two functions on one variable: see oneOfFunctions. Notes point from one
// finding to others on the same variable. Suspected findings on which the runs have shown nothing get a note on
// that. The findings given are not changed; those returned are sorted and have
// ids of their own each.
func Findings(static, shown []*finding.Finding, known *Known) []*finding.Finding {
	left := clones(static)
	beside := clones(known.Beside)
	left, static = append(left, beside...), slices.Concat(static, known.Beside)
	var joined []*finding.Finding
	found := combineLeaks(left, combineOrders(left, clones(shown)))
	slices.SortStableFunc(found, func(a, b *finding.Finding) int { // a split knows where it belongs, a race may guess
		return -cmp.Compare(known.Claims[a.ID], known.Claims[b.ID])
	})
	asSeen := clones(found)
	into := map[*finding.Finding]*finding.Finding{}  // one found -> the one that it is a part of
	settled := map[string]*finding.Finding{}         // the finding that took over each id
	taken := map[*finding.Finding]*finding.Finding{} // suspected finding -> the confirmed one in its place
	settle := func(c *finding.Finding, i int) {
		s := left[i]
		takeOver(c, s, known)
		settled[c.ID], taken[s] = c, c
		left = slices.Delete(left, i, i+1)
		joined = append(joined, c)
	}
	var others []*finding.Finding
	for _, c := range found {
		if i := counterpart(left, c, known.Claims[c.ID]); i >= 0 {
			settle(c, i)
		} else {
			others = append(others, c)
		}
	}
	var rest []*finding.Finding // of which nothing was suspected by its places
	for _, c := range others {
		if i := slices.IndexFunc(left, func(s *finding.Finding) bool { return sameBug(s, c) }); i >= 0 {
			settle(c, i)
		} else if first := caughtAlready(taken, c); first != nil {
			first.Notes = append(first.Notes, alsoCaught(first, c))
			into[c] = first
		} else {
			sharpen(c, static)
			rest = append(rest, c)
		}
	}
	joined = known.oneOfFunctions(joined, rest, static, into)
	joined = combineWaits(joined, into)
	for _, s := range left {
		if i := slices.IndexFunc(asSeen, func(c *finding.Finding) bool { return confirms(c, s) }); i >= 0 {
			alsoSuspected(cmp.Or(into[found[i]], found[i]), s)
			continue
		}
		if i := slices.IndexFunc(joined, func(c *finding.Finding) bool { return namedAfter(c, s) }); i >= 0 {
			alsoSuspected(joined[i], s)
			continue
		}
		if slices.Contains(beside, s) {
			continue
		}
		known.unobserved(s)
		for _, c := range joined {
			if c.Status == finding.Confirmed && sameVariable(s, c) {
				relate(s, c)
			}
		}
		joined = append(joined, s)
	}
	finding.Sort(joined)
	separate(joined, settled)
	return joined
}

func clones(findings []*finding.Finding) []*finding.Finding {
	var out []*finding.Finding
	for _, f := range findings {
		c := *f
		c.Accesses = slices.Clone(f.Accesses)
		c.Notes = slices.Clone(f.Notes)
		out = append(out, &c)
	}
	return out
}

// counterpart finds the suspected finding that c confirms, or returns -1. Places
// decide before ids, since an ordinal counts differently on the two sides. A
// split section knows the finding that it came from by its id, the claim.
func counterpart(static []*finding.Finding, c *finding.Finding, claim string) int {
	if claim != "" {
		return slices.IndexFunc(static, func(s *finding.Finding) bool { return s.ID == claim })
	}
	if c.Evidence != nil && c.Evidence.Blocked != "" {
		return slices.IndexFunc(static, func(s *finding.Finding) bool { return provesLeak(s, c) })
	}
	if c.Evidence != nil && c.Evidence.Error != "" {
		return slices.IndexFunc(static, func(s *finding.Finding) bool {
			return s.Code == c.Code && accessAt(s, c.Accesses[0]) >= 0
		})
	}
	i := slices.IndexFunc(static, func(s *finding.Finding) bool {
		return (sameVariable(s, c) || isUnnamed(c)) && samePlaces(s, c)
	})
	if i < 0 {
		i = slices.IndexFunc(static, func(s *finding.Finding) bool { return s.ID == c.ID })
	}
	return i
}

// sameBug reports whether c is a race of the access that lacks protection by s: the other
// access is a further victim of the same bug.
func sameBug(s, c *finding.Finding) bool {
	e := c.Evidence
	return e != nil && e.Pattern == "" && e.Error == "" && e.Blocked == "" && sameVariable(s, c) && aboutFirstAccess(s) &&
		slices.ContainsFunc(c.Accesses, func(a finding.Access) bool { return sameLine(s.Accesses[0], a) })
}

// caughtAlready returns the confirmed finding in the place of a suspected one that is
// about the bug of c, the first in the order of the text, or nil.
func caughtAlready(taken map[*finding.Finding]*finding.Finding, c *finding.Finding) (into *finding.Finding) {
	for s, by := range taken {
		if sameBug(s, c) && by.Evidence.Pattern == "" && (into == nil || by.ID < into.ID) {
			into = by
		}
	}
	return into
}

// alsoCaught returns a sentence about a further access that met the unprotected access of a finding.
func alsoCaught(into, c *finding.Finding) string {
	other := c.Accesses[0]
	if sameLine(other, into.Accesses[0]) {
		other = c.Accesses[1]
	}
	what := fmt.Sprintf("the %s of %s at %s in %s", other.Mode, other.Expr, other.Position, other.Function)
	if sameLine(other, into.Accesses[0]) {
		what = "another goroutine at the same place"
	}
	if c.Evidence.Hits == 0 { // in runs that left the pair alone, by a window at another one
		return "also caught with " + what
	}
	return fmt.Sprintf("also caught with %s, in %s", what, finding.OfRuns(c.Evidence.Hits, c.Evidence.Runs))
}

// sameVariable leaves the kind out, in which the two sides may differ.
func sameVariable(a, b *finding.Finding) bool {
	v, w := a.Variable, b.Variable
	v.Kind, w.Kind = "", ""
	return v == w && v.Name != ""
}

// samePlaces reports whether the two accesses of c are those of s. Lines
// decide: the two sides may name another column of an expression.
func samePlaces(s, c *finding.Finding) bool {
	if len(c.Accesses) != 2 {
		return false
	}
	a, b := c.Accesses[0], c.Accesses[1]
	switch len(s.Accesses) {
	case 1:
		return sameLine(s.Accesses[0], a) && sameLine(s.Accesses[0], b)
	case 2:
		x, y := s.Accesses[0], s.Accesses[1]
		return sameLine(x, a) && sameLine(y, b) || sameLine(x, b) && sameLine(y, a)
	}
	return false
}

func sameLine(a, b finding.Access) bool {
	return a.File == b.File && a.Line == b.Line && a.Mode == b.Mode
}

// accessAt returns the index of an access of s at the place of a, or -1.
func accessAt(s *finding.Finding, a finding.Access) int {
	return slices.IndexFunc(s.Accesses, func(b finding.Access) bool { return a.File == b.File && a.Line == b.Line })
}

// sharpen sets in c the code of a suspected finding on the access that both
// have. The other side differs, so the code must hold whatever that is: it has
// to be about one access, the first of the suspected finding.
func sharpen(c *finding.Finding, static []*finding.Finding) {
	for _, s := range static {
		if !sameVariable(s, c) || !aboutFirstAccess(s) {
			continue
		}
		if slices.ContainsFunc(c.Accesses, func(a finding.Access) bool { return sameLine(a, s.Accesses[0]) }) {
			c.Code = sharper(c.Code, s.Code)
		}
	}
}

// aboutFirstAccess reports whether the code is about the first access of s alone,
// rather than about a pair: then any race of that access is of this class. For some
// codes this holds for writes only.
func aboutFirstAccess(s *finding.Finding) bool {
	if len(s.Accesses) == 0 {
		return false
	}
	switch s.Code {
	case finding.Unguarded, finding.Unordered, finding.CloseRaces, finding.AddRacesWait:
		return true
	case finding.UnderReadLock, finding.WrittenLate:
		return s.Accesses[0].Mode == finding.Write
	}
	return false
}

// sharper returns the narrower of two codes.
func sharper(c, s finding.Code) finding.Code {
	if c == finding.CaughtInTheAct {
		return s
	}
	return c
}

// unobserved adds a note to a suspected finding: how many runs there were, and
// whether they reached its accesses at all. It never says that the finding is wrong.
func (known *Known) unobserved(s *finding.Finding) {
	runs := known.Runs
	if len(s.Accesses) > 0 {
		if n, known := known.RunsOf[strings.TrimSuffix(s.Accesses[0].Package, "_test")]; known {
			runs = n
		}
	}
	if runs == 0 {
		return
	}
	note := "unobserved in 1 run"
	if runs > 1 {
		note = fmt.Sprintf("unobserved in %d runs", runs)
	}
	// Why no run may have shown it: its accesses were not reached, or its section seldom.
	missed := false
	for _, a := range s.Accesses {
		if known.Lines != nil && !known.Lines[Line{a.File, a.Line}] {
			note += fmt.Sprintf("; none reached %s:%d", a.File, a.Line)
			missed = true
		}
	}
	if missed && len(known.LeftOut) > 0 {
		note += "; they left out what hangs: " + strings.Join(known.LeftOut, ", ")
	}
	if n := known.Whole[s.ID]; n > 0 {
		note += fmt.Sprintf("; its section was watched from end to end %d times", n)
	}
	if s.Apart = known.apart(s); s.Apart > 0 {
		note += "; " + s.NearMiss()
	}
	s.Notes = append(s.Notes, note)
}

// apart returns how near two goroutines came at the first access of s, a data race, and another one of it; 0 if none
// did.
func (known *Known) apart(s *finding.Finding) (least int64) {
	if !s.Code.IsDataRace() || len(s.Accesses) < 2 {
		return 0
	}
	at := func(a finding.Access) Line { return Line{a.File, a.Line} }
	for _, m := range known.Met {
		for _, other := range s.Accesses[1:] {
			first, then := at(s.Accesses[0]), at(other)
			if (m.Lines == [2]Line{first, then} || m.Lines == [2]Line{then, first}) && (least == 0 || m.LeastNS < least) {
				least = m.LeastNS
			}
		}
	}
	return least
}

// relate has two findings on one variable point at each other.
func relate(s, c *finding.Finding) {
	s.Notes = append(s.Notes, fmt.Sprintf("a bug on this variable was caught: %s", c.ID))
	c.Notes = append(c.Notes, fmt.Sprintf("suspected on this variable as well: %s (%s)", s.ID, s.Code))
}

// separate assigns different ordinals to findings of one id; the one that has taken it
// over keeps it, or else the first.
func separate(findings []*finding.Finding, settled map[string]*finding.Finding) {
	seen := map[string]bool{}
	for _, f := range findings {
		for seen[f.ID] || settled[f.ID] != nil && settled[f.ID] != f {
			f.Ordinal++
			f.ID = f.ComputeID()
		}
		seen[f.ID] = true
	}
}

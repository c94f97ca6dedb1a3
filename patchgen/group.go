package patchgen

import (
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Groups puts findings together that one patch corrects, in the order of the findings: those on
// one variable; of findings on locks, channels and WaitGroups those of one code
// on the same one, a return that leaves a lock held, or a function that takes it twice, with those whom a run has shown
// to wait for it; a use of what was
// reached under a lock behind it with the races that a run has shown there; and each cycle of locks by itself. Fields
// of one type that a run has shown to race for want of one lock are put together: see [Parts].
func Groups(findings []*finding.Finding) [][]*finding.Finding {
	return joinBare(Parts(findings))
}

// Parts is Groups where each field has a patch of its own.
func Parts(findings []*finding.Finding) [][]*finding.Finding {
	var out [][]*finding.Finding
	for _, f := range findings {
		i := slices.IndexFunc(out, func(g []*finding.Finding) bool { return SameCause(g[0], f) })
		if i < 0 {
			i, out = len(out), append(out, nil)
		}
		out[i] = append(out[i], f)
	}
	return out
}

// joinBare puts groups together that are on fields of one type for which one lock is missing.
//
//	func (s *Stats) Add(n int64) { s.n, s.last = s.n+n, now() }	// without a lock
//	func (s *Stats) Sum() (int64, time.Time) { return s.n, s.last }	// without a lock
func joinBare(groups [][]*finding.Finding) [][]*finding.Finding {
	isShown := func(f *finding.Finding) bool { return f.Status == finding.Confirmed }
	missOne := func(a, b []*finding.Finding) bool {
		return slices.ContainsFunc(a, func(f *finding.Finding) bool {
			return isShown(f) && slices.ContainsFunc(b, func(g *finding.Finding) bool {
				return isShown(g) && finding.MissOneLock(f, g)
			})
		})
	}
	var out [][]*finding.Finding
	for _, group := range groups {
		// It may be the common part of several of those before it.
		i := slices.IndexFunc(out, func(g []*finding.Finding) bool { return missOne(g, group) })
		if i < 0 {
			out = append(out, group)
			continue
		}
		out[i] = append(out[i], group...)
		for j := len(out) - 1; j > i; j-- {
			if missOne(out[j], group) {
				out[i], out = append(out[i], out[j]...), slices.Delete(out, j, j+1)
			}
		}
	}
	return out
}

// IsOfGroup reports whether a finding has the cause of one of a group.
func IsOfGroup(group []*finding.Finding, f *finding.Finding) bool {
	return slices.ContainsFunc(group, func(g *finding.Finding) bool { return SameCause(g, f) })
}

// SameCause reports whether one patch is to correct both findings. The kind of the variable
// does not count: static and dynamic side differ in it. The elements of a slice belong to it.
func SameCause(f, g *finding.Finding) bool {
	_, fSync := onSync([]*finding.Finding{f})
	_, gSync := onSync([]*finding.Finding{g})
	switch {
	case isWhyStuck(f, g) || isWhyStuck(g, f), isUsedBehind(f, g) || isUsedBehind(g, f):
		return true
	case fSync != gSync || fSync && f.Code != g.Code:
		return false
	case len(f.Cycle) > 0 || len(g.Cycle) > 0:
		return f.ID == g.ID
	case isMadeByCallee(f) != isMadeByCallee(g):
		return false // where the two callees lock is right; what lies between is not
	}
	return isSameVariable(f, g)
}

// isSameVariable reports whether two findings are on one variable, or its elements.
func isSameVariable(f, g *finding.Finding) bool {
	v, w := f.Variable, g.Variable
	v.Kind, w.Kind = "", ""
	v.Name, w.Name = strings.TrimSuffix(v.Name, "[]"), strings.TrimSuffix(w.Name, "[]")
	return v == w
}

// IsBeside reports whether a run has shown a race, or predicts one, for a neighbour of the variable that the candidate
// is for: another one of the same object, or package, that a function accesses which the candidate changes, or in which
// findings of the group are. A patch that leaves it has covered a part of what it should. Races that a test makes by an
// access of its own, or for other types, are other bugs; memory without a name may be a part of the variable.
func (c Candidate) IsBeside(group []*finding.Finding, f *finding.Finding) bool {
	isIn := func(a finding.Access) bool {
		return c.changes(a) || slices.ContainsFunc(group, func(g *finding.Finding) bool {
			return slices.ContainsFunc(g.Accesses, func(b finding.Access) bool {
				return a.Function != "" && a.Package == b.Package && a.Function == b.Function
			})
		})
	}
	if _, sync := onSync(append(slices.Clone(group), f)); sync || len(group) == 0 || IsOfGroup(group, f) {
		return false
	}
	v, w := group[0].Variable, f.Variable
	isUnknown := w.IsMemory() && w.Package == v.Package // it may be a part of the variable
	v.Kind, w.Kind, v.Name, w.Name = "", "", "", ""
	isShown := f.Status == finding.Confirmed || f.Status == finding.Predicted
	return (v == w || isUnknown) && isShown && f.Code.IsDataRace() &&
		slices.ContainsFunc(f.Accesses, isIn) &&
		!slices.ContainsFunc(f.Accesses, func(a finding.Access) bool { return strings.HasSuffix(a.File, "_test.go") })
}

// IsIn reports whether an access of f is in a function that the candidate changes.
func (c Candidate) IsIn(f *finding.Finding) bool { return slices.ContainsFunc(f.Accesses, c.changes) }

// changes reports whether the candidate changes the declared function that an access is in.
func (c Candidate) changes(a finding.Access) bool {
	// (*m.T[K]).Set	->	T.Set, which is around (*T[...]).Set.func1
	plain := func(name string) string { return noise.ReplaceAllString(name, "") }
	function := plain(a.Function) + "."
	for name := range c.touched {
		if short := plain(strings.Replace(name, a.Package+".", "", 1)); strings.HasPrefix(function, short+".") {
			return true
		}
	}
	return false
}

// noise is what names of functions have or have not, by who names them.
var noise = regexp.MustCompile(`\[.*?\]|[(*)]`)

// isLockFault reports whether findings of a code say that others may wait for a lock for ever: a return leaves it held,
// or who holds it takes it again.
func isLockFault(code finding.Code) bool {
	return code == finding.LostUnlock || code == finding.DoubleLock || code == finding.ReadLockAgain
}

// isWhyStuck reports whether the goroutine of stuck waits for the lock that the fault is about.
func isWhyStuck(fault, stuck *finding.Finding) bool {
	isStuck := stuck.Code == finding.BlockedForEver || stuck.Code == finding.DoubleLock && fault.Code == finding.LostUnlock
	if !isLockFault(fault.Code) || !isStuck || stuck.Status != finding.Confirmed {
		return false
	}
	if len(fault.Accesses) == 0 || len(stuck.Accesses) == 0 {
		return false
	}
	held, waits := fault.Accesses[0], stuck.Accesses[0]
	if waits.Mode != finding.Lock && waits.Mode != finding.ReadLock || held.Package != waits.Package {
		return false
	}
	v, w := fault.Variable, stuck.Variable
	v.Kind, w.Kind = "", ""
	if fault.Code != finding.LostUnlock {
		return v == w
	}
	// p.mu of one method and q.mu of another are the same field.
	field := func(expr string) string { return expr[strings.IndexByte(expr, '.')+1:] }
	return v == w || field(held.Expr) == field(waits.Expr) && strings.Contains(held.Expr, ".")
}

// isUsedBehind reports whether a run has shown the race that a use behind the lock leads to: one side came to the
// elements by that use.
//
//	b := q.get(i)	// under the lock
//	q.mu.Unlock()
//	return decode(b)	<- used, race within decode
func isUsedBehind(used, race *finding.Finding) bool {
	if used.Code != finding.UsedAfterLock || race.Code == finding.UsedAfterLock || race.Status != finding.Confirmed ||
		race.Variable.Kind != "element" || len(used.Accesses) == 0 {
		return false
	}
	return slices.ContainsFunc(race.Accesses, func(a finding.Access) bool {
		return a.Goroutine != nil && slices.ContainsFunc(a.Goroutine.Stack, func(f finding.Frame) bool {
			return f.File == used.Accesses[0].File && f.Line == used.Accesses[0].Line
		})
	})
}

// isMadeByCallee reports whether the test or the use of a section is a call of a function that makes it.
func isMadeByCallee(f *finding.Finding) bool {
	return f.Section != nil && (f.Section.EntryCall != nil || f.Section.EndCall != nil)
}

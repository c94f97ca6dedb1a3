package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Causes puts findings together that have one cause, so that one correction is due: those that one patch mends; races
// on the fields of one type that one missing lock leaves bare; atomic sections of one function on one variable; and
// goroutines that wait for ever at one place, or for one field in one way, started at any number of places; and a test
// and use with the close of a channel in between, and that close. The order is that of the findings; the best proven
// finding heads its group.
func Causes(findings []*Finding) [][]*Finding {
	var groups [][]*Finding
	at := map[string]int{} // by key
	for _, f := range findings {
		keys := append(causes(f), closesWithin(findings, f)...)
		i := len(groups)
		for _, key := range keys {
			if known, ok := at[key]; ok {
				i = min(i, known)
			}
		}
		if i == len(groups) {
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], f)
		// The finding may be the common part of several groups.
		for _, key := range keys {
			if j, ok := at[key]; ok && j != i {
				groups[i], groups[j] = append(groups[i], groups[j]...), nil
				for k, of := range at {
					if of == j {
						at[k] = i
					}
				}
			}
			at[key] = i
		}
	}
	groups = slices.DeleteFunc(groups, func(g []*Finding) bool { return len(g) == 0 })
	place := map[*Finding]int{}
	for i, f := range findings {
		place[f] = i
	}
	for _, g := range groups {
		slices.SortFunc(g, func(a, b *Finding) int {
			return cmp.Or(cmp.Compare(a.Proof(), b.Proof()), cmp.Compare(place[a], place[b]))
		})
	}
	return groups
}

// Proof is the rank of f by how well it is proven, the best first; those of [Finding.Minor] come last.
func (f *Finding) Proof() int {
	if f.Minor() {
		return 3
	}
	return slices.Index([]Status{Confirmed, Predicted, Suspected}, f.Status)
}

// causes returns keys of which findings of one cause share one.
func causes(f *Finding) (keys []string) {
	if f.Fix != nil && f.Fix.Diff != "" {
		keys = append(keys, f.Fix.Diff)
	}
	if len(f.Accesses) == 0 || f.Code == MixedAtomic || f.Status == Lead {
		return keys
	}
	a, v := f.Accesses[0], f.Variable
	switch {
	case f.Code == BlockedForEver || f.Code == EndlessWait:
		keys = append(keys, fmt.Sprintf("waits at %s:%d", a.File, a.Line))
		if v.Type != "" {
			keys = append(keys, fmt.Sprintf("%ss of %s", a.Mode, v))
		}
		return keys
	case f.Code == LoadAndStore || f.Code == TestAndUse || f.Code == Interleaved:
		return append(keys, fmt.Sprintf("section\x00%s\x00%s\x00%s", a.Package, a.Function, v))
	case !f.Code.IsDataRace():
		return keys
	}
	return append(keys, missing(f)...)
}

// MissOneLock reports whether f and g are races on the fields of one type, or on variables of one package, that one
// missing lock leaves bare.
func MissOneLock(f, g *Finding) bool {
	isOfNoLocal := func(f *Finding) bool {
		return f.Code.IsDataRace() && f.Code != MixedAtomic && f.Status != Lead && f.Variable.Function == ""
	}
	return len(f.Accesses) > 0 && len(g.Accesses) > 0 && isOfNoLocal(f) && isOfNoLocal(g) &&
		slices.ContainsFunc(missing(f), func(key string) bool { return slices.Contains(missing(g), key) })
}

// closesWithin returns keys of tests and uses with a close of a channel in between, and of the finding on that close.
//
//	if c.isShut() {
//		return
//	}
//	close(c.done)
//	c.setShut()
func closesWithin(findings []*Finding, f *Finding) (keys []string) {
	within := func(section, closing *Finding) bool {
		if section.Code != TestAndUse || closing.Code != CloseRaces || len(section.Accesses) < 2 || section.Status == Lead {
			return false
		}
		a, b := section.Accesses[0], section.Accesses[1]
		return closing.Status != Lead && slices.ContainsFunc(closing.Accesses, func(c Access) bool {
			return c.Mode == CloseChan && c.File == a.File && c.Function == a.Function &&
				min(a.Line, b.Line) <= c.Line && c.Line <= max(a.Line, b.Line)
		})
	}
	for _, g := range findings {
		if within(f, g) {
			keys = append(keys, "close\x00"+g.ID)
		} else if within(g, f) {
			keys = append(keys, "close\x00"+f.ID)
		}
	}
	return keys
}

// missing returns keys of a race by the lock that is missing: it leaves accesses of one function bare, or of
// two functions, of one type.
//
//	(*Stats).Snapshot	reads hits, misses and bytes, which all others lock s.mu for
//	Set, Sum		write and read a, b and c of one type, or package; no lock is known
func missing(f *Finding) []string {
	a, v := f.Accesses[0], f.Variable
	owner := v.Package + "\x00" + v.Type
	if v.Type == "" {
		owner += v.Function + "." + v.Name
	}
	lock := "" // without the name of the receiver, which each method may choose
	for _, b := range f.Accesses[1:] {
		for _, l := range b.Locks {
			if slices.Contains(a.Locks, l) || slices.Contains(a.Locks, l+" (read)") {
				continue
			}
			if _, field, ok := strings.Cut(l, "."); ok {
				l = field
			}
			if l = strings.TrimSuffix(l, " (read)"); lock == "" || l < lock {
				lock = l
			}
		}
	}
	keys := []string{fmt.Sprintf("%s\x00%s\x00%s\x00%v\x00%s", a.Package, a.Function, owner, len(a.Locks) == 0, lock)}
	if len(f.Accesses) < 2 {
		return keys
	}
	b := f.Accesses[1]
	sides := []string{a.Package + "." + a.Function, b.Package + "." + b.Function}
	slices.Sort(sides)
	if v.Type == "" && v.Function == "" {
		owner = v.Package // variables of a package belong together where both functions use them
	}
	return append(keys, "both\x00"+strings.Join(sides, "\x00")+"\x00"+owner) // a run alone does not know the locks
}

package campaign

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// sitesOf returns the sites of the plan that a recorded access may be: the engine knows a
// line, not a column.
func (e *exact) sitesOf(s *exactSide) []*plan.Site {
	var all []*plan.Site
	for _, site := range e.lines[s.at] {
		if synchronises(site.Variable) || s.kind != "" {
			// The runtime's modes are not ours.
			if site.Variable.Kind == s.kind {
				all = append(all, site)
			}
			continue
		}
		// A site of x++ reads as well.
		if mode := finding.Mode(site.Mode); mode == s.mode || writes(mode) && !writes(s.mode) {
			all = append(all, site)
		}
	}
	return all
}

// sharedVariable returns the one variable that both sides may access, if there is only one: a list and its elements are
// one, by the name of the list; a copy of an object accesses its fields. Of several fields of one type it returns the
// type, with all their names.
func sharedVariable(a, b []*plan.Site) (v plan.Variable, ok bool) {
	both := map[plan.Variable]bool{}
	for _, s := range a {
		for _, t := range b {
			switch {
			case s.Variable == t.Variable, isWhole(t.Variable, s.Variable):
				both[s.Variable] = true
			case isWhole(s.Variable, t.Variable):
				both[t.Variable] = true
			}
		}
	}
	// The shortest name is that of the list: x before x[].
	byName := func(v, w plan.Variable) int {
		return cmp.Or(strings.Compare(v.Name, w.Name), strings.Compare(v.Kind, w.Kind))
	}
	if all := slices.SortedFunc(maps.Keys(both), byName); len(all) > 0 {
		names := []string{all[0].Name}
		for _, w := range all[1:] {
			if w.Package != all[0].Package || w.Type != all[0].Type || w.Function != all[0].Function {
				return v, false
			}
			if last := names[len(names)-1]; w.Name != last && w.Name != last+"[]" {
				names = append(names, w.Name)
			}
		}
		v = all[0]
		if len(names) > 1 {
			v.Name, v.Kind = strings.Join(names, " or "), ""
		}
		return v, len(names) == 1
	}
	// A channel may have a name of its own on each side, as a parameter or an element of a list.
	if len(a) == 1 && len(b) == 1 && a[0].Variable.Kind == b[0].Variable.Kind && synchronises(a[0].Variable) {
		return a[0].Variable, true
	}
	return v, false
}

// isWhole reports whether v is all of an object, as a copy of it reads, and field one of its fields.
func isWhole(v, field plan.Variable) bool {
	return v.Name == "*" && v.Type != "" && v.Package == field.Package && v.Type == field.Type
}

// synchronises reports whether a variable is a channel or a WaitGroup.
func synchronises(v plan.Variable) bool { return raceCode(v.Kind) != finding.CaughtInTheAct }

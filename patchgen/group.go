package patchgen

import (
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Groups puts findings together that one patch corrects, in the order of the findings: those on
// one variable; of findings on locks, channels and WaitGroups those of one code
// on the same one; and each cycle of locks by itself.
func Groups(findings []*finding.Finding) [][]*finding.Finding {
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

// SameCause reports whether one patch is to correct both findings. The kind of the variable
// does not count: static and dynamic side differ in it. The elements of a slice belong to it.
func SameCause(f, g *finding.Finding) bool {
	_, fSync := onSync([]*finding.Finding{f})
	_, gSync := onSync([]*finding.Finding{g})
	switch {
	case fSync != gSync || fSync && f.Code != g.Code:
		return false
	case len(f.Cycle) > 0 || len(g.Cycle) > 0:
		return f.ID == g.ID
	case isMadeByCallee(f) != isMadeByCallee(g):
		return false // where the two callees lock is right; what lies between is not
	}
	v, w := f.Variable, g.Variable
	v.Kind, w.Kind = "", ""
	v.Name, w.Name = strings.TrimSuffix(v.Name, "[]"), strings.TrimSuffix(w.Name, "[]")
	return v == w
}

// isMadeByCallee reports whether the test or the use of a section is a call of a function that makes it.
func isMadeByCallee(f *finding.Finding) bool {
	return f.Section != nil && (f.Section.EntryCall != nil || f.Section.EndCall != nil)
}

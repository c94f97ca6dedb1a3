package crosspkg

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Judge decides about the variables that several packages access, given the findings of each package: it leaves
// out the findings that the accesses of others speak against, adds places to those that these confirm, and adds
// findings that no package sees. The result is neither sorted nor sealed.
func Judge(found []*finding.Finding, packages ...[]Variable) []*finding.Finding {
	j := &judge{of: map[finding.Variable][]int{}, at: map[finding.Position]int{}}
	for _, f := range found {
		j.addFinding(f)
	}
	for _, v := range across(packages) {
		if slices.ContainsFunc(v.Accesses, (*Access).Atomic) {
			j.judgeMixed(v)
		} else {
			j.guarded(v)
		}
	}
	return slices.DeleteFunc(j.found, func(f *finding.Finding) bool { return f == nil })
}

// judge holds the findings so far. A search for one by its variable or place must not go through all of them.
type judge struct {
	found []*finding.Finding         // nil for one that was left out
	of    map[finding.Variable][]int // indexes of found, by variable
	at    map[finding.Position]int   // how many accesses of findings on guards are there
}

func (j *judge) addFinding(f *finding.Finding) {
	j.of[nameOf(f.Variable)] = append(j.of[nameOf(f.Variable)], len(j.found))
	j.found = append(j.found, nil)
	j.replace(len(j.found)-1, f)
}

// replace puts f, which may be nil, in the place of the i-th finding.
func (j *judge) replace(i int, f *finding.Finding) {
	count := func(f *finding.Finding, n int) {
		if f != nil && guardsOf(f) {
			for _, a := range f.Accesses {
				j.at[a.Position] += n
			}
		}
	}
	count(j.found[i], -1)
	count(f, 1)
	j.found[i] = f
}

// findAbout returns the index of the first finding on the variable that is wanted, or -1.
func (j *judge) findAbout(v finding.Variable, wanted func(*finding.Finding) bool) int {
	for _, i := range j.of[nameOf(v)] {
		if j.found[i] != nil && wanted(j.found[i]) {
			return i
		}
	}
	return -1
}

// across returns the variables that more than one package accesses, with all
// accesses, by name.
func across(packages [][]Variable) []*Variable {
	all := map[finding.Variable]*Variable{}
	for _, p := range packages {
		for _, v := range p {
			if all[v.Variable] == nil {
				all[v.Variable] = &Variable{Variable: v.Variable}
			}
			w := all[v.Variable]
			w.Annotated = cmp.Or(w.Annotated, v.Annotated)
			w.Accesses = append(w.Accesses, v.Accesses...)
		}
	}
	var list []*Variable
	for _, key := range slices.SortedFunc(maps.Keys(all),
		func(a, b finding.Variable) int { return strings.Compare(a.String(), b.String()) }) {
		v := all[key]
		foreign := func(a *Access) bool { return a.Package != v.Accesses[0].Package }
		if !slices.ContainsFunc(v.Accesses, foreign) {
			continue
		}
		slices.SortFunc(v.Accesses, compare)
		list = append(list, v)
	}
	return list
}

// compare orders accesses for the reader: writes first, then by place.
func compare(a, b *Access) int {
	return cmp.Or(cmp.Compare(rankAccess(a), rankAccess(b)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column))
}

func rankAccess(a *Access) int {
	if a.Writes() {
		return 0
	}
	return 1
}

// pair is an access that lacks something, and one that it races with.
type pair struct{ a, b *Access }

// judgeMixed judges a variable that some package accesses atomically: plain
// accesses of the others race with that.
func (j *judge) judgeMixed(v *Variable) {
	var pairs []pair
	for _, a := range v.Accesses {
		if a.Atomic() || a.Map || a.SetUp || a.Exempt && a.Writes() || slices.Contains(a.Ignored, finding.MixedAtomic) ||
			knowsBetter(v, a) {
			continue
		}
		// The first atomic access of another package that nothing keeps from running beside a is enough for a pair.
		i := slices.IndexFunc(v.Accesses, func(b *Access) bool {
			return b.Atomic() && b.Package != a.Package && finding.Conflicts(a.Mode, b.Mode) &&
				maySame(a, b) && !areExcluded(a, b) &&
				!(b.Unknown && slices.ContainsFunc(a.Held, func(h Held) bool { return h.Near }))
		})
		if i >= 0 {
			pairs = append(pairs, pair{a, v.Accesses[i]})
		}
	}
	if len(pairs) == 0 {
		return
	}
	a, b := pairs[0].a, pairs[0].b
	does := "reads"
	if b.Writes() {
		does = "writes"
	}
	j.report(finding.MixedAtomic, v, pairs, &finding.Finding{
		Title: fmt.Sprintf("%s is %s plainly and accessed atomically elsewhere", shortName(v.Variable), a.pastVerb()),
		Message: fmt.Sprintf("%s of package %s %s it through sync/atomic (%s), which orders only atomic accesses. Another "+
			"goroutine may do so at the same time.",
			b.Function, b.Package, does, b.fileAndLine()),
	})
}

// knowsBetter reports whether the package of a accesses the variable atomically itself, so that its own check
// has judged a, or a's function does, since the only writer may read plainly.
func knowsBetter(v *Variable, a *Access) bool {
	return slices.ContainsFunc(v.Accesses, func(b *Access) bool {
		return b.Atomic() && b.Package == a.Package && (finding.Conflicts(a.Mode, b.Mode) || b.Function == a.Function)
	})
}

// guarded judges a variable by the lock that an annotation names, or that most
// accesses of all packages hold; if there is none, no package's guess stands.
func (j *judge) guarded(v *Variable) {
	g := Infer(v.Accesses)
	if v.Annotated != "" {
		owner := v.Variable
		owner.Name = v.Annotated
		g = splitAccesses(v.Accesses, lockID{class: owner.String(), near: true}, heldAsNear)
	}
	if g == nil {
		for _, i := range j.of[nameOf(v.Variable)] {
			if f := j.found[i]; f != nil && f.Code == finding.Unguarded {
				j.replace(i, nil)
			}
		}
		return
	}
	if !g.id.near || v.Annotated == "" && g.setOnce() {
		// A lock elsewhere proves too little across packages; and a variable that is set once is read by users
		// of the package when they know that it is.
		return
	}
	var pairs []pair
	told := map[[2]string]bool{}
	for _, a := range g.Without {
		in := [2]string{a.Package, a.Function}
		if told[in] || a.SetUp || j.reported(a) || slices.Contains(a.Ignored, finding.Unguarded) ||
			slices.Contains(a.Ignored, finding.DifferentLocks) {
			continue
		}
		if b := g.otherSide(a); b != nil {
			told[in] = true
			pairs = append(pairs, pair{a, b})
		}
	}
	if len(pairs) == 0 {
		return
	}
	a, b := pairs[0].a, pairs[0].b
	code, title := finding.Unguarded, fmt.Sprintf("%s is %s without %s", shortName(v.Variable), a.pastVerb(), g.Name)
	if !slices.ContainsFunc(pairs, func(p pair) bool { return p.a.otherLock() == "" }) {
		code, title = finding.DifferentLocks, fmt.Sprintf("%s is %s under %s, but %s guards it",
			shortName(v.Variable), a.pastVerb(),
			a.otherLock(), g.Name)
	}
	does := "read"
	if b.Writes() {
		does = "write"
	}
	status := finding.Suspected
	if g.encloses(v.Variable) {
		status = finding.Lead
	}
	j.report(code, v, pairs, &finding.Finding{
		Status: status,
		Title:  title,
		Message: fmt.Sprintf("%s; %s at %s by package %s. Another goroutine may %s it at the same time.",
			g.Count(), b.pastVerb(),
			b.fileAndLine(), b.Package, does),
		Notes: []string{g.Count() + ", all packages of the module together"},
	})
}

// guardsOf reports whether f is about a guard that an access lacks.
func guardsOf(f *finding.Finding) bool {
	return f.Code == finding.Unguarded || f.Code == finding.DifferentLocks
}

// reported reports whether a finding stands at a already, perhaps one of another
// field that names it, too.
func (j *judge) reported(a *Access) bool { return j.at[a.Position] > 0 }

// otherSide chooses the guarded access to show: a write rather than a read,
// of another package rather than the same.
func (g *Guard) otherSide(a *Access) *Access {
	var best *Access
	bestScore := -1
	for _, b := range g.With {
		elsewhere := b.Package != a.Package
		if b.SetUp || b.Ordered || !finding.Conflicts(a.Mode, b.Mode) || !maySame(a, b) || areExcluded(a, b) ||
			!elsewhere && (b.Function == a.Function || !a.Others || !b.Others) {
			continue
		}
		score := 1 - rankAccess(b)
		if elsewhere {
			score += 2
		}
		if score > bestScore {
			best, bestScore = b, score
		}
	}
	return best
}

// report makes one finding of the pairs, which are about one variable: all of them need the mend. A finding of
// a package about the variable stays as it is, and gets the places that it lacks.
func (j *judge) report(code finding.Code, v *Variable, pairs []pair, f *finding.Finding) {
	i := j.findAbout(v.Variable, func(g *finding.Finding) bool {
		return g.Code == code || code != finding.MixedAtomic && guardsOf(g)
	})
	if i >= 0 {
		g := *j.found[i]
		g.Accesses, g.Notes = slices.Clone(g.Accesses), slices.Clone(g.Notes)
		for _, p := range pairs {
			addPlace(&g, p.a)
		}
		j.replace(i, &g)
		return
	}
	f.Version, f.Code, f.Variable = finding.SchemaVersion, code, v.Variable
	f.Status = cmp.Or(f.Status, finding.Suspected)
	if pairs[0].a.Map {
		f.Variable.Kind = "map"
	}
	f.Accesses = []finding.Access{pairs[0].a.Access, pairs[0].b.Access}
	for _, p := range pairs[1:] {
		addPlace(f, p.a)
	}
	j.addFinding(f)
}

// addPlace adds a to the accesses of f, unless one of its function is there.
func addPlace(f *finding.Finding, a *Access) {
	if slices.ContainsFunc(f.Accesses, func(b finding.Access) bool {
		return b.Package == a.Package &&
			b.Function == a.Function
	}) {
		return
	}
	f.Accesses = append(f.Accesses, a.Access)
	f.Notes = append(f.Notes, fmt.Sprintf("also %s in %s of package %s (%s)", a.pastVerb(),
		a.Function, a.Package, a.fileAndLine()))
}

// nameOf returns the fields by which v is known; the rest may differ between packages.
func nameOf(v finding.Variable) finding.Variable {
	return finding.Variable{Package: v.Package, Type: v.Type, Name: v.Name}
}

// shortName returns Type.field, or the name of a package variable.
func shortName(v finding.Variable) string {
	if v.Type == "" {
		return v.Name
	}
	return v.Type + "." + v.Name
}

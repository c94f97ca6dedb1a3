package bot

import (
	"cmp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/levels"
)

// postable reports whether f may be posted at all, wherever it lies. A confirmed finding may; a suspected one only if
// nine in ten of its class were true when people read them (package levels); an order that a run predicts and a lead
// never. The level is worked out again, as the file is a stranger's.
func postable(f *finding.Finding) bool {
	switch f.Status {
	case finding.Confirmed:
		return true
	case finding.Suspected:
		graded := levels.Graded(f)
		return graded.Level == finding.Likely && strings.HasPrefix(graded.Class, string(f.Code))
	}
	return false
}

// isNew reports whether the change has brought f in: the base does not have it, and the change touches it. The base was
// not run, so a race that only runs show and of which no place, no frame and no go statement has changed may be old.
func isNew(f *finding.Finding, known map[string]bool, d Diff) bool {
	if slices.ContainsFunc(idsOf(f), func(id string) bool { return known[id] }) {
		return false
	}
	if f.Status != finding.Confirmed { // it is right that often at its own place
		p := f.Places()[0]
		return d.touches(p.File, p.Line)
	}
	return slices.ContainsFunc(involved(f), func(p finding.Position) bool { return d.touches(p.File, p.Line) })
}

// idsOf returns the ids by which f is known.
func idsOf(f *finding.Finding) []string { return append([]string{f.ID}, f.SameAs...) }

// involved returns the places of f, of its locks and section, and of the frames of its goroutines.
func involved(f *finding.Finding) []finding.Position {
	all := f.Places()
	for _, e := range f.Cycle {
		if e.Since != nil {
			all = append(all, *e.Since)
		}
	}
	if f.Section != nil {
		for _, p := range f.Section.Places() {
			all = append(all, *p)
		}
	}
	for _, a := range f.Accesses {
		if a.Goroutine == nil {
			continue
		}
		for _, frame := range slices.Concat(a.Goroutine.Stack, a.Goroutine.Created) {
			if isInside(frame.File) {
				all = append(all, finding.Position{File: frame.File, Line: frame.Line})
			}
		}
	}
	return all
}

// cause is findings that one correction is due for; the first one heads it.
type cause []*finding.Finding

// ids returns the ids of all findings of the cause.
func (c cause) ids() (all []string) {
	for _, f := range c {
		all = append(all, idsOf(f)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// choose returns the causes to post, the best proven first, those with a patch before others. A cause of which an
// earlier comment has a finding is not new: one correction is due for all of them.
func choose(file *File, d Diff, posted map[string]bool) (chosen []cause) {
	known := map[string]bool{}
	for _, id := range file.Known {
		known[id] = true
	}
	for _, group := range finding.Causes(file.Findings) {
		c := cause(slices.DeleteFunc(group, func(f *finding.Finding) bool { return !postable(f) || !isNew(f, known, d) }))
		if len(c) == 0 || slices.ContainsFunc(c.ids(), func(id string) bool { return posted[id] }) {
			continue
		}
		chosen = append(chosen, c)
	}
	slices.SortStableFunc(chosen, func(a, b cause) int {
		p, q := a[0].Places()[0], b[0].Places()[0]
		return cmp.Or(cmp.Compare(a[0].Proof(), b[0].Proof()), cmp.Compare(rank(a[0]), rank(b[0])),
			cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line))
	})
	return chosen
}

// rank orders findings of equal proof: those with a verified patch come first.
func rank(f *finding.Finding) int {
	if isVerified(f) {
		return 0
	}
	return 1
}

// Package stores judges by the source whether a store that was lost, or made twice, is harm by itself, whatever the
// tests say.
package stores

import (
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Two goroutines that find a cache empty and both fill it, or that pass a limit by one, split each other's section,
// and most programs are none the worse for it. So a split is harm by itself only where no program can mean it:
// a list or sum loses an addition, something is taken that is not there, goroutines have different locks of one thing.
// Of all else a test that fails has to show the harm: a channel that is closed twice panics.

// Source is the source code that has the stores of a plan.
type Source struct {
	Plan     *plan.Plan
	Packages []*sites.Package // with their syntax
}

// Doubts about a split. They complete a sentence that begins with "predicted: ".
const (
	alike     = "the end has replaced what the other goroutine stored, and as far as is known by the same value"
	overLimit = "a limit was passed, and no test that failed says that this does harm"
	replaced  = "the end has replaced what the other goroutine stored, and no test that failed says that this does harm"
	again     = "both goroutines have done the same, and no test that failed says that this does harm"
	outdated  = "the condition tested at the entry no longer held at the end, and no test that failed says that " +
		"this does harm"
	inexact = "a comment or name may say that the value need not be exact, and no test that failed says that this " +
		"does harm"
)

// Doubt returns why the change that the split caused may be no harm, or "" if it is harm by itself.
func (src *Source) Doubt(section *plan.Section, s *evidence.SplitSection) string {
	if src.isInexact(section, s) {
		return inexact
	}
	if section.Kind != plan.TestAndUse {
		return src.doubtUpdate(s)
	}
	if src.decidesElsewhere(section, s) || section.Lead && section.Finding == "" {
		return outdated
	}
	st := src.storeAt(src.Plan.Site(s.End.Site))
	return src.doubtUse(section, s, &st)
}

// decidesElsewhere reports whether the test at the entry decides about something else than a store of its variable.
func (src *Source) decidesElsewhere(section *plan.Section, s *evidence.SplitSection) bool {
	return s.End == nil || !s.End.Write || src.Plan.Site(s.End.Site).Variable != src.Plan.Site(section.Entry).Variable
}

// doubtUpdate is Doubt for a load and a store. What the other goroutine added to a list or number is lost where the
// statement that stores adds, too. Of all else the last writer may be the one that counts: a new configuration, the
// place at which the next search begins, a number that a setter sets right later.
func (src *Source) doubtUpdate(s *evidence.SplitSection) string {
	if s.End == nil || !s.End.Write {
		return ""
	}
	if st := src.storeAt(src.Plan.Site(s.End.Site)); st.how == replacement && !st.adds {
		return replaced
	}
	return ""
}

// doubtUse is Doubt for a test and a store that it decides about.
func (src *Source) doubtUse(section *plan.Section, s *evidence.SplitSection, st *store) string {
	same := s.Overturned && s.Remote.Site == s.End.Site // both have done the same
	switch {
	case st.constant, same && st.how == removal:
		return again
	case src.hasLimit(section, s):
		return overLimit
	case section.Length && s.Overturned && s.Stored != nil && !slices.Equal(s.Replaced, s.Stored):
		return "" // nothing was to be there, and one more was added
	case st.how == update, st.how == removal, st.how == returned && src.isDropped(s.End):
		if src.looksAgain(section, s) {
			return again
		}
		return ""
	case st.how == unknownStore, st.how == answer, st.how == returned, s.Stored == nil, slices.Equal(s.Replaced, s.Stored):
		return alike
	case isMeetingPlace(st.value):
		return ""
	}
	return replaced
}

package atomicsets

import (
	"cmp"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/repository"
)

// Changes counts the ends that a refresh has changed in a repository file.
type Changes struct{ Added, Removed, Kept int } // ends

// Refresh brings f up to date with the sections that were inferred, which p has before [Apply]: new sections
// and ends are added, and those of the kinds that were inferred (kinds) that are gone from the code are
// removed, except pinned sections and those of packages that p does not cover. The remarks of f on an end stay.
func Refresh(f *repository.File, p *plan.Plan, kinds []string, covers func(pkg string) bool) Changes {
	var n Changes
	keys := NewKeys(p)
	// Add the sections that the file lacks.
	now := map[repository.Key][]plan.End{}
	for i := range p.Sections {
		s := &p.Sections[i]
		key := keys.Section(s)
		now[key] = append(now[key], s.Ends...)
		in := f.Find(key)
		if in == nil {
			in = &repository.Section{Key: key}
			f.Sections = append(f.Sections, in)
		}
		n.Added += addEnds(in, keys, s)
	}
	// Remove sections that the code has no longer, unless a person has spoken for them.
	f.Sections = slices.DeleteFunc(f.Sections, func(s *repository.Section) bool {
		if s.Kind == plan.UserSection || s.Pinned != "" || !slices.Contains(kinds, s.Kind) || !covers(s.Package) {
			n.Kept += len(s.Ends)
			return false
		}
		before := len(s.Ends)
		s.Ends = slices.DeleteFunc(s.Ends, func(e *repository.End) bool {
			return !slices.ContainsFunc(now[s.Key], func(have plan.End) bool { return keys.End(&have) == e.Access })
		})
		n.Removed += before - len(s.Ends)
		n.Kept += len(s.Ends)
		return len(s.Ends) == 0
	})
	n.Kept -= n.Added
	return n
}

// addEnds adds to in the ends of s that it lacks, and returns how many. A pinned
// section gets none.
func addEnds(in *repository.Section, keys *Keys, s *plan.Section) int {
	added := 0
	for i := range s.Ends {
		e := &s.Ends[i]
		name := keys.End(e)
		if in.End(name) != nil || in.Pinned != "" {
			continue
		}
		in.Ends = append(in.Ends, &repository.End{Access: name, Allows: sorted(e.Allows)})
		added++
	}
	return added
}

// sorted puts read before write.
func sorted(modes []plan.Mode) []plan.Mode {
	modes = slices.Clone(modes)
	slices.SortFunc(modes, func(a, b plan.Mode) int { return cmp.Compare(a, b) })
	return modes
}

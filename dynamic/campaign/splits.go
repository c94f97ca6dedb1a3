package campaign

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// testRun is a package's tests in one run.
type testRun struct {
	pkg string
	run int
}

// splitSeen is what the runs have shown of one atomic section.
type splitSeen struct {
	told    sighting // the one that the finding tells of
	hits    map[int]bool
	count   int
	runs    map[testRun]bool
	remotes map[uint32]int // sites that came in, with how often
}

// sighting is one split.
type sighting struct {
	split    evidence.SplitSection
	run      int
	seed     uint64
	strength int
	test     string
	failed   bool // so did the tests
}

// better reports whether s tells more than t: what changed the outcome before
// what did not, then runs that failed before others.
func (s *sighting) better(t *sighting) bool {
	if s.split.Changed != t.split.Changed {
		return s.split.Changed
	}
	return s.failed && !t.failed
}

// split takes up a record, and reports whether it is the first that proves its
// section broken.
func (t *tally) split(pkg string, strength int, r *evidence.Record, failed bool) (proof bool) {
	id := r.Split.Section
	seen := t.splits[id]
	now := sighting{*r.Split, t.runs, t.seed, strength, pkg, failed}
	proves := now.split.Changed && t.section(id).Kind != plan.Invariant || t.section(id).Kind == plan.UserSection
	if seen == nil {
		seen = &splitSeen{told: now, hits: map[int]bool{}, runs: map[testRun]bool{}, remotes: map[uint32]int{}}
		t.splits[id] = seen
	} else if now.better(&seen.told) {
		seen.told = now
	}
	seen.count++
	seen.runs[testRun{pkg, t.runs}] = true
	seen.remotes[r.Split.Remote.Site]++
	if !slices.Contains(t.resting, id) {
		seen.hits[t.runs] = true
	}
	if proves {
		t.showed[pkg] = true
		if !t.proven[id] {
			t.proven[id], proof = true, true
		}
	}
	return proof
}

// section gives the section with the id, or nil.
func (t *tally) section(id uint32) *plan.Section {
	if id == 0 || int(id) > len(t.plan.Sections) {
		return nil
	}
	return &t.plan.Sections[id-1]
}

// knows reports whether the plan has all that the record names.
func (t *tally) knows(s *evidence.SplitSection) bool {
	return t.section(s.Section) != nil && t.plan.Site(s.Entry.Site) != nil && t.plan.Site(s.Remote.Site) != nil && t.plan.Site(s.End.Site) != nil
}

// harmed gives the packages whose tests failed in a run in which the section
// was split, and pass without noise.
func (t *tally) harmed(s *splitSeen, plain map[string]Outcome) (pkgs []string) {
	for r := range s.runs {
		if t.failures[r] && plain[r.pkg] == Passed && !slices.Contains(pkgs, r.pkg) {
			pkgs = append(pkgs, r.pkg)
		}
	}
	slices.Sort(pkgs)
	return pkgs
}

// explains reports whether the tests of a package failed under noise in no run
// but those in which the section was split.
func (t *tally) explains(s *splitSeen, pkg string) bool {
	for r := range t.failures {
		if r.pkg == pkg && !s.runs[r] {
			return false
		}
	}
	return true
}

// certain reports whether a split section is a bug: one that a user declared,
// one where the split changed the outcome, one in a run whose tests failed. Of
// an access-interleaving invariant, which is only what the program usually does,
// a changed value proves nothing, and a failure only where all go with splits.
func (t *tally) certain(section *plan.Section, s *splitSeen, harmed []string) bool {
	switch section.Kind {
	case plan.UserSection:
		return true
	case plan.Invariant:
		return slices.ContainsFunc(harmed, func(pkg string) bool { return t.explains(s, pkg) })
	}
	return s.told.split.Changed || len(harmed) > 0
}

// Opened gives the sections of p that runs open, by id. If only is not empty, it is
// those whose entry and one of whose ends are among these sites.
func Opened(p *plan.Plan, only []uint32) []uint32 {
	var ids []uint32
	for i := range p.Sections {
		s := &p.Sections[i]
		ends := slices.ContainsFunc(s.Ends, func(e plan.End) bool { return slices.Contains(only, e.Site) })
		if s.Left == "" && (len(only) == 0 || ends && slices.Contains(only, s.Entry)) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// SectionList gives sections as the monitor reads them: "1-3,7".
func SectionList(ids []uint32) string {
	var parts []string
	for i := 0; i < len(ids); {
		j := i + 1
		for j < len(ids) && ids[j] == ids[j-1]+1 {
			j++
		}
		if j-i > 1 {
			parts = append(parts, fmt.Sprintf("%d-%d", ids[i], ids[j-1]))
		} else {
			parts = append(parts, fmt.Sprint(ids[i]))
		}
		i = j
	}
	return strings.Join(parts, ",")
}

// opened gives the sections that run n opens, and those that it leaves alone
// since they are proven broken: noise teaches nothing new there.
func (c *campaign) opened(n int) (open, resting []uint32) {
	for _, id := range Opened(c.cfg.Plan, c.cfg.Only) {
		if !c.cfg.Repeat && n%2 == 0 && c.seen.proven[id] {
			resting = append(resting, id)
		} else {
			open = append(open, id)
		}
	}
	return open, resting
}

// sectionsSplit gives the ids of those that were, in order.
func (t *tally) sectionsSplit() []uint32 { return slices.Sorted(maps.Keys(t.splits)) }

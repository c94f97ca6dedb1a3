package campaign

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
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
	told  sighting // the one that the finding tells of
	hits  map[int]bool
	count int
	runs  map[testRun][]string // with the tests that it happened in; "" is any
}

// sighting is one split.
type sighting struct {
	split    evidence.SplitSection
	run      int
	seed     uint64
	strength int
	test     string
	failed   bool // so did the tests
	// panicked, if not nil, is the owner, which a panic kept from the end
	panicked *panicking
}

// better reports whether s tells more than t: what changed the outcome before
// what did not, then runs that failed before others.
func (s *sighting) better(t *sighting) bool { return s.rank() > t.rank() }

func (s *sighting) rank() int {
	switch {
	case s.split.Changed:
		return 3
	case s.panicked != nil:
		return 2
	case s.split.Between:
		return 1
	}
	return 0
}

// proves reports whether s is a bug whatever else the tests do.
func (s *sighting) proves(section *plan.Section) bool {
	certain := s.split.Changed || s.panicked != nil
	return section.Kind == plan.UserSection && (s.split.Between || certain) || section.Kind != plan.Invariant && certain
}

// sight takes up a split, and reports whether it is the first that proves its
// section broken.
func (t *tally) sight(section *plan.Section, now sighting) (proof bool) {
	id, pkg := section.ID, now.test
	seen := t.splits[id]
	if seen == nil {
		seen = &splitSeen{told: now, hits: map[int]bool{}, runs: map[testRun][]string{}}
		t.splits[id] = seen
	} else if now.better(&seen.told) {
		seen.told = now
	}
	seen.count++
	in := testRun{pkg, t.runs}
	seen.runs[in] = append(seen.runs[in], now.in())
	if !slices.Contains(t.resting, id) {
		seen.hits[t.runs] = true
	}
	if now.proves(section) {
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
	return t.section(s.Section) != nil && t.plan.Site(s.Entry.Site) != nil && t.plan.Site(s.Remote.Site) != nil && (s.End == nil || t.plan.Site(s.End.Site) != nil)
}

// in gives the test that the split happened in, or "".
func (s *sighting) in() string {
	var all []*finding.Goroutine
	for _, side := range []*evidence.Side{s.split.Entry, s.split.Remote, s.split.End} {
		if side != nil {
			g := parseStack(side.Stack)
			all = append(all, &g)
		}
	}
	return commonTest(all)
}

// harmed gives the packages whose tests failed in a run in which the section
// was split, and pass without noise: the test in which it was, if that is known.
func (t *tally) harmed(s *splitSeen, plain map[string]Outcome) (pkgs []string) {
	for r, in := range s.runs {
		failed, did := t.failures[r]
		if did && plain[r.pkg] == Passed && !slices.Contains(pkgs, r.pkg) && (len(failed) == 0 || slices.ContainsFunc(in, func(test string) bool {
			return test == "" || slices.Contains(failed, test)
		})) {
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
		if r.pkg == pkg && len(s.runs[r]) == 0 {
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
	if section.Kind == plan.Invariant {
		return slices.ContainsFunc(harmed, func(pkg string) bool { return t.explains(s, pkg) })
	}
	return s.told.proves(section) || len(harmed) > 0
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

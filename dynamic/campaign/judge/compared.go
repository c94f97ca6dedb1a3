package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// ToCompare returns the test that fails most often in runs that split the section, or nil where that needs no further
// runs, or is known to be harmless.
func (t *Tally) ToCompare(id uint32) *comparison {
	seen := t.Splits[id]
	if t.Proven[id] || seen.best.rank() < 0 {
		return nil
	}
	failed := map[comparison]int{}
	for in := range seen.runs {
		r := t.tests[in]
		if r.outcome == run.Passed || r.excuse != "" {
			continue
		}
		for _, test := range r.failed {
			if seen.inOneOf(in, []string{test}) {
				failed[comparison{Pkg: in.Pkg, Test: test}]++
			}
		}
	}
	if len(failed) == 0 {
		return nil
	}
	// The noise is the strongest under which the test failed so.
	most := slices.MaxFunc(slices.Collect(maps.Keys(failed)), func(a, b comparison) int {
		return cmp.Or(cmp.Compare(failed[a], failed[b]), -strings.Compare(a.Pkg+" "+a.Test, b.Pkg+" "+b.Test))
	})
	for in := range seen.runs {
		if r := t.tests[in]; in.Pkg == most.Pkg && slices.Contains(r.failed, most.Test) && r.strength >= most.Strength {
			most.Strength = r.strength
		}
	}
	most.Seed = seen.best.seed
	return &most
}

// Places returns the sites at which a split of the section is made and seen.
func (t *Tally) Places(id uint32) []uint32 {
	s := t.Section(id)
	at := []uint32{s.Entry, t.Splits[id].best.split.Remote.Site}
	for _, e := range s.Ends {
		at = append(at, e.Site)
	}
	return at
}

// Count takes up a run, unless something else explains that it failed, or nobody knows whether the section was split.
func (what *comparison) Count(id uint32, seen *Tally, in TestRun, apart bool) {
	r, split := seen.tests[in], seen.Splits[id] != nil
	unseen := r.unwatched
	if apart { // a section in its turn stays whole, watched or not
		unseen = r.outOfTurn
	}
	failed := r.outcome != run.Passed
	if failed && r.excuse != "" || !split && unseen[id] {
		return
	}
	what.Table.Count(failed, split)
	if apart {
		what.Apart++
	}
}

// Turns lists the groups of sections at which goroutines take turns, as the monitor reads them: a group for each other
// section that was split, with the sections of the same variables. If apart, the section id has a group, too.
func (t *Tally) Turns(id uint32, apart bool) string {
	taken := map[uint32]bool{}
	var groups []string
	group := func(id uint32) (text string) {
		var ids []string
		for i := range t.plan.Sections {
			s := &t.plan.Sections[i]
			if !taken[s.ID] && s.Left == "" && slices.ContainsFunc(s.Variables, func(v plan.Variable) bool {
				return slices.Contains(t.Section(id).Variables, v)
			}) {
				taken[s.ID] = true
				ids = append(ids, fmt.Sprint(s.ID))
			}
		}
		return strings.Join(ids, "+")
	}
	if own := group(id); apart {
		groups = append(groups, own)
	}
	for _, other := range t.SectionsSplit() {
		if text := group(other); text != "" {
			groups = append(groups, text)
		}
	}
	return strings.Join(groups, ",")
}

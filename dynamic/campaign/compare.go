package campaign

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/fisher"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// If a test fails in each run that splits a section, there is nothing to compare with: any noise may make it fail.
// So further runs are made of that test, in pairs that have the same noise, at this section alone. In one of each pair
// goroutines take turns at the section, so that it stays whole. The other sections that were split are whole in both:
// their effect must not be blamed on this one.

// comparison is the result of such runs for one section.
type comparison struct {
	pkg, test string // test is "" for all
	strength  int    // microseconds
	seed      uint64
	table     fisher.Table
	apart     int // of the runs that are counted, those in which goroutines took turns
}

// looks holds how many pairs are made before it is decided whether they suffice.
var looks = [...]int{6, 12}

const (
	// hopeless is how many pairs are made with one strength of noise where the test fails in no run that splits the
	// section: the next are made with one of wide, in microseconds.
	hopeless = 3
	wide     = 1000
)

// compare makes the runs for the sections that may be why tests failed, as far as its time goes.
func (c *campaign) compare(ctx context.Context) {
	var ids []uint32
	for _, id := range c.seen.sectionsSplit() {
		if what := c.seen.toCompare(id); what != nil {
			if strings.Contains(strings.Join(goFlags(&c.cfg.Settings), " "), "-run=") {
				what.test = ""
			}
			c.seen.compared[id] = what
			ids = append(ids, id)
		}
	}
	end := time.Now().Add(c.replayTime(len(ids)) / 2)
	for i, id := range ids {
		c.progress(Event{Kind: Comparing, Run: i + 1, Runs: len(ids), Package: c.seen.compared[id].pkg})
		share := time.Now().Add(time.Until(end) / time.Duration(len(ids)-i))
		if err := c.compareSection(ctx, id, share); err != nil {
			return
		}
	}
}

// toCompare returns the test that fails most often in runs that split the section, or nil where that needs no further
// runs, or is known to be harmless.
func (t *tally) toCompare(id uint32) *comparison {
	seen := t.splits[id]
	if t.proven[id] || seen.best.rank() < 0 {
		return nil
	}
	failed := map[comparison]int{}
	for in := range seen.runs {
		r := t.tests[in]
		if r.outcome == Passed || r.excuse != "" {
			continue
		}
		for _, test := range r.failed {
			if seen.inOneOf(in, []string{test}) {
				failed[comparison{pkg: in.pkg, test: test}]++
			}
		}
	}
	if len(failed) == 0 {
		return nil
	}
	// The noise is the strongest under which the test failed so.
	most := slices.MaxFunc(slices.Collect(maps.Keys(failed)), func(a, b comparison) int {
		return cmp.Or(cmp.Compare(failed[a], failed[b]), -strings.Compare(a.pkg+" "+a.test, b.pkg+" "+b.test))
	})
	for in := range seen.runs {
		if r := t.tests[in]; in.pkg == most.pkg && slices.Contains(r.failed, most.test) && r.strength >= most.strength {
			most.strength = r.strength
		}
	}
	most.seed = seen.best.seed
	return &most
}

// compareSection makes the runs for one section, until they decide or its time is over.
func (c *campaign) compareSection(ctx context.Context, id uint32, end time.Time) error {
	what := c.seen.compared[id]
	err := c.comparePairs(ctx, id, end)
	if err == nil && what.table.FailedSplit == 0 && what.strength < wide {
		what.strength, what.table, what.apart = wide, fisher.Table{}, 0
		err = c.comparePairs(ctx, id, end)
	}
	return err
}

// comparePairs makes the runs with one strength of noise.
func (c *campaign) comparePairs(ctx context.Context, id uint32, end time.Time) error {
	what := c.seen.compared[id]
	for n := range looks[len(looks)-1] {
		for _, apart := range []bool{false, true} {
			if ctx.Err() != nil || time.Now().After(end) {
				return ctx.Err()
			}
			if err := c.compareOnce(ctx, id, n, apart); err != nil {
				return err
			}
		}
		if n+1 >= hopeless && what.table.FailedSplit == 0 {
			return nil
		}
		if h := c.seen.harmOf(c.seen.section(id), c.seen.splits[id], nil); slices.Contains(looks[:], n+1) && h.significant() {
			return nil
		}
	}
	return nil
}

// places returns the sites at which a split of the section is made and seen.
func (t *tally) places(id uint32) []uint32 {
	s := t.section(id)
	at := []uint32{s.Entry, t.splits[id].best.split.Remote.Site}
	for _, e := range s.Ends {
		at = append(at, e.Site)
	}
	return at
}

// compareOnce makes one run of pair n, in which goroutines take turns at the section or not.
func (c *campaign) compareOnce(ctx context.Context, id uint32, n int, apart bool) error {
	what := c.seen.compared[id]
	i := slices.IndexFunc(c.cfg.Tests.Binaries, func(b build.Binary) bool { return b.Package == what.pkg })
	name := fmt.Sprintf("compare-%d-%d-%d", id, what.strength, n+1)
	if apart {
		name += "-apart"
	}
	prefix := filepath.Join(c.result.Dir, name)
	seen := newTally(c.cfg.Plan, c.cfg.Workspace.Module.Packages)
	seen.begin(1, what.seed+uint64(n), nil, nil)
	pkg := &c.result.Packages[i]
	o := noise{strength: what.strength, plain: pkg.PlainTime, quiet: true}
	vars, err := o.environment(&c.cfg.Settings, seen, prefix, c.seen.places(id))
	if err != nil {
		return err
	}
	job := recorded.Job{Name: name, Engine: "watch", Evidence: prefix + ".jsonl"}
	p := c.runTests(ctx, job, c.cfg.Tests.Binaries[i], pkg,
		testproc.Options{
			Env: append(vars, "INTERLOCK_SECTIONS="+arm.SectionList(c.cfg.Plan, []uint32{id}, nil),
				"INTERLOCK_TURNS="+c.seen.turns(id, apart)),
			Timeout: c.result.Timeout, Limit: pkg.Limit, Flags: c.without(pkg.LeftOut), Test: what.test,
		})
	if p.Err != nil {
		return p.Err
	}
	// The record keeps the files of the process, if the user wants that.
	records, err := readRecords(prefix + ".jsonl")
	if err != nil {
		return err
	}
	p.CountsOnTime = pkg.countsOnTime(p.FailedTests())
	seen.add(what.pkg, what.strength, records, p, func(string, ...any) {})
	what.count(id, seen, testRun{what.pkg, 1}, apart)
	for _, file := range []string{prefix + ".jsonl", prefix + "-sites.txt"} {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// count takes up a run, unless something else explains that it failed, or nobody knows whether the section was split.
func (what *comparison) count(id uint32, seen *tally, in testRun, apart bool) {
	r, split := seen.tests[in], seen.splits[id] != nil
	unseen := r.unwatched
	if apart { // a section in its turn stays whole, watched or not
		unseen = r.outOfTurn
	}
	failed := r.outcome != Passed
	if failed && r.excuse != "" || !split && unseen[id] {
		return
	}
	what.table.Count(failed, split)
	if apart {
		what.apart++
	}
}

// turns lists the groups of sections at which goroutines take turns, as the monitor reads them: a group for each other
// section that was split, with the sections of the same variables. If apart, the section id has a group, too.
func (t *tally) turns(id uint32, apart bool) string {
	taken := map[uint32]bool{}
	var groups []string
	group := func(id uint32) (text string) {
		var ids []string
		for i := range t.plan.Sections {
			s := &t.plan.Sections[i]
			if !taken[s.ID] && s.Left == "" && slices.ContainsFunc(s.Variables, func(v plan.Variable) bool {
				return slices.Contains(t.section(id).Variables, v)
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
	for _, other := range t.sectionsSplit() {
		if text := group(other); text != "" {
			groups = append(groups, text)
		}
	}
	return strings.Join(groups, ",")
}

// entered notes of which sections a process has counted entries.
func entered(counts []evidence.SectionCount, in map[uint32]bool) {
	for _, n := range counts {
		in[n.Section] = true
	}
}

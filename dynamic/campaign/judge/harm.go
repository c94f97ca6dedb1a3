package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/fisher"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testsource"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Looks holds how many pairs are made before it is decided whether they suffice.
var Looks = [...]int{6, 12}

// entered notes of which sections a process has counted entries.
func entered(counts []evidence.SectionCount, in map[uint32]bool) {
	for _, n := range counts {
		in[n.Section] = true
	}
}

// level is that of the statistical test of harm, over all sections of a campaign:
// so likely is it at most that chance alone confirms one of them.
const level = 0.01

// ran takes up how the tests of a package went in the run that goes on.
func (t *Tally) ran(pkg string, strength int, p *testproc.Process, last map[int]*evidence.Record) {
	r := &testsRun{
		strength: strength, outcome: p.Outcome, failed: p.FailedTests(), excuse: ExcuseOf(p), watched: map[uint32]bool{},
		unwatched: map[uint32]bool{}, outOfTurn: map[uint32]bool{},
	}
	for _, stats := range last {
		for _, e := range stats.Ended {
			r.watched[e.Section] = true
		}
		entered(stats.Unwatched, r.unwatched)
		entered(stats.OutOfTurn, r.outOfTurn)
	}
	t.tests[TestRun{pkg, t.Runs}] = r
}

// ExcuseOf returns another reason for the failure of tests, from their own output alone.
func ExcuseOf(p *testproc.Process) string {
	words := testsource.Verdicts.ReplaceAll(p.Output, nil) // the time that a test took is none of its words
	switch {
	case p.Outcome == run.TimedOut || p.Outcome == run.CutShort:
		return "a time limit"
	case p.Outcome == run.Crashed:
		return "a signal"
	case p.Outcome == run.Failed && (p.CountsOnTime || testsource.TimeWords.Match(words)):
		return "a time limit"
	}
	if _, ok := fatalOf(p.Crash); ok && p.Outcome == run.Panicked {
		return "an error that is a bug of its own"
	}
	return ""
}

// harm counts failing tests in the runs that split a section, and in the others.
type harm struct {
	counts fisher.Table // over all strata
	p      float64      // that chance alone has so many failing runs split
	tested int          // sections that are tested beside each other, and how often each
	apart  int          // of the runs, those in which goroutines took turns at the section
	excuse string       // another reason for a failing run that split the section, which is not counted; "" for none
}

// Significant reports whether failing runs are split more often than chance has it.
func (h *harm) Significant() bool { return h.counts.FailedSplit > 0 && h.p <= level/float64(h.tested) }

// String returns the counts in words.
func (h *harm) String() string {
	c := &h.counts
	if c.Runs() == c.Split() {
		return fmt.Sprintf("tests failed in %s that split the section, and no run watched it whole, "+
			"to compare with", finding.OfRuns(c.FailedSplit, c.Split()))
	}
	apart := ""
	if h.apart > 0 {
		apart = fmt.Sprintf("in %d runs goroutines took turns at it, with noise as in the others; ", h.apart)
	}
	return fmt.Sprintf("tests failed in %s that split the section and in %d of %d that left it whole "+
		"(%sone-sided exact test of Fisher within runs of one package and strength of noise: p = %.2g, asked for is %.2g)",
		finding.OfRuns(c.FailedSplit, c.Split()), c.FailedWhole, c.Runs()-c.Split(), apart, h.p, level/float64(h.tested))
}

// stratum is the part of the runs that may be compared with each other: stronger
// noise splits more sections, and upsets more tests by other ways too.
type stratum struct {
	pkg      string
	strength int
}

// HarmOf compares the runs in which the section was watched: those that failed, and
// that nothing else explains, with those that passed.
func (t *Tally) HarmOf(section *plan.Section, s *splitSeen, plain map[string]*run.Package) harm {
	h := harm{tested: max(len(t.Splits), 1)}
	strata := map[stratum]*fisher.Table{}
	for _, in := range slices.SortedFunc(maps.Keys(t.tests), TestRun.compare) {
		r, split := t.tests[in], len(s.runs[in]) > 0
		if !split && (!r.watched[section.ID] || r.unwatched[section.ID]) {
			continue // without the section's noise, which itself may make tests fail, or split unseen
		}
		failed := r.outcome != run.Passed
		if why := t.explained(in, r, section, s, plain[in.Pkg]); failed && why != "" {
			if split {
				h.excuse = cmp.Or(h.excuse, why)
			}
			continue
		}
		if failed && split && !s.inOneOf(in, r.failed) {
			continue // a process writes a split once, in whichever test it came first
		}
		tab := strata[stratum{in.Pkg, r.strength}]
		if tab == nil {
			tab = new(fisher.Table)
			strata[stratum{in.Pkg, r.strength}] = tab
		}
		tab.Count(failed, split)
	}
	var tables []fisher.Table
	if what := t.Compared[section.ID]; what != nil {
		tables = append(tables, what.Table)
		h.counts.Add(&what.Table)
		h.apart, h.tested = what.Apart, h.tested*len(Looks)
	}
	for _, tab := range strata {
		tables = append(tables, *tab)
		h.counts.Add(tab)
	}
	h.p = fisher.Exceedance(tables)
	return h
}

// explained returns another reason, beside the split of the section, for the failure of
// tests in a run; "" if none is known.
func (t *Tally) explained(in TestRun, r *testsRun, section *plan.Section, s *splitSeen, plain *run.Package) string {
	switch {
	case r.excuse != "":
		return r.excuse
	case plain == nil || plain.Plain != run.Passed:
		return "that they fail without noise too"
	case r.outcome == run.Panicked && !s.panicked[in]:
		return "a panic outside of the section or after its end"
	case t.otherBug(in.Pkg, sectionBug(section.ID)):
		return "another bug caught in these tests"
	}
	return ""
}

// inOneOf reports whether the section was split in one of the tests in that run;
// where it or the tests are not known, it may have been.
func (s *splitSeen) inOneOf(in TestRun, tests []string) bool {
	return len(tests) == 0 || slices.ContainsFunc(s.runs[in], func(test string) bool {
		return test == "" || slices.Contains(tests, test)
	})
}

func (r TestRun) compare(other TestRun) int {
	return cmp.Or(cmp.Compare(r.Run, other.Run), cmp.Compare(r.Pkg, other.Pkg))
}

func sectionBug(id uint32) string { return fmt.Sprintf("section %d", id) }

package judge

import (
	"testing"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/fisher"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// entries is the record of a process that has entered section 1 once unwatched, or once out of turn.
func entries(unwatched, outOfTurn bool) evidence.Record {
	r := watchedWhole()
	once := []evidence.SectionCount{{Section: 1, Times: 1}}
	if unwatched {
		r.Unwatched = once
	}
	if outOfTurn {
		r.OutOfTurn = once
	}
	return r
}

// A run counts if it is known whether it split the section: where goroutines take turns, what came in its turn is
// whole.
func TestComparedRuns(t *testing.T) {
	for _, c := range []struct {
		name    string
		records []evidence.Record
		outcome run.Outcome
		apart   bool
		want    fisher.Table
	}{
		{"split", []evidence.Record{splitRecord(false)}, run.Failed, false, fisher.Table{FailedSplit: 1}},
		{"whole", []evidence.Record{watchedWhole()}, run.Passed, false, fisher.Table{PassedWhole: 1}},
		{"unwatched", []evidence.Record{entries(true, false)}, run.Passed, false, fisher.Table{}},
		{"in turn", []evidence.Record{entries(true, false)}, run.Passed, true, fisher.Table{PassedWhole: 1}},
		{"in turn, fails", []evidence.Record{entries(false, false)}, run.Failed, true, fisher.Table{FailedWhole: 1}},
		{"out of turn", []evidence.Record{entries(false, true)}, run.Passed, true, fisher.Table{}},
		{"in turn, by one who takes none", []evidence.Record{splitRecord(false)}, run.Failed, true,
			fisher.Table{FailedSplit: 1}},
		{"timed out", []evidence.Record{splitRecord(false)}, run.TimedOut, false, fisher.Table{}},
	} {
		seen := NewTally(sectionPlan(plan.TestAndUse), nil)
		seen.Begin(1, 1, nil, nil)
		seen.Add("m", 100, c.records, &testproc.Process{Outcome: c.outcome}, t.Errorf)
		what := comparison{Pkg: "m"}
		what.Count(1, seen, TestRun{"m", 1}, c.apart)
		if what.Table != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, what.Table, c.want)
		}
	}
}

// Other sections that were split are whole in both runs of a pair, with those that share their variables.
func TestTurnsOfSections(t *testing.T) {
	p := sectionPlan(plan.TestAndUse)
	other := p.Sections[0]
	other.ID, other.Variables = 2, []plan.Variable{{Package: "m", Type: "T", Name: "other", Kind: plan.KindField}}
	third, left := other, p.Sections[0]
	third.ID, left.ID, left.Left = 3, 4, "entry is not monitored"
	p.Sections = append(p.Sections, other, third, left)
	seen := NewTally(p, nil)
	seen.Splits[1], seen.Splits[3] = &splitSeen{}, &splitSeen{}
	for apart, want := range map[bool]string{false: "2+3", true: "1,2+3"} {
		if got := seen.Turns(1, apart); got != want {
			t.Errorf("apart %v: %q, want %q", apart, got, want)
		}
	}
}

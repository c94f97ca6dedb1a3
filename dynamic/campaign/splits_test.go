package campaign

import (
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// sectionPlan has a section of the kind from site 1 to site 2, which claims a
// finding.
func sectionPlan(kind string) *plan.Plan {
	v := plan.Variable{Package: "m", Type: "T", Name: "n", Kind: plan.KindField}
	p := &plan.Plan{Version: plan.SchemaVersion, Module: "m"}
	for i, mode := range []plan.Mode{plan.Read, plan.Write, plan.Write} {
		p.Sites = append(p.Sites, plan.Site{
			ID: uint32(i + 1), Package: "m", Function: "(*T).F", Variable: v, Mode: mode, Decision: plan.Monitor,
			File: "a.go", Line: 3 + i, Column: 2, EndLine: 3 + i, EndCol: 5, Expr: "t.n",
		})
	}
	p.Sections = []plan.Section{{
		ID: 1, Kind: kind, Name: "s", Package: "m", File: "a.go", Function: "(*T).F", Variables: []plan.Variable{v},
		Entry: 1, Ends: []plan.End{{Site: 2, Allows: []plan.Mode{plan.Read}}}, Finding: "il-claimed",
	}}
	return p
}

func splitRecord(changed bool) evidence.Record {
	side := func(site uint32, write bool, gid int64) *evidence.Side {
		return &evidence.Side{Site: site, Write: write, GID: gid, Size: 8, Stack: "goroutine 7 [running]:\nm.(*T).F(0x1)\n\ta.go:3 +0x1\n"}
	}
	return evidence.Record{Version: 1, Kind: evidence.Split, PID: 1, Split: &evidence.SplitSection{
		Section: 1, Entry: side(1, false, 7), Remote: side(3, true, 8), End: side(2, true, 7), Changed: changed, GapNS: 1_234_567,
	}}
}

// told gives the finding after runs of package m, of which some fail.
func told(t *testing.T, kind string, runs []Outcome, records func(run int) []evidence.Record, output string) *finding.Finding {
	t.Helper()
	p := sectionPlan(kind)
	seen := newTally(p)
	for i, outcome := range runs {
		seen.begin(i+1, uint64(i), nil, nil)
		seen.add("m", 100, records(i+1), &process{outcome: outcome, output: []byte(output)}, t.Errorf)
	}
	cfg := &Config{Workspace: &build.Workspace{Module: &build.Module{Path: "m", Root: "/m"}}, Plan: p}
	r := &Result{Packages: []PackageResult{{Package: "m", Plain: Passed}}}
	found := seen.findings(cfg, r)
	if len(found) != 1 {
		t.Fatalf("%d findings, want 1", len(found))
	}
	if err := found[0].Validate(); err != nil {
		t.Error(err)
	}
	if r.claims[found[0].ID] != "il-claimed" {
		t.Errorf("claims %v", r.claims)
	}
	return found[0]
}

// What is certain depends on who says that the section is one, on what the split
// changed, and on whether tests failed.
func TestStatusOfSplits(t *testing.T) {
	always := func(changed bool) func(int) []evidence.Record {
		return func(int) []evidence.Record { return []evidence.Record{splitRecord(changed)} }
	}
	between := func(int) []evidence.Record {
		r := splitRecord(false)
		r.Split.Between = true
		return []evidence.Record{r}
	}
	once := func(run int) []evidence.Record {
		if run > 1 {
			return nil
		}
		return []evidence.Record{splitRecord(false)}
	}
	for _, c := range []struct {
		name, kind string
		runs       []Outcome
		records    func(int) []evidence.Record
		status     finding.Status
		code       finding.Code
		harmful    bool
	}{
		{"nothing changed", plan.LoadAndStore, []Outcome{Passed}, always(false), finding.Predicted, finding.LoadAndStore, false},
		{"changed", plan.TestAndUse, []Outcome{Passed}, always(true), finding.Confirmed, finding.TestAndUse, false},
		{"test failed", plan.TestAndUse, []Outcome{Failed}, always(false), finding.Confirmed, finding.TestAndUse, true},
		{"timeout", plan.TestAndUse, []Outcome{TimedOut}, always(false), finding.Predicted, finding.TestAndUse, false},
		{"declared", plan.UserSection, []Outcome{Passed}, between, finding.Confirmed, finding.Interleaved, false},
		{"declared, order not certain", plan.UserSection, []Outcome{Passed}, always(false), finding.Predicted, finding.Interleaved, false},
		{"invariant", plan.Invariant, []Outcome{Passed}, always(true), finding.Predicted, finding.Interleaved, false},
		{"invariant, failed", plan.Invariant, []Outcome{Failed, Passed}, once, finding.Confirmed, finding.Interleaved, true},
		{"invariant, failed without a split too", plan.Invariant, []Outcome{Failed, Failed}, once, finding.Predicted, finding.Interleaved, true},
	} {
		f := told(t, c.kind, c.runs, c.records, "")
		if f.Status != c.status || f.Code != c.code || f.Evidence.Harmful != c.harmful || f.Evidence.Pattern != "R-w-W" {
			t.Errorf("%s: %s %s, harmful %v, pattern %s", c.name, f.Code, f.Status, f.Evidence.Harmful, f.Evidence.Pattern)
		}
		if steps := []int{f.Accesses[0].Step, f.Accesses[1].Step, f.Accesses[2].Step}; !slices.Equal(steps, []int{3, 1, 2}) {
			t.Errorf("%s: steps %v", c.name, steps)
		}
	}
}

// A panic inside of a section into which another goroutine has come ends it.
func TestPanicInSplitSection(t *testing.T) {
	const output = "panic: index out of range\n\ngoroutine 7 gp=0x1 m=0 mp=0x2 [running]:\npanic({0x1, 0x2})\n\t/go/src/runtime/panic.go:1 +0x1\n" +
		"m.(*T).pop(0x1)\n\t/m/a.go:9 +0x1\nm.(*T).F(0x1)\n\t/m/a.go:4 +0x1\ncreated by m.run in goroutine 1\n\t/m/a.go:8 +0x1\n\ngoroutine 1 [select]:\n"
	came := func(int) []evidence.Record {
		r := splitRecord(false)
		r.Kind, r.Split.End = evidence.Came, nil
		return []evidence.Record{r}
	}
	f := told(t, plan.TestAndUse, []Outcome{Panicked}, came, output)
	last := f.Accesses[3]
	if f.Status != finding.Confirmed || !f.Evidence.Harmful || last.Step != 3 || last.Line != 9 || last.Function != "(*T).pop" || !strings.Contains(f.Message, "index out of range") {
		t.Errorf("%s, harmful %v: %s; %+v", f.Status, f.Evidence.Harmful, f.Message, last)
	}
	for name, other := range map[string]string{
		"another goroutine": strings.ReplaceAll(output, "goroutine 7 ", "goroutine 9 "),
		"another function":  strings.ReplaceAll(output, "m.(*T).F(", "m.(*T).G("),
		"no panic":          "",
	} {
		seen := newTally(sectionPlan(plan.TestAndUse))
		seen.begin(1, 1, nil, nil)
		seen.add("m", 100, came(1), &process{outcome: Panicked, output: []byte(other)}, t.Errorf)
		if len(seen.splits) != 0 {
			t.Errorf("%s: taken for the end of the section", name)
		}
	}
}

// A split joins the suspected finding that its section came from, by its id, and
// keeps that id; so it does if what the run saw lies in callees.
func TestSplitTakesThePlaceOfSuspected(t *testing.T) {
	use, test := at(30, finding.Write), at(20, finding.Read)
	use.Expr, test.Expr = "x.put()", "x.has()"
	suspected := make1(finding.TestAndUse, "n", use, test, at(40, finding.Write))
	pos := func(line int) finding.Position { return finding.Position{File: "a.go", Line: line, Column: 2} }
	call, endCall := pos(20), pos(30)
	suspected.Section = &finding.Section{Kind: plan.TestAndUse, Entry: pos(3), EntryCall: &call, End: pos(4), EndCall: &endCall}
	static := seal(suspected)
	split := make1(finding.TestAndUse, "n", at(4, finding.Write), at(3, finding.Read), at(40, finding.Write))
	split.Status, split.Section = finding.Confirmed, suspected.Section
	split.Evidence = &finding.Evidence{Engine: "watch", Runs: 1, Hits: 1, Pattern: "R-w-W"}
	for i, step := range []int{3, 1, 2} {
		split.Accesses[i].Step, split.Accesses[i].Goroutine = step, &finding.Goroutine{ID: int64(step)}
	}
	r := &Result{Findings: seal(split), Runs: 20, lines: map[place]bool{}}
	r.claims = map[string]string{split.ID: static[0].ID}
	got := Join(static, r)
	if len(got) != 1 || got[0].ID != static[0].ID || got[0].Status != finding.Confirmed {
		t.Fatalf("%d findings, first %s %s", len(got), got[0].ID, got[0].Status)
	}
	for i, want := range []struct{ line, step int }{{30, 3}, {20, 1}, {40, 2}} {
		if a := got[0].Accesses[i]; a.Line != want.line || a.Step != want.step || a.Goroutine == nil {
			t.Errorf("access %d: line %d, step %d, want %+v", i, a.Line, a.Step, want)
		}
	}
}

func TestSectionList(t *testing.T) {
	for want, ids := range map[string][]uint32{"": nil, "3": {3}, "1-3,7": {1, 2, 3, 7}, "1,3-4": {1, 3, 4}} {
		if got := SectionList(ids); got != want {
			t.Errorf("SectionList(%v) = %q, want %q", ids, got, want)
		}
	}
}

// A race on the two accesses of a split section leaves the suspected finding to
// the split.
func TestSplitBeforeRace(t *testing.T) {
	suspected := make1(finding.TestAndUse, "n", at(4, finding.Write), at(3, finding.Read))
	static := seal(suspected)
	split := make1(finding.TestAndUse, "n", at(4, finding.Write), at(3, finding.Read), at(4, finding.Write))
	split.Status, split.Section = finding.Confirmed, new(finding.Section)
	split.Evidence = &finding.Evidence{Engine: "watch", Runs: 1, Hits: 1, Pattern: "R-w-W"}
	race := make1(finding.CaughtInTheAct, "n", at(4, finding.Write), at(3, finding.Read))
	r := &Result{Findings: seal(race, split), Runs: 20, lines: map[place]bool{}}
	r.claims = map[string]string{split.ID: static[0].ID}
	got := Join(static, r)
	if len(got) != 2 {
		t.Fatalf("%d findings, want the race and the split", len(got))
	}
	for _, f := range got {
		if want := f.Code == finding.TestAndUse; (f.ID == static[0].ID) != want {
			t.Errorf("%s has id %s, the suspected finding %s", f.Code, f.ID, static[0].ID)
		}
	}
}

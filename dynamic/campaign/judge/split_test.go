package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
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
		const stack = "goroutine 7 [running]:\nm.(*T).F(0x1)\n\ta.go:3 +0x1\n"
		return &evidence.Side{Site: site, Write: write, GID: gid, Size: 8, Stack: stack}
	}
	return evidence.Record{Version: 1, Kind: evidence.Split, PID: 1, Split: &evidence.SplitSection{
		Section: 1, Entry: side(1, false, 7), Remote: side(3, true, 8), End: side(2, true, 7),
		Changed: changed, GapNS: 1_234_567,
	}}
}

// findingAfter returns the finding after runs of package m, of which some fail.
func findingAfter(
	t *testing.T, kind string, runs []run.Outcome, records func(run int) []evidence.Record, output string,
) *finding.Finding {
	t.Helper()
	return findingBeside(t, run.Passed, kind, runs, records, output)
}

// findingBeside is like findingAfter, where the tests ended as plain says without noise.
// watchedWhole is the record of a process that has come through section 1 once.
func watchedWhole() evidence.Record {
	return evidence.Record{
		Version: 1, Kind: evidence.Stats, PID: 1, Counters: new(evidence.Counters),
		Ended: []evidence.SectionEnd{{Section: 1, Site: 2, Times: 1}},
	}
}

func findingBeside(
	t *testing.T, plain run.Outcome, kind string, runs []run.Outcome, records func(run int) []evidence.Record,
	output string,
) *finding.Finding {
	t.Helper()
	p := sectionPlan(kind)
	seen := NewTally(p, nil)
	for i, outcome := range runs {
		seen.Begin(i+1, uint64(i), nil, nil)
		p := &testproc.Process{Outcome: outcome, Output: []byte(output), Crash: []byte(output)}
		seen.Add("m", 100, records(i+1), p, t.Errorf)
	}
	ws := &build.Workspace{Module: &build.Module{Path: "m", Root: "/m"}}
	cfg := &run.Settings{Program: run.Program{Workspace: ws, Plan: p}}
	found, claims := seen.Findings(cfg, []run.Package{{Package: "m", WithoutNoise: run.WithoutNoise{Plain: plain}}}, nil)
	if len(found) != 1 {
		t.Fatalf("%d findings, want 1", len(found))
	}
	if err := found[0].Validate(); err != nil {
		t.Error(err)
	}
	if claims[found[0].ID] != "il-claimed" {
		t.Errorf("claims %v", claims)
	}
	return found[0]
}

// A section that was split without harm each time is no finding.
func TestHarmlessSplits(t *testing.T) {
	for _, harmful := range []bool{false, true} {
		seen := NewTally(sectionPlan(plan.TestAndUse), nil)
		for n := 1; n <= 4; n++ {
			seen.Begin(n, uint64(n), nil, nil)
			r := splitRecord(false)
			r.Split.Serial = !harmful || n != 2
			seen.Add("m", 100, []evidence.Record{r}, &testproc.Process{Outcome: run.Passed}, t.Errorf)
		}
		cfg := &run.Settings{Program: run.Program{
			Workspace: &build.Workspace{Module: &build.Module{Path: "m", Root: "/m"}}, Plan: seen.plan,
		}}
		found, _ := seen.Findings(cfg, []run.Package{{Package: "m", WithoutNoise: run.WithoutNoise{Plain: run.Passed}}}, nil)
		if (len(found) != 0) != harmful {
			t.Errorf("%d findings where one of the splits may do harm: %v", len(found), harmful)
		}
	}
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
	// In the first n runs the section is split, in all it is watched.
	first := func(n int) func(int) []evidence.Record {
		return func(run int) []evidence.Record {
			records := []evidence.Record{watchedWhole()}
			if run <= n {
				records = append(records, splitRecord(false))
			}
			return records
		}
	}
	times := func(n int, o run.Outcome, more ...run.Outcome) []run.Outcome {
		return append(slices.Repeat([]run.Outcome{o}, n), more...)
	}
	passed := times(6, run.Passed)
	for _, c := range []struct {
		name, kind string
		runs       []run.Outcome
		records    func(int) []evidence.Record
		output     string
		status     finding.Status
		harmful    bool
	}{
		{"nothing changed", plan.LoadAndStore, passed, always(false), "", finding.Predicted, false},
		{"changed", plan.LoadAndStore, passed, always(true), "", finding.Confirmed, false},
		{"changed, by which store is not known", plan.TestAndUse, passed, always(true), "", finding.Predicted, false},
		{"one run failed", plan.TestAndUse, times(1, run.Failed), first(1), "", finding.Predicted, true},
		{"failing runs are split", plan.TestAndUse, times(6, run.Failed, passed...), first(6), "", finding.Confirmed, true},
		{"failing runs are split, passing ones too",
			plan.TestAndUse, times(6, run.Failed, passed...), first(12), "", finding.Predicted, true},
		{"failing runs are split, by a time limit",
			plan.TestAndUse, times(6, run.Failed, passed...), first(6), "x_test.go:3: took 31.5ms", finding.Predicted, false},
		{"failing runs are split, and end in a panic elsewhere",
			plan.TestAndUse, times(6, run.Panicked, passed...), first(6), "", finding.Predicted, false},
		{"failing runs are split, and time out",
			plan.TestAndUse, times(6, run.TimedOut, passed...), first(6), "", finding.Predicted, false},
		{"declared", plan.UserSection, passed, between, "", finding.Confirmed, false},
		{"declared, order not certain", plan.UserSection, passed, always(false), "", finding.Predicted, false},
		{"invariant", plan.Invariant, passed, always(true), "", finding.Predicted, false},
		{"invariant, failing runs are split",
			plan.Invariant, times(6, run.Failed, passed...), first(6), "", finding.Confirmed, true},
		{"invariant, runs fail without a split too",
			plan.Invariant, times(12, run.Failed), first(6), "", finding.Predicted, true},
	} {
		f := findingAfter(t, c.kind, c.runs, c.records, c.output)
		e := f.Evidence
		if f.Status != c.status || f.Code != wordsOf(c.kind).code || e.Harmful != c.harmful || e.Pattern != "R-w-W" {
			t.Errorf("%s: %s %s, harmful %v, pattern %s, notes %q", c.name, f.Code, f.Status, e.Harmful, e.Pattern, f.Notes)
		}
		if steps := []int{f.Accesses[0].Step, f.Accesses[1].Step, f.Accesses[2].Step}; !slices.Equal(steps, []int{3, 1, 2}) {
			t.Errorf("%s: steps %v", c.name, steps)
		}
	}
}

// A failure says nothing of a section where another bug was caught in the same tests,
// or where they fail without noise.
func TestOtherBugsExplainFailures(t *testing.T) {
	for name, arrange := range map[string]func(*Tally, *run.Package){
		"a race":       func(t *Tally, _ *run.Package) { t.Showed("m", "race 1-2") },
		"fails anyway": func(_ *Tally, p *run.Package) { p.Plain = run.Failed },
		"no plain run": func(_ *Tally, p *run.Package) { p.Plain = "" },
	} {
		seen := NewTally(sectionPlan(plan.TestAndUse), nil)
		for n := range 12 {
			seen.Begin(n+1, 1, nil, nil)
			if n < 6 {
				seen.Add("m", 100, []evidence.Record{splitRecord(false)}, &testproc.Process{Outcome: run.Failed}, t.Errorf)
			} else {
				stats := watchedWhole()
				seen.Add("m", 100, []evidence.Record{stats}, &testproc.Process{Outcome: run.Passed}, t.Errorf)
			}
		}
		pkg := &run.Package{Package: "m", WithoutNoise: run.WithoutNoise{Plain: run.Passed}}
		plain := map[string]*run.Package{"m": pkg}
		if h := seen.HarmOf(seen.Section(1), seen.Splits[1], plain); !h.Significant() {
			t.Fatalf("6 of 6 and 0 of 6 are not significant: %s", &h)
		}
		arrange(seen, pkg)
		if h := seen.HarmOf(seen.Section(1), seen.Splits[1], plain); h.Significant() || h.excuse == "" {
			t.Errorf("%s: %s, excuse %q", name, &h, h.excuse)
		}
	}
}

// A panic inside of a section into which another goroutine has come ends it. Why it
// panicked, nobody knows: one run proves nothing.
func TestPanicInSplitSection(t *testing.T) {
	const output = "panic: index out of range\n\ngoroutine 7 gp=0x1 m=0 mp=0x2 [running]:\n" +
		"panic({0x1, 0x2})\n\t/go/src/runtime/panic.go:1 +0x1\n" +
		"m.(*T).pop(0x1)\n\t/m/a.go:9 +0x1\nm.(*T).F(0x1)\n\t/m/a.go:4 +0x1\n" +
		"created by m.run in goroutine 1\n\t/m/a.go:8 +0x1\n\ngoroutine 1 [select]:\n"
	came := func(int) []evidence.Record {
		r := splitRecord(false)
		r.Kind, r.Split.End = evidence.Came, nil
		return []evidence.Record{r}
	}
	f := findingAfter(t, plan.TestAndUse, []run.Outcome{run.Panicked}, came, output)
	last := f.Accesses[3]
	if f.Status != finding.Predicted || !f.Evidence.Harmful || last.Step != 3 || last.Line != 9 ||
		last.Function != "(*T).pop" || !strings.Contains(f.Message, "index out of range") {
		t.Errorf("%s, harmful %v: %s; %+v", f.Status, f.Evidence.Harmful, f.Message, last)
	}
	// Where it is known that what was tested had another answer at the very read that
	// panicked, the split is why.
	used := func(line int, overturned bool) func(int) []evidence.Record {
		return func(int) []evidence.Record {
			r := splitRecord(overturned)
			r.Kind, r.Split.Overturned, r.Split.End.Site, r.Split.End.Write = evidence.Used, overturned, uint32(line-2), false
			return append(came(1), r)
		}
	}
	for line, want := range map[int]finding.Status{4: finding.Confirmed, 5: finding.Predicted} {
		at := strings.Replace(output, "index out", "runtime error: index out", 1)
		at = strings.Replace(at, "m.(*T).pop(0x1)\n\t/m/a.go:9 +0x1\n", "", 1)
		for _, overturned := range []bool{true, false} {
			if f := findingAfter(t, plan.TestAndUse, []run.Outcome{run.Panicked}, used(line, overturned), at); f.Status != want {
				t.Errorf("panicked at line 4, used at line %d, overturned %v: %s", line, overturned, f.Status)
			}
			// Tests that panic without noise as well show nothing by a panic alone.
			f := findingBeside(t, run.Panicked, plan.TestAndUse, []run.Outcome{run.Panicked}, used(line, overturned), at)
			if (f.Status == finding.Confirmed) != (overturned && line == 4) {
				t.Errorf("they panic without noise too; used at line %d, overturned %v: %s", line, overturned, f.Status)
			}
		}
	}
	for name, other := range map[string]string{
		"another goroutine": strings.ReplaceAll(output, "goroutine 7 ", "goroutine 9 "),
		"another function":  strings.ReplaceAll(output, "m.(*T).F(", "m.(*T).G("),
		"behind the end":    strings.ReplaceAll(output, "/m/a.go:4 ", "/m/a.go:5 "),
		"its own bug":       strings.Replace(output, "index out of range", "close of closed channel", 1),
		"no panic":          "",
	} {
		seen := NewTally(sectionPlan(plan.TestAndUse), nil)
		seen.Begin(1, 1, nil, nil)
		seen.Add("m", 100, came(1), &testproc.Process{Outcome: run.Panicked, Crash: []byte(other)}, t.Errorf)
		if len(seen.Splits) != 0 {
			t.Errorf("%s: taken for the end of the section", name)
		}
	}
}

package realmodules

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
)

func TestParse(t *testing.T) {
	out := "\x16=== RUN   TestA\nno newline\x16--- PASS: TestA (0.00s)\n" +
		"\x16=== RUN   TestB\n\x16=== RUN   TestB/x\n\x16    --- FAIL: TestB/x (0.00s)\n\x16--- FAIL: TestB (0.01s)\n" +
		"--- PASS: TestFaked (0.00s)\n\x16--- SKIP: TestC (0.00s)\nFAIL\n\n\x16process: exit status 1\n"
	want := outcomes{"TestA": "pass", "TestB": "fail", "TestB/x": "fail", "TestC": "skip", "": "exit status 1"}
	if got := parseOutcomes([]byte(out)); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAgainst(t *testing.T) {
	p := &pkg{plain: outcomes{"TestA": "pass", "TestB": "fail", "TestC": "pass", "TestD": "pass"}}
	p.dropDoubtful(outcomes{"TestA": "pass", "TestB": "fail", "TestC": "pass"})
	if !slices.Equal(p.unsure, []string{"TestD"}) {
		t.Errorf("unsure %q", p.unsure)
	}
	got := p.against(outcomes{"TestA": "fail", "TestB": "fail", "TestD": "fail", "TestNew": "pass"})
	want := []difference{{test: "TestA", plain: "pass", then: "fail"}, {test: "TestC", plain: "pass"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestReportCountsWhatAlwaysDiffers(t *testing.T) {
	now := difference{mode: modes[awake], test: "TestNow", plain: "pass", then: "fail", again: [2]string{"pass", "fail"}}
	always := difference{mode: modes[asleep], test: "TestAlways", plain: "pass", again: [2]string{"fail", ""}}
	r := &result{
		module: module{path: "example.com/m", version: "v1.0.0", packages: everything},
		both:   &both{plan: &plan.Plan{}, workspace: &build.Workspace{}},
		packages: []*pkg{{
			path: "example.com/m/p", plain: outcomes{"": "pass", "TestAlways": "pass", "TestNow": "pass", "TestOld": "fail"},
			unsure: []string{"TestUnsure"}, differ: []difference{always, now},
		}},
	}
	text, differing := report([]*result{r}, time.Minute)
	if differing != 1 {
		t.Errorf("%d differ, want 1", differing)
	}
	for _, want := range []string{
		"| example.com/m v1.0.0 | 1 | 2 | 1 | 1 | 0 (1 now and then) |",
		"- example.com/m/p TestOld: fails\n",
		"- example.com/m/p TestUnsure: goes one way and another\n",
		"- example.com/m/p TestAlways, asleep: plain pass, instrumented not run to its end, then fail and not run to its " +
			"end: **not explained**\n",
		"- example.com/m/p TestNow, awake: plain pass, instrumented fail, then pass and fail: now and then\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

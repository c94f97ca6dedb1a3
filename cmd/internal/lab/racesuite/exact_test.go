package racesuite

import (
	"reflect"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/dynamic/hb"
)

func TestVerdicts(t *testing.T) {
	got := verdictsOf("ok\n=== RUN   TestRaceA\nWARNING: DATA RACE\n--- FAIL: TestRaceA (0.00s)\n" +
		"=== RUN   TestNoRaceB\n--- PASS: TestNoRaceB (0.00s)\n" +
		"=== RUN   TestRaceC\n    c.go:1: no\n--- SKIP: TestRaceC (0.00s)\n")
	want := map[string]verdict{"TestRaceA": reported, "TestNoRaceB": silent, "TestRaceC": skipped}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
}

// The report of a race whose second access is made when the test has returned is that test's, not the next one's.
func TestLateReport(t *testing.T) {
	const late = "WARNING: DATA RACE\n" +
		"Write at 0x1 by goroutine 2:\n  suite_test.TestRaceA.func1()\n      a.go:1 +0x4\n\n" +
		"Previous write at 0x1 by goroutine 1:\n  suite_test.TestRaceA()\n      a.go:2 +0x4\n==================\n"
	got := verdictsOf("=== RUN   TestRaceA\n--- PASS: TestRaceA (0.00s)\n" +
		"=== RUN   TestNoRaceB\n==================\n" + late +
		"    testing.go:1712: race detected during execution of test\n--- FAIL: TestNoRaceB (0.00s)\n" +
		"=== RUN   TestRaceC\n    testing.go:1712: race detected during execution of test\n--- FAIL: TestRaceC (0.00s)\n")
	want := map[string]verdict{"TestRaceA": reported, "TestNoRaceB": silent, "TestRaceC": reported}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
}

// A racy function that one run misses is wrong, and so is a clean one that one run reports.
func TestReportExact(t *testing.T) {
	functions := []function{
		{"TestRaceA", "a_test.go", true}, {"TestRaceB", "a_test.go", true},
		{"TestNoRaceC", "b_test.go", false}, {"TestNoRaceD", "b_test.go", false}, {"TestRaceE", "b_test.go", true},
	}
	run := func(b, d verdict) map[string]verdict {
		return map[string]verdict{"TestRaceA": reported, "TestRaceB": b, "TestNoRaceD": d, "TestRaceE": skipped}
	}
	runs := []map[string]verdict{run(reported, silent), run(silent, reported)}
	text, held := reportExact(functions, runs, nil, nil, hb.Sampling{})
	for _, want := range []string{
		"| a_test.go | 2 | 1 | - | 0 | 0 | - | 0 |", "| b_test.go | 0 | 0 | - | 2 | 1 | - | 1 |",
		"Wrong: TestRaceB in a_test.go.", "Wrong: TestNoRaceD in b_test.go.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if held {
		t.Error("wrong verdicts are called right")
	}
	right := run(reported, silent)
	if _, held := reportExact(functions, []map[string]verdict{right}, right, nil, hb.Sampling{}); !held {
		t.Error("right verdicts are called wrong")
	}
}

package sampling

import (
	"reflect"
	"testing"
)

func TestJudge(t *testing.T) {
	share, wrong := judge("ok\n=== RUN   TestRaceA\nWARNING: DATA RACE\n--- FAIL: TestRaceA\n" +
		"=== RUN   TestRaceB\n--- PASS: TestRaceB\n=== RUN   TestNoRaceC\n--- PASS: TestNoRaceC\n" +
		"=== RUN   TestNoRaceD\nWARNING: DATA RACE\n--- FAIL: TestNoRaceD\n")
	if share != 0.5 || !reflect.DeepEqual(wrong, []string{"TestNoRaceD"}) {
		t.Errorf("share %v, wrong %q", share, wrong)
	}
}

func TestTimes(t *testing.T) {
	got := times("goos: linux\nBenchmarkLRU-2 \t 100\t 12.5 ns/op\nPASS\n")
	if !reflect.DeepEqual(got, map[string]float64{"BenchmarkLRU-2": 12.5}) {
		t.Errorf("times: %v", got)
	}
}

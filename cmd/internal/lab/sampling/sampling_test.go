package sampling

import (
	"encoding/xml"
	"path/filepath"
	"reflect"
	"strings"
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

// TestDocument draws what two portions have measured.
func TestDocument(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	for portion := range 2 {
		all, err := readResults(file)
		if err != nil {
			t.Fatal(err)
		}
		for d := range all {
			for k, v := range all[d] {
				if len(v.Found) != portion {
					t.Fatalf("portion %d begins with %d runs", portion, len(v.Found))
				}
				v.add("LRU", float64(100*portion)+100*(1+4/float64(1+d+k)), 100)
				v.Found = append(v.Found, 1/float64(1+k))
			}
		}
		if err := all.write(file); err != nil {
			t.Fatal(err)
		}
	}
	all, err := readResults(file)
	if err != nil {
		t.Fatal(err)
	}
	text := document(all, "1ms")
	for _, want := range []string{
		"| 100 % | 4.0 | 2.0 |", "| 30 % | 50 % (50 to 50) |", "the mean of 2 runs",
		"| 50 % | 30 %: 50 % | 100 %: 100 % |", // its overhead, and that of SOS, is half of what all accesses cost
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if err := xml.Unmarshal([]byte(drawCharts(all)), new(struct{})); err != nil {
		t.Error("chart:", err)
	}
}

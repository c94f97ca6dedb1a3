package sampling

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	share, wrong := rateVerdicts("ok\n=== RUN   TestRaceA\nWARNING: DATA RACE\n--- FAIL: TestRaceA\n" +
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
				v.addTime("LRU", float64(100*portion)+100*(1+4/float64(1+d+k)), 100)
				v.Found = append(v.Found, 1/float64(1+k))
			}
		}
		if err := all.writeResults(file); err != nil {
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

// The engine has the places at which the build for counting counts, and what that prints is read.
func TestCounting(t *testing.T) {
	for name, calls := range callsOfCounting {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "dynamic", "hb", "inject", name))
		if err != nil {
			t.Fatal(err)
		}
		changed, err := withCalls(string(text), calls)
		if err != nil || len(changed) <= len(text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := withCalls("func other() {\n", [][2]string{{"func raceread", "$"}}); err == nil {
		t.Error("a place that the engine does not have is no error")
	}
	n, err := readCounts("PASS\ninterlock-counts 100 20 40 20 50 5 12 3\n")
	if want := (counts{[2]int{100, 20}, [2]int{40, 20}, [2]int{50, 5}, 12, 3}); err != nil || n != want {
		t.Errorf("%v, %v", n, err)
	}
	if _, err := readCounts("PASS\n"); err == nil {
		t.Error("a process that prints nothing is no error")
	}
	const row = "| LRU | 100 | 40.0 % | 20 | 100.0 % | 50.0 % |"
	if text := countDocument(map[string]counts{"LRU": n}, "1ms"); !strings.Contains(text, row) {
		t.Errorf("no %s in %s", row, text)
	}
}

package main

import (
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		xs   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := median(tt.xs); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.xs, got, tt.want)
		}
	}
}

// A variant that could not be measured shows as such, not as no overhead.
func TestTableShowsWhatIsMissing(t *testing.T) {
	r := results{}
	r.add("Tree", "plain", 100)
	r.add("Tree", "watch", 0.25)
	got := table([]*variant{{name: "plain"}, {name: "watch"}, {name: "-race", skipped: "no C compiler"}}, r, 1, "1s")
	for _, want := range []string{"| Tree | 100 | 0.25 (0.25 to 0.25) | - |", "not measured: no C compiler", "| **median** | | **0.25** | - |"} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
}
